"""One task in, the views of its commit published in this home out, and in the fleet's store if it has one.

This runs in a worker: on this machine, or on a node of a cluster whose home need not be the driver's. What is
published is found there by whoever comes next, so a task that is repeated repeats only what was not.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from codenib.compiler.compiler import IndexCompiler
from codenib.core.errors import CodenibError, InputError
from codenib.core.source import SourceSnapshot
from codenib.core.updates import Outcome
from codenib.core.views import Status, ViewKind
from codenib.fleet.catalogue.catalogue import Catalogue
from codenib.fleet.catalogue.sync import sync_repository
from codenib.fleet.compile.task import CompileResult, CompileTask, ViewResult, WorkOrder
from codenib.manifest.store import Store
from codenib.snapshot import git
from codenib.snapshot.repository import Repository, locate
from codenib.system.usage import cpu_seconds, forget_peak, peak_bytes

if TYPE_CHECKING:
    from codenib.fleet.compile.sharing import SharedWork


def run_order(order: WorkOrder, go_on: Callable[[], bool] = lambda: True) -> list[CompileResult]:
    """Do the tasks of an order one after another, while `go_on`; one that fails takes no other with it."""
    os.environ.update(order.variables)
    if order.jobs:
        os.environ["CODENIB_JOBS"] = str(order.jobs)
    return [run_task(task) for task in order.tasks if go_on()]


def run_task(task: CompileTask) -> CompileResult:
    """Do one task; whatever goes wrong is its result."""
    started, used = time.perf_counter(), cpu_seconds()
    forget_peak()
    result = CompileResult(name=task.entry.name, branch=task.branch, commit=task.commit, group=task.group)
    try:
        result = _build(task, result)
    except CodenibError as error:
        result = msgspec.structs.replace(result, error=error.message, hint=error.hint)
    except Exception as error:  # noqa: BLE001 - another repository's task comes next in this process
        result = msgspec.structs.replace(result, error=f"internal error: {type(error).__name__}: {error}")
    return msgspec.structs.replace(
        result,
        cpu_s=cpu_seconds() - used,
        peak_bytes=peak_bytes(),
        seconds=time.perf_counter() - started,
    )


def open_repository(catalogue: Catalogue, task: CompileTask) -> Repository:
    """The repository of a task on this machine, with its commit; a mirror that lacks it is fetched."""
    place = catalogue.mirror_of(task.entry)
    if not _has_commit(place, task.commit):
        if task.entry.in_place:
            what = f"has no commit {task.commit[:12]}" if place.exists() else "is not on this machine"
            raise InputError(f"{place} {what}", hint=f"codenib fleet add --mirror {place}")
        outcome = sync_repository(catalogue, task.entry)
        if outcome.error:
            raise InputError(outcome.error, hint=outcome.repeat)
        if not _has_commit(place, task.commit):
            raise InputError(
                f"{task.entry.source} has no commit {task.commit[:12]} any more", hint=outcome.repeat
            )
    return locate(place)


def _build(task: CompileTask, result: CompileResult) -> CompileResult:
    repository = open_repository(Catalogue.open(), task)
    compiler = IndexCompiler(repository, Store(repository.key))
    try:
        with compiler.store.not_collecting():
            snapshot = compiler.take(task.commit)
            shared = _shared_work(task, compiler)
            if shared is not None:
                shared.take(snapshot)
            outcome = compiler.ensure(snapshot, task.views, head=_becomes_head(task, compiler, snapshot))
            sent = shared.give(snapshot) if shared is not None else 0
    finally:
        compiler.dense.close()
        compiler.graph.close()
    return msgspec.structs.replace(
        result,
        snapshot=snapshot.id,
        views={kind: _view_result(outcome, kind) for kind in task.views},
        derived=outcome.derived,
        sent_bytes=sent,
    )


def _becomes_head(task: CompileTask, compiler: IndexCompiler, snapshot: SourceSnapshot) -> bool:
    """Whether questions about the repository are answered from this snapshot from now on.

    A bare repository answers for its HEAD. A worktree that was asked itself keeps what it has, unless it has
    the very files of the snapshot; one that never was answers from what is compiled.
    """
    repository, store = compiler.repository, compiler.store
    if not task.default:
        return False
    if repository.kind == "bare":
        return True
    head = store.head(repository.worktree_key)
    return head is None or store.manifest(head) is None or compiler.take().id == snapshot.id


def _shared_work(task: CompileTask, compiler: IndexCompiler) -> SharedWork | None:
    if not task.store:
        return None
    from codenib.fleet.compile.sharing import SharedWork

    return SharedWork(task, compiler)


def _view_result(outcome: Outcome, kind: ViewKind) -> ViewResult:
    record = outcome.manifest.views[kind]
    if record.status is Status.FAILED:
        return ViewResult("failed", record.error)
    return ViewResult(outcome.views.get(kind, "current"), record.error)


def _has_commit(place: Path, commit: str) -> bool:
    if not place.is_dir():
        return False
    return git.call(["-C", str(place), "cat-file", "-e", f"{commit}^{{commit}}"]).code == 0

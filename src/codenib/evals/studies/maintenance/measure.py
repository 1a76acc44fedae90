"""A chain of transitions in, records out: each view maintained from the one before, and rebuilt from nothing.

The two sides have states of their own and share nothing: no parsed unit, no vector, no engine.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from codenib.compiler.compiler import IndexCompiler
from codenib.compiler.outcome import Outcome
from codenib.core.errors import CodenibError
from codenib.core.views import Status, ViewKind
from codenib.evals.data.rows import Transition
from codenib.evals.runs import Record, Run
from codenib.evals.studies.maintenance.checks import check
from codenib.manifest.store import Store
from codenib.snapshot.delta import diff
from codenib.snapshot.repository import locate
from codenib.views.graph.maintenance.follow import Arm
from codenib.views.graph.maintenance.update import read_update

Note = Callable[[str], None]


@dataclass(frozen=True)
class Side:
    """One way to maintain views: a state of its own that advances along the chain."""

    kept: IndexCompiler
    views: Sequence[ViewKind]
    arm: str = ""  # of the graph, when it is not the default


def walk(
    run: Run,
    chain: Sequence[Transition],
    clone: Path,
    views: Sequence[ViewKind],
    note: Note,
    arms: Sequence[Arm] = (),
) -> None:
    """Measure one repository's chain; transitions that are recorded already are only walked over.

    `arms` are further ways to maintain the graph, each from the same first snapshot.
    """
    wanted = [(kind, "") for kind in views] + [(ViewKind.GRAPH, arm) for arm in arms]
    if all(_key(each, kind, arm) in run for each in chain for kind, arm in wanted):
        return
    with tempfile.TemporaryDirectory(prefix="codenib-maintenance-") as folder:
        sides = [Side(_compiler(clone, Path(folder) / "kept"), views)]
        for arm in arms:
            sides.append(Side(_compiler(clone, Path(folder) / f"kept-{arm}"), (ViewKind.GRAPH,), arm))
            sides[-1].kept.graph.arm = arm
        try:
            last = ""
            for step in chain:
                for side in sides if step.start != last else ():
                    side.kept.ensure(side.kept.take(step.start), side.views, head=True)
                _transition(run, step, sides, clone, views, Path(folder))
                last = step.goal
                note(f"{step.repo} step {step.step}: {step.subject[:60]}")
        finally:
            for side in sides:
                _close(side.kept)


def _transition(
    run: Run,
    step: Transition,
    sides: Sequence[Side],
    clone: Path,
    views: Sequence[ViewKind],
    folder: Path,
) -> None:
    kept = sides[0].kept
    before, after = kept.take(step.start), kept.take(step.goal)
    delta = diff(before, after)
    changed = {file.path for file in (*delta.added, *delta.changed)} | set(delta.removed)
    updated = [side.kept.ensure(side.kept.take(step.goal), side.views, head=True) for side in sides]
    fresh = _compiler(clone, folder / "fresh")
    try:
        rebuilt = fresh.ensure(fresh.take(step.goal), views, head=True)
        for side, outcome in zip(sides, updated, strict=True):
            for kind in side.views:
                key = _key(step, kind, side.arm)
                if key in run:
                    continue
                about = {
                    "repo": step.cluster, "language": step.language, "step": step.step, "view": kind.value,
                    "source_changing": step.source_changing, "files_changed": len(changed),
                }  # fmt: skip
                found = _compare(kind, side.kept, outcome, fresh, rebuilt, changed)
                if side.arm and "arm" in found:
                    found["arm"] = f"{found['arm']}, whole files"
                run.add("transition", key, {**about, **found})
    finally:
        _close(fresh)
        shutil.rmtree(folder / "fresh", ignore_errors=True)


def _compare(
    kind: ViewKind,
    kept: IndexCompiler,
    updated: Outcome,
    fresh: IndexCompiler,
    rebuilt: Outcome,
    changed: set[str],
) -> Record:
    ours, theirs = updated.manifest.views[kind], rebuilt.manifest.views[kind]
    for side, record in (("update", ours), ("rebuild", theirs)):
        if record.status is not Status.FRESH:
            return {"error": f"{side}: {record.error}"}
    maintained, anew = kept.store.artifact(ours.artifact), fresh.store.artifact(theirs.artifact)
    try:
        builder = kept.views[kind].builder()
        checked = check(kind, builder, maintained, anew, changed)
    except CodenibError as error:
        return {"error": error.message}
    update = read_update(maintained) if kind is ViewKind.GRAPH else None
    ways = sorted({group.how for group in update.groups if group.files}) if update else []
    start_s = sum(group.start_s for group in update.groups) if update else 0.0
    return {
        "arm": f"{kind.value} ({'+'.join(ways)})" if ways else kind.value,
        "how": ours.how,
        "update_s": round(max(ours.seconds - start_s, 1e-6), 5),
        "start_s": round(start_s, 4),
        "rebuild_s": round(theirs.seconds, 5),
        "rederived": update.rederived if update else None,
        "lacks": theirs.error,
        **checked,
    }


def _compiler(clone: Path, root: Path) -> IndexCompiler:
    repository = locate(clone)
    return IndexCompiler(repository, Store(repository.key, root=root))


def _close(compiler: IndexCompiler) -> None:
    compiler.dense.close()
    close = getattr(compiler.graph, "close", None)  # engines that stayed
    if close is not None:
        close()


def _key(step: Transition, kind: ViewKind, arm: str = "") -> str:
    return f"{step.cluster}|{step.step:04d}|{kind.value}{f':{arm}' if arm else ''}"

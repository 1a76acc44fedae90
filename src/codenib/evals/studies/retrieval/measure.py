"""Rows, arms and clones in, records out: views built at each commit, every question asked and timed.

All commits of a repository share one state, so that a commit costs what differs from its nearest neighbour.
Nothing is checked out: views are built from the clone's objects.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass
from itertools import groupby

from codenib.compiler.compiler import IndexCompiler
from codenib.core.answers import Answer
from codenib.core.errors import CodenibError, InputError
from codenib.core.views import Status, ViewKind
from codenib.evals.data.clones import Clones
from codenib.evals.data.rows import LocalizeRow
from codenib.evals.environment import cpu_s
from codenib.evals.runs import Record, StudyRun
from codenib.evals.studies.retrieval.arms import Arm
from codenib.evals.studies.retrieval.fusion import expand
from codenib.manifest.store import Store
from codenib.serving.workspace import Workspace
from codenib.snapshot.repository import locate

RECORDED = 100  # places that a record has: enough for twenty distinct files
REPEATS = 3  # timed askings, after one that warms up
ASKED = 10  # results of a timed asking
SLOW_S = 2.0  # an answer that took this long is not asked again

Note = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Opened:
    """A repository that is being measured: the run's records, who answers, and who builds."""

    run: StudyRun
    workspace: Workspace
    compiler: IndexCompiler


def measure(
    run: StudyRun,
    rows: Sequence[LocalizeRow],
    arms: Sequence[Arm],
    clones: Clones,
    note: Note,
    *,
    graph: bool = False,
) -> None:
    """Add the records that the run does not have yet."""
    ordered = sorted(rows, key=lambda row: (row.cluster, row.base_commit, row.id))
    todo = [
        row
        for row in ordered
        if any(key_of(row, arm) not in run for arm in arms) or (graph and _graph_key(row) not in run)
    ]
    if len(todo) < len(rows):
        note(f"{len(rows) - len(todo)} of {len(rows)} rows are measured already")
    done = 0
    for repo, found in groupby(todo, key=lambda row: row.cluster):
        mine = list(found)
        started, cpu = time.perf_counter(), cpu_s()
        try:
            clone = clones.find(mine[0].repo)
        except InputError as error:
            for row in mine:
                _fail(run, row, arms, error.message)
            continue
        repository = locate(clone)
        compiler = IndexCompiler(repository, Store(repository.key))
        with closing(compiler.dense), Workspace(clone) as workspace:
            opened = Opened(run, workspace, compiler)
            for commit, at in groupby(mine, key=lambda row: row.base_commit):
                rows_here = list(at)
                _commit(opened, commit, rows_here, arms)
                if graph:
                    _expand(opened, commit, rows_here)
                done += len(rows_here)
        seconds = time.perf_counter() - started
        cost = {
            "repo": repo,
            "rows": len(mine),
            "wall_s": round(seconds, 2),
            "cpu_s": round(cpu_s() - cpu, 2),
        }
        run.add("cost", f"{repo}|cost|{mine[0].id}", cost)
        note(f"{done}/{len(todo)} rows; {repo}: {len(mine)} rows in {seconds:.0f} s")


def key_of(row: LocalizeRow, arm: Arm) -> str:
    return f"{row.id}|{arm.name}"


def _commit(opened: Opened, commit: str, rows: Sequence[LocalizeRow], arms: Sequence[Arm]) -> None:
    """Build what the arms need at one commit, one embedder at a time, then ask."""
    run = opened.run
    for spec in dict.fromkeys(arm.embedder for arm in arms):
        mine = [arm for arm in arms if arm.embedder == spec]
        open_rows = [row for row in rows if any(key_of(row, arm) not in run for arm in mine)]
        if not open_rows:
            continue
        views = [kind for kind in ViewKind if any(kind in arm.views for arm in mine)]
        try:
            failed = _build(opened, rows[0].cluster, commit, views, spec)
        except CodenibError as error:
            for row in open_rows:
                _fail(run, row, mine, error.message)
            continue
        for row in open_rows:
            for arm in mine:
                if key_of(row, arm) in run:
                    continue
                if lacking := [failed[kind] for kind in arm.views if kind in failed]:
                    _fail(run, row, [arm], "; ".join(lacking))
                else:
                    run.add("answer", key_of(row, arm), _ask(opened.workspace, row, arm))


def _expand(opened: Opened, commit: str, rows: Sequence[LocalizeRow]) -> None:
    """The dense pool and its neighbours of each row, for graph fusion."""
    run, compiler = opened.run, opened.compiler
    todo = [row for row in rows if _graph_key(row) not in run]
    if not todo:
        return
    views = (ViewKind.LEXICAL, ViewKind.DENSE, ViewKind.GRAPH)
    record = compiler.ensure(compiler.take(commit), views, head=True).manifest.views[ViewKind.GRAPH]
    resolved = any(name.startswith("references:") for name in record.capabilities)
    for row in todo:
        about = {"row": row.id, "repo": row.cluster, "language": row.language}
        if record.status is not Status.FRESH or not resolved:
            run.add("graph", _graph_key(row), {**about, "error": record.error or "no resolved references"})
        else:
            run.add("graph", _graph_key(row), expand(opened.workspace, row))


def _graph_key(row: LocalizeRow) -> str:
    return f"{row.id}|graph"


def _build(
    opened: Opened, repo: str, commit: str, views: Sequence[ViewKind], spec: str
) -> dict[ViewKind, str]:
    """Publish the views as the head of this clone's state; the views that failed, with why."""
    run, compiler = opened.run, opened.compiler
    with compiler.dense.asked(spec, None, None) if spec else nullcontext():
        outcome = compiler.ensure(compiler.take(commit), views, head=True)
    records = outcome.manifest.views
    key = f"{repo}@{commit}|{spec or 'default'}|build"
    if outcome.views and key not in run:
        run.add(
            "build",
            key,
            {
                "repo": repo,
                "commit": commit,
                "embedder": spec,
                "files": outcome.manifest.files,
                "parsed": outcome.derived,
                "seconds": round(outcome.seconds, 3),
                "views": {
                    kind.value: {
                        "how": how,
                        "seconds": round(records[kind].seconds, 3),
                        "bytes": records[kind].size_bytes,
                        "counts": dict(records[kind].counts),
                    }
                    for kind, how in outcome.views.items()
                },
            },
        )
    return {kind: records[kind].error for kind in views if records[kind].status is not Status.FRESH}


def _ask(workspace: Workspace, row: LocalizeRow, arm: Arm) -> Record:
    about = {"row": row.id, "arm": arm.name, "repo": row.cluster, "language": row.language}
    try:
        answer, first_s = _timed(workspace, row, arm, RECORDED)
        again = [_timed(workspace, row, arm, ASKED) for _ in range(REPEATS if first_s < SLOW_S else 0)]
    except CodenibError as error:
        return {**about, "error": error.message}
    times = [seconds for _, seconds in again] or [first_s]
    return {
        **about,
        "seconds": round(statistics.median(times), 6),
        "first_s": round(first_s, 6),
        "stable": all(_places(other) == _places(answer)[:ASKED] for other, _ in again),
        "total": answer.total,
        "plan": f"{answer.plan.route.value}: {answer.plan.reason}",
        "reranker": answer.plan.reranker,
        "answers": _places(answer),
    }


def _timed(workspace: Workspace, row: LocalizeRow, arm: Arm, k: int) -> tuple[Answer, float]:
    started = time.perf_counter()
    answer = arm.ask(workspace, row.query, k)
    return answer, time.perf_counter() - started


def _places(answer: Answer) -> list[list[object]]:
    return [[item.path, item.start_line, item.end_line, item.level, item.symbol] for item in answer.items]


def _fail(run: StudyRun, row: LocalizeRow, arms: Iterable[Arm], why: str) -> None:
    for arm in arms:
        about = {"row": row.id, "arm": arm.name, "repo": row.cluster, "language": row.language, "error": why}
        run.add("answer", key_of(row, arm), about)

"""A chain of transitions in, records out: each view maintained from the one before, and rebuilt from nothing.

The two sides have states of their own and share nothing: no parsed unit, no vector, no engine.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from codenib.compiler.compiler import IndexCompiler
from codenib.core.errors import CodenibError
from codenib.core.updates import Outcome
from codenib.core.views import Status, ViewKind
from codenib.evals.data.rows import Transition
from codenib.evals.preparation import groups_of
from codenib.evals.runs import Record, StudyRun
from codenib.evals.studies.maintenance.checks import check
from codenib.manifest.store import Store
from codenib.snapshot.delta import diff
from codenib.snapshot.repository import locate
from codenib.views.graph.assembly.about import read_graph_file
from codenib.views.graph.maintenance.group_edit import RepairLevel
from codenib.views.graph.maintenance.update import read_update

Note = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Chain:
    """Transitions of one repository, one after another, and the views that are maintained along them.

    `arms` are further ways to maintain the graph, each from the same first snapshot.
    """

    steps: Sequence[Transition]
    clone: Path
    views: Sequence[ViewKind]
    arms: Sequence[RepairLevel] = ()

    def record_keys(self) -> Iterator[str]:
        """The record of each transition, view and arm."""
        wanted = [(kind, "") for kind in self.views] + [(ViewKind.GRAPH, arm) for arm in self.arms]
        return (_key(step, kind, arm) for step in self.steps for kind, arm in wanted)


@dataclass(frozen=True, slots=True)
class Side:
    """One way to maintain views: a compiler with a state of its own that advances along the chain."""

    compiler: IndexCompiler
    views: Sequence[ViewKind]
    arm: str = ""  # of the graph, when it is not the default

    def advance(self, commit: str) -> Outcome:
        """Bring the views to a commit."""
        return self.compiler.ensure(self.compiler.take(commit), self.views, head=True)

    def artifact(self, outcome: Outcome, kind: ViewKind) -> Path:
        """The artifact of one view after `advance`."""
        return self.compiler.store.artifact(outcome.manifest.views[kind].artifact)


def walk(run: StudyRun, chain: Chain, note: Note) -> None:
    """Measure one repository's chain; transitions that are recorded already are only walked over."""
    if all(key in run for key in chain.record_keys()):
        return
    with tempfile.TemporaryDirectory(prefix="codenib-maintenance-") as folder:
        sides = [Side(_compiler(chain.clone, Path(folder) / "maintained"), chain.views)]
        for arm in chain.arms:
            state = Path(folder) / f"maintained-{arm}"
            sides.append(Side(_compiler(chain.clone, state), (ViewKind.GRAPH,), arm))
            sides[-1].compiler.graph.repair_level = arm
        try:
            last = ""
            for step in chain.steps:
                for side in sides if step.start != last else ():
                    side.advance(step.start)
                _transition(run, chain, step, sides, Path(folder))
                last = step.goal
                note(f"{step.repo} step {step.step}: {step.subject[:60]}")
        finally:
            for side in sides:
                _close(side.compiler)


def _transition(run: StudyRun, chain: Chain, step: Transition, sides: Sequence[Side], folder: Path) -> None:
    before, after = (sides[0].compiler.take(commit) for commit in (step.start, step.goal))
    delta = diff(before, after)
    changed = {file.path for file in (*delta.added, *delta.changed)} | set(delta.removed)
    updated = [side.advance(step.goal) for side in sides]
    fresh = Side(_compiler(chain.clone, folder / "fresh"), chain.views)
    try:
        rebuilt = fresh.advance(step.goal)
        for side, outcome in zip(sides, updated, strict=True):
            for kind in side.views:
                key = _key(step, kind, side.arm)
                if key in run:
                    continue
                about = {
                    "repo": step.cluster, "language": step.language, "step": step.step, "view": kind.value,
                    "source_changing": step.source_changing, "files_changed": len(changed),
                }  # fmt: skip
                found = _compare(kind, (side, outcome), (fresh, rebuilt), changed)
                if kind is ViewKind.GRAPH and "error" not in found:
                    pair = side.artifact(outcome, kind), fresh.artifact(rebuilt, kind)
                    found["by_name"] = _groups_by_name(step.language, pair)
                    if set(found["by_name"]) & set(groups_of([step.language])):
                        found["arm"] = found["arm"].replace(kind.value, "graph by names", 1)
                if side.arm and "arm" in found:
                    found["arm"] = f"{found['arm']}, whole files"
                run.add("transition", key, {**about, **found})
    finally:
        _close(fresh.compiler)
        shutil.rmtree(folder / "fresh", ignore_errors=True)


def _compare(
    kind: ViewKind, update: tuple[Side, Outcome], rebuild: tuple[Side, Outcome], changed: set[str]
) -> Record:
    """Whether the update of one view equals its rebuild, and what each cost."""
    ours, theirs = (outcome.manifest.views[kind] for _, outcome in (update, rebuild))
    for name, record in (("update", ours), ("rebuild", theirs)):
        if record.status is not Status.FRESH:
            return {"error": f"{name}: {record.error}"}
    maintained, rebuilt = (side.artifact(outcome, kind) for side, outcome in (update, rebuild))
    try:
        builder = update[0].compiler.views[kind].builder()
        checked = check(kind, builder, maintained, rebuilt, changed)
    except CodenibError as error:
        return {"error": error.message}
    done = read_update(maintained) if kind is ViewKind.GRAPH else None
    ways = sorted({group.how for group in done.groups if group.files}) if done else []
    start_s = sum(group.start_s for group in done.groups) if done else 0.0
    return {
        "arm": f"{kind.value} ({'+'.join(ways)})" if ways else kind.value,
        "how": ours.how,
        "update_s": round(max(ours.seconds - start_s, 1e-6), 6),
        "start_s": round(start_s, 4),
        "rebuild_s": round(theirs.seconds, 5),
        "rederived": done.rederived if done else None,
        "lacks": theirs.error,
        **checked,
    }


def _groups_by_name(language: str, artifacts: Iterable[Path]) -> list[str]:
    """The language groups that an engine should have resolved, and in one of the graphs none did."""
    found: set[str] = set()
    for path in artifacts:
        origins = read_graph_file(path).groups
        failed = {each.group for each in origins if each.error and not each.resolved}
        found |= failed | (set(groups_of([language])) - {each.group for each in origins if each.resolved})
    return sorted(found)


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

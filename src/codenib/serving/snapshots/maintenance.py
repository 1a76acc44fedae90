"""An update's outcome in, what it did to the graph out; and whether what is published still holds."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codenib.compiler.compiler import IndexCompiler
from codenib.compiler.outcome import Outcome
from codenib.core.views import ViewKind

if TYPE_CHECKING:
    from codenib.views.graph.maintenance.audit import Audited
    from codenib.views.graph.maintenance.update import GraphUpdate


def graph_update(compiler: IndexCompiler, outcome: Outcome) -> GraphUpdate | None:
    """What the update that made the graph of an outcome did; None when it was built from nothing."""
    from codenib.views.graph.maintenance.update import read_update

    record = outcome.manifest.views.get(ViewKind.GRAPH)
    if record is None or not record.artifact:
        return None
    return read_update(compiler.store.artifact(record.artifact))


@dataclass(frozen=True, slots=True)
class AuditReport:
    """What an audit of the graph found. `repaired`: the graph was made anew because files differed."""

    snapshot: str
    groups: tuple[Audited, ...]
    repaired: bool
    seconds: float

    @property
    def clean(self) -> bool:
        return not any(group.differing for group in self.groups)


def audit_graph(compiler: IndexCompiler, *, sample: int, seed: int, repair: bool) -> AuditReport:
    """Ask new engines for some files of the worktree's graph; where one differs, make the graph anew."""
    started = time.perf_counter()
    snapshot = compiler.take()
    groups = tuple(compiler.audit(snapshot, sample=sample, seed=seed))
    wrong = any(group.differing for group in groups)
    if wrong and repair:
        compiler.renew(snapshot, ViewKind.GRAPH)
    return AuditReport(snapshot.id, groups, wrong and repair, time.perf_counter() - started)


def warm_graph(compiler: IndexCompiler) -> None:
    """Start the engines of the worktree's graph, if it has a fresh one."""
    snapshot = compiler.take()
    manifest = compiler.current(snapshot, [ViewKind.GRAPH])
    if manifest is not None:
        compiler.graph.warm(snapshot, compiler.store.artifact(manifest.views[ViewKind.GRAPH].artifact))

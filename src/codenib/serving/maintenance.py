"""An update's outcome in, what it did to the graph out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codenib.compiler.compiler import IndexCompiler, Outcome
from codenib.core.views import ViewKind

if TYPE_CHECKING:
    from codenib.views.graph.update import GraphUpdate


def graph_update(compiler: IndexCompiler, outcome: Outcome) -> GraphUpdate | None:
    """What the update that made the graph of an outcome did; None when it was built from nothing."""
    from codenib.views.graph.update import read_update

    record = outcome.manifest.views.get(ViewKind.GRAPH)
    if record is None or not record.artifact:
        return None
    return read_update(compiler.store.artifact(record.artifact))

"""Updates in two steps, and what they did: text views are published before the graph's engines are asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from codenib.compiler.compiler import IndexCompiler, Outcome
from codenib.core.views import ViewKind

if TYPE_CHECKING:
    from codenib.views.graph.update import GraphUpdate

#: Views that an engine or a model makes; the others never wait for them.
SLOW = (ViewKind.DENSE, ViewKind.GRAPH)


def in_two_steps(views: Sequence[ViewKind], index: Callable[[Sequence[ViewKind]], Outcome]) -> Outcome:
    """Publish the quick views, then all: nobody waits for the graph's engines to search text."""
    quick = tuple(kind for kind in views if kind not in SLOW)
    if not quick or len(quick) == len(views):
        return index(views)
    return joined(index(quick), index(views))


def joined(first: Outcome, second: Outcome) -> Outcome:
    """Two steps of one update as one outcome."""
    if first.nothing_to_do:
        return second
    if second.nothing_to_do:
        return replace(first, manifest=second.manifest)
    return replace(
        second,
        views={**first.views, **second.views},
        derived=first.derived + second.derived,
        seconds=first.seconds + second.seconds,
    )


def graph_update(compiler: IndexCompiler, outcome: Outcome) -> GraphUpdate | None:
    """What the update that made the graph of an outcome did; None when it was built from nothing."""
    from codenib.views.graph.update import read_update

    record = outcome.manifest.views.get(ViewKind.GRAPH)
    if record is None or not record.artifact:
        return None
    return read_update(compiler.store.artifact(record.artifact))

"""A graph in, the places out where references are not the inverse of definitions: there should be none.

The law: when *definition* at a name answers with a declaration, *references* of that declaration has the
name. It is checked by asking the graph as a caller would, for every occurrence but keywords and guesses:
`this` leads to its class and does not refer to it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from codenib.core.facts import NO_REFERENCE
from codenib.core.navigation import Location, Position
from codenib.views.graph.navigate import locate, location_of, references
from codenib.views.graph.read import GraphView


@dataclass(frozen=True, slots=True)
class LawBreach:
    """An occurrence that its declaration's references lack."""

    occurrence: Location
    declaration: Location
    name: str

    def __str__(self) -> str:
        return f"{self.occurrence}: references of {self.name} ({self.declaration}) lack it"


def law_breaches(view: GraphView) -> Iterator[LawBreach]:
    """Every occurrence that the references of what defines it lack, by declaration."""
    declarations, occurrences = _defined(view)
    ends = [*np.flatnonzero(np.diff(declarations)) + 1, len(declarations)]
    begin = 0
    for end in ends if len(declarations) else ():
        node = int(declarations[begin])
        declared = location_of(view, node)
        asked = references(view, Position(declared.path, declared.line, declared.column))
        there = set(asked.locations)
        for place in locate(view, occurrences[begin:end]):
            if place not in there:
                yield LawBreach(place, declared, view.names[node])
        begin = end


def law_count(view: GraphView) -> int:
    """How many pairs of an occurrence and its declaration the law is about."""
    return len(_defined(view)[0])


def _defined(view: GraphView) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Each declaration of the repository with each occurrence that it defines, by declaration."""
    lists = view.occurrence_defs[:]
    named = (view.occurrence_roles & NO_REFERENCE) == 0
    having = np.flatnonzero((lists >= 0) & named).astype(np.int32)
    sizes = view.list_ptr[lists[having] + 1] - view.list_ptr[lists[having]]
    first = np.repeat(view.list_ptr[lists[having]] - np.concatenate([[0], np.cumsum(sizes)[:-1]]), sizes)
    targets = view.list_items[first + np.arange(len(first))] if len(first) else np.zeros(0, np.int32)
    occurrences = np.repeat(having, sizes)
    inside = (targets >= view.nodes_at) & (targets < view.count)
    targets, occurrences = targets[inside], occurrences[inside]
    order = np.lexsort((occurrences, targets))
    return targets[order].astype(np.int32), occurrences[order]

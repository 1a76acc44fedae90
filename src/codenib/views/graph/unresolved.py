"""A graph in, the names out that an engine read and could not resolve, such as those of a missing library.

A backend gives such a name no definition, and lists it under `unresolved#NAME`. So it is no reference to
anything, and a search for a name can list those that are written alike.
"""

from __future__ import annotations

from bisect import bisect_left

import numpy as np
from numpy.typing import NDArray

from codenib.core.facts import NODE_EXTENT, UNRESOLVED_NAME
from codenib.core.navigation import Position
from codenib.views.graph.navigate import occurrence_at
from codenib.views.graph.read import GraphView


def files_unresolved(view: GraphView, name: str) -> list[str]:
    """The files in which a name was read and not resolved, in order."""
    files = view.file_of_occurrences(_places(view, name))
    return [view.paths[file] for file in dict.fromkeys(files)]


def _places(view: GraphView, name: str) -> NDArray[np.int32]:
    wanted = UNRESOLVED_NAME + name
    at = bisect_left(view.outside, wanted)
    if at == len(view.outside) or view.outside[at] != wanted:
        return np.zeros(0, np.int32)
    return view.places_of(view.count + at)


def is_unresolved_at(view: GraphView, position: Position) -> bool:
    """Whether the name at a position was read and not resolved."""
    occurrence = occurrence_at(view, position)
    return occurrence is not None and _is_unresolved(view, occurrence)


def is_undefined_at(view: GraphView, position: Position) -> bool:
    """Whether nothing is known of a name that was read; of a call of an unknown constructor, the class is."""
    occurrence = occurrence_at(view, position)
    return (
        occurrence is not None and _is_unresolved(view, occurrence) and view.occurrence_defs[occurrence] < 0
    )


def count_unresolved_within(view: GraphView, node: int) -> int:
    """How many names in the text of a declaration or of a file were not resolved."""
    if node < view.files_at:
        return 0
    file = int(view.file_of[node]) if node >= view.nodes_at else node - view.files_at
    begin, end = int(view.first_occurrence[file]), int(view.first_occurrence[file + 1])
    if node >= view.nodes_at:
        first, _, last, _ = (int(view.ranges[name][node]) for name in NODE_EXTENT)
        lines = view.occurrence_line[begin:end]
        begin, end = (
            begin + int(lines.searchsorted(first)),
            begin + int(lines.searchsorted(last, side="right")),
        )
    return sum(_is_unresolved(view, occurrence) for occurrence in range(begin, end))


def _is_unresolved(view: GraphView, occurrence: int) -> bool:
    low, high = (view.count + bisect_left(view.outside, word) for word in (UNRESOLVED_NAME, _AFTER))
    return any(low <= key < high for key in view.keys_of(occurrence))


_AFTER = UNRESOLVED_NAME[:-1] + chr(ord(UNRESOLVED_NAME[-1]) + 1)

"""A graph in, the names out that nobody resolved: those of a missing library, of values of unknown types.

A backend that says so gives such a name no definition, and lists it under `unresolved#NAME`. So it is no
reference to anything, and a search for a name can list those that are written alike. Of other names in code
nothing is said at all: those the graph itself lists.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codenib.core.facts import NODE_EXTENT, UNRESOLVED_NAME
from codenib.core.navigation import Position
from codenib.views.graph.facts.code_names import Use
from codenib.views.graph.navigate import has_meaning, is_guess, occurrence_at
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


@dataclass(frozen=True, slots=True)
class UnknownName:
    """A place in code at which nobody knows what the name there is; lines from 1."""

    path: str
    line: int
    column: int
    name: str
    use: Use

    @property
    def start(self) -> tuple[str, int, int]:
        return self.path, self.line, self.column

    @property
    def end(self) -> tuple[int, int]:
        return self.line, self.column + len(self.name)


def unknown_places(view: GraphView, name: str) -> list[UnknownName]:
    """The places in code of resolved files that have a name and no meaning, in order."""
    at = bisect_left(view.unknown_names, name)
    if at == len(view.unknown_names) or view.unknown_names[at] != name:
        return []
    return _read(view, view.unknown_rows[view.unknown_ptr[at] : view.unknown_ptr[at + 1]])


def unknown_within(view: GraphView, path: str, first: int, last: int) -> list[UnknownName]:
    """Those on some lines of a file (from 1, both included), whatever their name, in order."""
    file = view.file_number(path)
    if file is None:
        return []
    begin, end = int(view.first_unknown[file]), int(view.first_unknown[file + 1])
    lines = view.unknown_line[begin:end]
    rows = np.arange(lines.searchsorted(first - 1), lines.searchsorted(last - 1, side="right"))
    return _read(view, begin + rows)


def _read(view: GraphView, rows: NDArray[Any]) -> list[UnknownName]:
    """The rows that have no meaning in the whole graph either: another file may tell what a name declares."""
    files = np.searchsorted(view.first_unknown, rows, side="right") - 1
    table = zip(
        files.tolist(),
        view.unknown_line[rows].tolist(),
        view.unknown_column[rows].tolist(),
        view.unknown_name[rows].tolist(),
        view.unknown_use[rows].tolist(),
        strict=True,
    )
    found: list[UnknownName] = []
    for file, group in groupby(table, key=itemgetter(0)):
        path = view.paths[file]
        nodes = view.ranges[int(view.first_node[file]) : int(view.first_node[file + 1])]
        declared = set(zip(nodes["name_line"].tolist(), nodes["name_column"].tolist(), strict=True))
        for _, line, column, name, use in group:
            place = Position(path, line + 1, column)
            is_known = (line, column) in declared and not is_guess(view, place) and has_meaning(view, place)
            if not is_known:
                found.append(UnknownName(path, line + 1, column, view.unknown_names[name], Use(use)))
    return found


_AFTER = UNRESOLVED_NAME[:-1] + chr(ord(UNRESOLVED_NAME[-1]) + 1)

"""A position in, definitions and references out, from the occurrence table: the static provider.

The smallest occurrence at the position answers; without one, the innermost declaration around it does, under
its own label. Limits are the caller's, applied to sorted answers.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from codenib.core.facts import NO_REFERENCE, NODE_EXTENT, NODE_NAME, RELATIONS, UNRESOLVED_NAME, Role
from codenib.core.navigation import Granularity, Location, Position, SortedLocations
from codenib.views.graph.read import GraphView


def definitions(view: GraphView, position: Position, limit: int | None = None) -> SortedLocations:
    """Where what stands at `position` is declared."""
    occurrence = occurrence_at(view, position)
    if occurrence is None:
        return _of_node(view, enclosing_node(view, position), limit)
    keys = view.list_at(int(view.occurrence_defs[occurrence]))
    inside = sorted(location_of(view, key) for key in keys if key < view.count)
    unique = tuple(dict.fromkeys(inside))
    outside = _outside(view, occurrence)
    return SortedLocations(unique[:limit], len(unique), outside, "occurrence", name_at(view, occurrence))


def references(
    view: GraphView, position: Position, limit: int | None = None, *, declarations: bool = True
) -> SortedLocations:
    """Every place that refers to what stands at `position`."""
    occurrence = occurrence_at(view, position)
    if occurrence is None:
        node = enclosing_node(view, position)
        granularity: Granularity = "enclosing"
        keys = [node] if node >= view.nodes_at else []
        asked, outside = view.names[node], 0
    else:
        number = int(view.occurrence_asks[occurrence])
        keys = view.list_at(number if number >= 0 else int(view.occurrence_keys[occurrence]))
        granularity, asked = "occurrence", name_at(view, occurrence)
        outside = _outside(view, occurrence)
        place = next(locate(view, np.array([occurrence], np.int32)))
        keys += declared_at(view, Position(place.path, place.line, place.column))
        # From wherever a name is asked about, it is about what defines it.
        if not view.occurrence_roles[occurrence] & (Role.INEXACT | NO_REFERENCE):
            keys += view.list_at(int(view.occurrence_defs[occurrence]))
    keys += declared_at(view, position)
    places = places_of_all(view, keys)
    if not declarations:
        places = places[(view.occurrence_roles[places] & Role.DECLARATION) == 0]
    locations = tuple(locate(view, places if limit is None else places[:limit]))
    return SortedLocations(locations, len(places), outside, granularity, asked)


def occurrence_at(view: GraphView, position: Position) -> int | None:
    """The smallest occurrence that holds the position, else one that ends there."""
    file = view.file_number(position.path)
    if file is None:
        return None
    line, column = position.line - 1, position.column
    begin, end = int(view.first_occurrence[file]), int(view.first_occurrence[file + 1])
    lines = view.occurrence_line[begin:end]
    first = begin + int(lines.searchsorted(line))
    last = begin + int(lines.searchsorted(line, side="right"))
    last = first + int(view.occurrence_column[first:last].searchsorted(column, side="right"))
    # A line of a minified file has ten thousands of them.
    at = np.concatenate([np.array(_spanning(view, begin, first), np.int64), np.arange(first, last)])
    end_lines, ends = view.occurrence_end_line[at], view.occurrence_end_column[at]
    holds = (end_lines > line) | ((end_lines == line) & (ends >= column))
    at, end_lines, ends = at[holds], end_lines[holds], ends[holds]
    if not at.size:
        return None
    starts, begins = view.occurrence_line[at], view.occurrence_column[at]
    is_end = (end_lines == line) & (ends == column) & ((starts < line) | (begins < column))
    return int(at[np.lexsort((at, ends - begins, end_lines - starts, is_end))[0]])


def starts_at(view: GraphView, position: Position) -> bool:
    """Whether an occurrence begins exactly there."""
    at = occurrence_at(view, position)
    return at is not None and (
        int(view.occurrence_line[at]) == position.line - 1
        and int(view.occurrence_column[at]) == position.column
    )


def has_meaning(view: GraphView, position: Position) -> bool:
    """Whether the graph knows what the name that begins at a position is, here or outside.

    A declaration that nothing refers to, not even its own name, was read by its syntax alone: the build
    leaves its lines out.
    """
    at = occurrence_at(view, position) if starts_at(view, position) else None
    if at is not None and view.occurrence_roles[at] & Role.GUESS and view.occurrence_asks[at] < 0:
        return False
    if at is not None and (view.occurrence_defs[at] >= 0 or view.occurrence_keys[at] >= 0):
        return bool(name_at(view, at))
    return bool(places_of_all(view, declared_at(view, position)).size)


def is_guess(view: GraphView, position: Position) -> bool:
    """Whether the name that begins at a position is in lines that no engine read: it refers to nothing."""
    at = occurrence_at(view, position) if starts_at(view, position) else None
    return at is not None and bool(view.occurrence_roles[at] & Role.GUESS)


def declared_at(view: GraphView, position: Position) -> list[int]:
    """The declarations whose name begins at a position."""
    file = view.file_number(position.path)
    if file is None:
        return []
    begin, end = int(view.first_node[file]), int(view.first_node[file + 1])
    names = view.ranges[begin:end]
    here = (names["name_line"] == position.line - 1) & (names["name_column"] == position.column)
    found: list[int] = np.flatnonzero(here).tolist()
    return [begin + at for at in found]


def home_of(view: GraphView, node: int) -> int:
    """The declaration that stands for a node's symbol: of a prototype, the function that it announces."""
    if node < view.nodes_at or node >= view.count:
        return node
    place = location_of(view, node)
    at = occurrence_at(view, Position(place.path, place.line, place.column))
    keys = view.list_at(int(view.occurrence_keys[at])) if at is not None else []
    others = [
        key for key in keys if view.nodes_at <= key < view.count and view.names[key] == view.names[node]
    ]
    return node if node in keys or len(others) != 1 else others[0]


def on_line(view: GraphView, path: str, line: int) -> list[int]:
    """The occurrences that begin on a line (1-based), left to right."""
    file = view.file_number(path)
    if file is None:
        return []
    begin, end = int(view.first_occurrence[file]), int(view.first_occurrence[file + 1])
    lines = view.occurrence_line[begin:end]
    first, last = (int(lines.searchsorted(line - 1, side=side)) for side in ("left", "right"))
    return list(range(begin + first, begin + last))


def enclosing_node(view: GraphView, position: Position) -> int:
    """The innermost declaration around a position that others can name; else its file."""
    file = view.file_number(position.path)
    if file is None:
        raise LookupError(position.path)
    begin, end = int(view.first_node[file]), int(view.first_node[file + 1])
    line, column = position.line - 1, position.column
    best, smallest = view.files_at + file, (1 << 31, 1 << 31)
    ranges = view.ranges[begin:end]
    around = np.flatnonzero((ranges["line"] <= line) & (ranges["end_line"] >= line))
    for at in around.tolist():
        first_line, first_column, end_line, end_column, *_ = ranges[at].tolist()
        size = (end_line - first_line, end_column - first_column)
        inside = (first_line, first_column) <= (line, column) <= (end_line, end_column)
        if inside and size <= smallest and not view.is_local(begin + at):
            best, smallest = begin + at, size
    return best


def location_of(view: GraphView, node: int) -> Location:
    """Where a node's name is; a file's or folder's is its first line."""
    if node < view.nodes_at:
        scope = view.scope(node - view.files_at) if node >= view.files_at else ""
        return Location(view.names[node], 1, 0, 1, 0, scope=scope)
    line, column, end = (int(view.ranges[name][node]) for name in NODE_NAME)
    scope = view.scope(int(view.file_of[node]))
    return Location(view.path(node), line + 1, column, line + 1, end, scope=scope)


def extent_of(view: GraphView, node: int) -> Location:
    """The whole of a declaration."""
    line, column, end_line, end_column = (int(view.ranges[name][node]) for name in NODE_EXTENT)
    return Location(view.path(node), line + 1, column, end_line + 1, end_column)


def locate(view: GraphView, occurrences: NDArray[np.int32]) -> Iterator[Location]:
    """The location of each occurrence."""
    files = view.file_of_occurrences(occurrences)
    rows = zip(
        files,
        view.occurrence_line[occurrences].tolist(),
        view.occurrence_column[occurrences].tolist(),
        view.occurrence_end_line[occurrences].tolist(),
        view.occurrence_end_column[occurrences].tolist(),
        strict=True,
    )
    for file, line, column, end_line, end_column in rows:
        scope = view.scope(file)
        yield Location(view.paths[file], line + 1, column, end_line + 1, end_column, scope=scope)


def places_of_all(view: GraphView, keys: list[int]) -> NDArray[np.int32]:
    """The occurrences of any of these keys or of what asking for them also collects; sorted, each once."""
    wanted = dict.fromkeys(keys)
    for key in keys:
        wanted.update(dict.fromkeys(also(view, key)))
    parts = [view.places_of(key) for key in wanted]
    if len(parts) == 1:
        return parts[0]
    return np.unique(np.concatenate(parts)) if parts else np.zeros(0, np.int32)


def also(view: GraphView, key: int) -> list[int]:
    """What else a search for the references of `key` collects."""
    return related(view, "also", key)


def related(view: GraphView, relation: str, source: int) -> list[int]:
    """The destinations of a relation."""
    low, high = relation_bounds(view, relation)
    sources = view.relation_source[low:high]
    first, last = (low + int(sources.searchsorted(source, side=side)) for side in ("left", "right"))
    found: list[int] = view.relation_to[first:last].tolist()
    return found


def relation_bounds(view: GraphView, relation: str) -> tuple[int, int]:
    """Where the rows of a relation begin and end."""
    kind = RELATIONS.index(relation)
    return int(view.relation_ptr[kind]), int(view.relation_ptr[kind + 1])


def name_at(view: GraphView, occurrence: int) -> str:
    """The name of what an occurrence is; empty where it is nothing's."""
    defs = int(view.occurrence_defs[occurrence])
    return name_of_list(view, defs if defs >= 0 else int(view.occurrence_keys[occurrence]))


def name_of_list(view: GraphView, number: int) -> str:
    """The name of the first of a list of keys; empty where there is none."""
    for key in view.list_at(number):
        if key < view.count:
            return view.names[key]
        return view.outside[key - view.count].removeprefix(UNRESOLVED_NAME)
    return ""


def _outside(view: GraphView, occurrence: int) -> int:
    """How many definitions of an occurrence are outside the repository."""
    return sum(1 for key in view.list_at(int(view.occurrence_defs[occurrence])) if key >= view.count)


def _spanning(view: GraphView, begin: int, first: int) -> list[int]:
    """Occurrences of the file that begin on an earlier line and go over several."""
    low, high = (int(view.spanning.searchsorted(at)) for at in (begin, first))
    found: list[int] = view.spanning[low:high].tolist()
    return found


def _of_node(view: GraphView, node: int, limit: int | None) -> SortedLocations:
    locations = (location_of(view, node),)
    return SortedLocations(locations[:limit], 1, 0, "enclosing", view.names[node])

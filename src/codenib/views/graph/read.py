"""An artifact's folder in, the graph out: memory-mapped, each question a few array reads."""

from __future__ import annotations

from bisect import bisect_left
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from codenib.core.errors import StateError
from codenib.core.facts import FileScope, NodeFlag, NodeKind, Role
from codenib.views.arrays import map_array
from codenib.views.graph.assembly.about import FORMAT, REBUILD, read_graph_file
from codenib.views.graph.assembly.strings import Strings
from codenib.views.graph.facts.rows import RANGE, Rows, rows_of

# Names of a chain: files that nest thousands of times made a map take 20 s.
_DEEPEST = 32
_SCOPES = list(FileScope)
_TYPES = frozenset({NodeKind.CLASS, NodeKind.INTERFACE, NodeKind.STRUCT, NodeKind.ENUM, NodeKind.TRAIT})


class GraphView:
    """The structural view of one snapshot. Lines and columns here are 0-based, as stored."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.about = read_graph_file(folder)
        if self.about.format != FORMAT:
            raise StateError(f"the graph view has format {self.about.format}", hint=REBUILD)
        self.names = Strings(folder, "names")
        self.outside = Strings(folder, "outside")
        self.unknown_names = Strings(folder, "unknown_names")
        self.groups = list(Strings(folder, "groups"))
        for name in _ARRAYS:
            setattr(self, name, self._load(name))
        self.occurrence_roles = self.occurrence_roles.astype(np.uint16, copy=False)
        self.ranges = rows_of(self._load("ranges"), RANGE)
        self.count = len(self.kinds)
        self.files_at = self.about.counts["folders"]
        self.nodes_at = self.files_at + len(self.first_node) - 1

    ranges: Rows  # where each node stands, and its name
    kinds: NDArray[np.uint8]
    parents: NDArray[np.int32]
    flags: NDArray[np.uint8]
    file_of: NDArray[np.int32]
    group_of: NDArray[np.uint8]
    scope_of: NDArray[np.uint8]
    first_node: NDArray[np.int32]
    first_occurrence: NDArray[np.int32]
    list_ptr: NDArray[np.int32]
    list_items: NDArray[np.int32]
    occurrence_line: NDArray[np.int32]
    occurrence_column: NDArray[np.int32]
    occurrence_end_line: NDArray[np.int32]
    occurrence_end_column: NDArray[np.int32]
    occurrence_roles: NDArray[np.uint16]  # eight bits before schema 4
    occurrence_defs: NDArray[np.int32]
    occurrence_keys: NDArray[np.int32]
    occurrence_asks: NDArray[np.int32]
    spanning: NDArray[np.int32]
    place_ptr: NDArray[np.int32]
    places: NDArray[np.int32]
    relation_ptr: NDArray[np.int32]
    relation_source: NDArray[np.int32]
    relation_to: NDArray[np.int32]
    edge_source: NDArray[np.int32]
    edge_to: NDArray[np.int32]
    edge_kind: NDArray[np.uint8]
    edge_anchor: NDArray[np.int32]
    edge_often: NDArray[np.int32]
    out_ptr: NDArray[np.int32]
    in_ptr: NDArray[np.int32]
    in_edges: NDArray[np.int32]
    by_name: NDArray[np.int32]
    importance: NDArray[np.float32]
    first_unknown: NDArray[np.int32]  # of each file; names in code that nobody resolved, in order
    unknown_line: NDArray[np.int32]
    unknown_column: NDArray[np.int32]
    unknown_name: NDArray[np.int32]
    unknown_use: NDArray[np.uint8]
    unknown_ptr: NDArray[np.int32]  # of each name, into the rows that have it
    unknown_rows: NDArray[np.int32]

    @cached_property
    def paths(self) -> list[str]:
        """Path of each file, by its number."""
        return [self.names[at] for at in range(self.files_at, self.nodes_at)]

    def file_number(self, path: str) -> int | None:
        """The number of a file that has facts."""
        at = bisect_left(self.paths, path)
        return at if at < len(self.paths) and self.paths[at] == path else None

    def kind(self, node: int) -> NodeKind:
        return NodeKind(int(self.kinds[node]))

    def is_local(self, node: int) -> bool:
        return bool(self.flags[node] & NodeFlag.LOCAL)

    def path(self, node: int) -> str:
        """The path of a folder, a file, or the file of a declaration."""
        return self.names[node] if node < self.nodes_at else self.paths[int(self.file_of[node])]

    def group(self, file: int) -> str:
        """The language group of a file."""
        return self.groups[int(self.group_of[file])]

    def scope(self, file: int) -> FileScope:
        """How a file was read."""
        return _SCOPES[int(self.scope_of[file])]

    def files_of_scope(self, group: str, scope: FileScope) -> list[str]:
        """The files of a language group that were read in this way."""
        wanted = (self.scope_of == _SCOPES.index(scope)) & (self.group_of == self.groups.index(group))
        return [self.paths[file] for file in np.flatnonzero(wanted).tolist()]

    def files_of_group(self, group: str) -> frozenset[str]:
        """The files of a language group."""
        return frozenset(
            self.paths[file] for file in np.flatnonzero(self.group_of == self.groups.index(group)).tolist()
        )

    def qualified(self, node: int) -> str:
        """The dotted chain of names from the file down, at most `_DEEPEST` of them; a file's path.

        A method that is defined outside its class (C++) has the class's names.
        """
        if node < self.nodes_at:
            return self.names[node]
        parts: list[str] = []
        if (declared := self._declared_in(node)) is not None:
            parts, node = [self.names[node]], declared
        while node >= self.nodes_at and len(parts) < _DEEPEST:
            parts.append(self.names[node])
            node = int(self.parents[node])
        return ".".join(reversed(parts))

    def _declared_in(self, node: int) -> int | None:
        """The type that declares a method which stands outside of it."""
        parent = int(self.parents[node])
        if self.kind(node) is not NodeKind.METHOD or (
            parent >= self.nodes_at and self.kind(parent) in _TYPES
        ):
            return None
        places = self.places_of(node)
        places = places[(self.occurrence_roles[places] & Role.DECLARATION) != 0]
        for at, file in zip(places.tolist(), self.file_of_occurrences(places), strict=True):
            begin, end = int(self.first_node[file]), int(self.first_node[file + 1])
            names = self.ranges[begin:end]
            here = (names["name_line"] == self.occurrence_line[at]) & (
                names["name_column"] == self.occurrence_column[at]
            )
            for other in np.flatnonzero(here).tolist():
                outer = int(self.parents[begin + other])
                if outer >= self.nodes_at and self.kind(outer) in _TYPES:
                    return outer
        return None

    def list_at(self, number: int) -> list[int]:
        """The keys of a list."""
        if number < 0:
            return []
        found: list[int] = self.list_items[self.list_ptr[number] : self.list_ptr[number + 1]].tolist()
        return found

    def keys_of(self, occurrence: int) -> list[int]:
        """What an occurrence is an occurrence of."""
        return self.list_at(int(self.occurrence_keys[occurrence]))

    def places_of(self, key: int) -> NDArray[np.int32]:
        """The occurrences of a key, in order of path, line and column."""
        return self.places[self.place_ptr[key] : self.place_ptr[key + 1]]

    def file_of_occurrences(self, occurrences: NDArray[np.int32]) -> list[int]:
        found: list[int] = (np.searchsorted(self.first_occurrence, occurrences, side="right") - 1).tolist()
        return found

    def _load(self, name: str) -> NDArray[np.int32]:
        try:
            return map_array(self.folder / f"{name}.npy")
        except (OSError, ValueError) as error:
            raise StateError(f"the graph view is damaged: {error}", hint=REBUILD) from error


_ARRAYS = tuple(name for name, kind in GraphView.__annotations__.items() if "NDArray" in kind)

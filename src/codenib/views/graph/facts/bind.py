"""Lines of backends in, facts per file out: positions in code points, targets by identity, never by line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import msgspec
import numpy as np

from codenib.core.errors import UNDECODABLE, ProviderError
from codenib.core.facts import (
    OCCURRENCE_COLUMNS,
    OCCURRENCE_PLACE,
    RELATIONS,
    FileScope,
    NodeFlag,
    NodeKind,
    WireFacts,
    WireNode,
)
from codenib.views.graph.facts.code_names import code_names
from codenib.views.graph.facts.code_points import from_code_points, to_code_points
from codenib.views.graph.facts.file import NO_NAMES, OUTSIDE, OWN_FILE, FileFacts
from codenib.views.graph.facts.rows import (
    NODE,
    OCCURRENCE,
    RELATION,
    Ints,
    Rows,
    columns_of,
    lists_of,
    rows_of,
)
from codenib.views.graph.profile import SYNTACTIC

_KINDS = {kind.label: int(kind) for kind in NodeKind}
_NAME = ("name_line", "name_column")
#: The (line, column) pairs of columns that an engine counts in its own units.
_NODE_PLACES = (("line", "column"), ("end_line", "end_column"), _NAME, ("name_line", "name_end_column"))
_OCCURRENCE_PLACES = (("line", "column"), ("end_line", "end_column"))


class Binder:
    """Reads the lines of one run of a backend, then binds targets to the nodes of the whole repository."""

    def __init__(self, group: str, read: Callable[[str], bytes], known: Iterable[FileFacts] = ()) -> None:
        """`known` are files that the run may refer to but did not analyse again."""
        self._group = group
        self._read = read
        self._wires: dict[str, WireFacts] = {}
        self._encoding = ""
        self._nodes: dict[str, Rows] = {}
        self._known = {facts.path: facts for facts in known}
        #: Files not analysed again in which a place without a declaration is referred to.
        self.unlisted: set[str] = set()
        self._places: dict[str, dict[tuple[int, int], int]] = {}
        self._missing: dict[str, set[tuple[int, int]]] = {}
        self._identities: dict[str, list[str]] = {}

    def add(self, line: bytes) -> None:
        """One file's line."""
        try:
            wire = msgspec.json.decode(line, type=WireFacts)
            nodes = node_rows(wire.nodes)
            if len(wire.occurrences) % len(OCCURRENCE_COLUMNS):
                raise ValueError(f"{wire.path}: an occurrence is cut off")
        except (KeyError, *UNDECODABLE) as error:
            raise ProviderError(f"the {self._group} backend wrote a wrong line: {error}") from error
        self._encoding = wire.encoding  # one backend, one encoding
        self._wires[wire.path] = wire
        self._nodes[wire.path] = nodes
        self._places[wire.path] = _first_at(columns_of(nodes, _NAME).tolist())

    def bind(self) -> list[FileFacts]:
        """The facts of all files read, in path order."""
        paths = sorted(self._wires)
        for path in paths:
            for target in self._wires[path].targets:
                self._note_unlisted(target)
        done = {path: self._file(self._wires[path]) for path in paths}
        self._identities = {path: facts.identities for path, facts in done.items()}
        return [self._bound(done[path], self._wires[path]) for path in paths]

    def _note_unlisted(self, target: str | list[str | int]) -> None:
        """Note a declaration that its own file did not list."""
        if isinstance(target, list) and len(target) == 3:
            path, line, column = target
            place = (int(line), int(column))
            if path in self._wires and place not in self._places[str(path)]:
                self._missing.setdefault(str(path), set()).add(place)

    def _file(self, wire: WireFacts) -> FileFacts:
        """A file's own facts, with positions in code points and no targets yet."""
        text = self._read(wire.path)
        names = [node.name for node in wire.nodes]
        nodes = self._with_anchors(wire, text, names)
        rows = rows_of(wire.occurrences, OCCURRENCE)
        to_code_points(text, wire.encoding, (nodes, _NODE_PLACES), (rows, _OCCURRENCE_PLACES))
        sizes = [len(one) for one in wire.lists]
        spoken, places = self._code_names(wire, text)
        kinds = {name: index for index, name in enumerate(RELATIONS)}
        return FileFacts(
            path=wire.path,
            group=self._group,
            names=tuple(names),
            nodes=nodes,
            targets=(),
            list_ptr=np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).astype(np.int32),
            list_items=np.array([item for one in wire.lists for item in one], np.int32),
            occurrences=rows[np.lexsort([rows[name] for name in reversed(OCCURRENCE_PLACE)])],
            relations=np.array(
                sorted((kinds[kind], source, to) for kind, source, to in wire.relations), RELATION
            ),
            scope=wire.scope,
            unknown_names=tuple(spoken),
            unknown=places,
        )

    def _code_names(self, wire: WireFacts, text: bytes) -> tuple[list[str], Rows]:
        """All names in the code of a file; `canonical` leaves those of unknown meaning."""
        if self._group == SYNTACTIC or wire.scope == FileScope.UNRESOLVED:
            return [], NO_NAMES
        return code_names(wire.path, text)

    def _with_anchors(self, wire: WireFacts, text: bytes, names: list[str]) -> Rows:
        """The file's nodes, and one for each place that others refer to and that it did not list."""
        nodes, places = self._nodes[wire.path], self._places[wire.path]
        rows = []
        for line, column in sorted(self._missing.get(wire.path, ())):
            name = _word_at(text, line, column, wire.encoding)
            places[line, column] = len(names)
            names.append(name)
            flags = NodeFlag.LOCAL | NodeFlag.ANCHOR
            extent, written = (line, column, line, column), (line, column, column + len(name))
            rows.append((NodeKind.VARIABLE, -1, *extent, *written, flags))
        return np.concatenate([nodes, np.array(rows, NODE)]) if rows else nodes

    def _bound(self, facts: FileFacts, wire: WireFacts) -> FileFacts:
        targets = tuple(self._target(facts.path, target) for target in wire.targets)
        _check(facts, targets, self._group)
        return replace(facts, targets=targets)

    def _target(self, own: str, target: str | list[str | int]) -> int | str:
        if isinstance(target, str):
            return OUTSIDE + target
        path = str(target[0])
        if len(target) == 1:
            return OWN_FILE if path == own else f"{path}#"
        _, line, column = target
        index = self._node_at(path, (int(line), int(column)))
        if index is None:
            if path in self._known:
                self.unlisted.add(path)
            return f"{OUTSIDE}{path}"
        if path == own:
            return index
        known = self._identities.get(path)
        return known[index] if known is not None else self._known[path].identities[index]

    def _node_at(self, path: str, place: tuple[int, int]) -> int | None:
        if path not in self._places and path in self._known:
            places = columns_of(self._known[path].nodes, _NAME)
            self._places[path] = _first_at(from_code_points(self._read(path), self._encoding, places))
        return self._places.get(path, {}).get(place)


def node_rows(nodes: Sequence[WireNode]) -> Rows:
    """The nodes of a line as rows."""
    rows = []
    for node in nodes:
        _, kind, *numbers = msgspec.structs.astuple(node)
        rows.append((_KINDS[kind], *numbers))
    found = np.array(rows, NODE)
    if np.any(found["parent"] >= np.arange(len(found))):
        raise ValueError("a node stands before its parent")
    return found


def _first_at(places: Iterable[Sequence[int]]) -> dict[tuple[int, int], int]:
    """For each line and column the first row that has it."""
    found: dict[tuple[int, int], int] = {}
    for index, (line, column) in enumerate(places):
        found.setdefault((line, column), index)
    return found


def _check(facts: FileFacts, targets: Sequence[int | str], group: str) -> None:
    """A backend's numbers stay inside their tables."""
    lists, rows = len(facts.list_ptr) - 1, facts.occurrences
    inside = (
        _within(facts.list_items, 0, len(targets))
        and _within(columns_of(facts.relations, ("source", "to")), 0, len(targets))
        and _within(lists_of(rows), -1, lists)
        and _within(columns_of(rows, OCCURRENCE_PLACE), 0, 1 << 31)
    )
    if not inside:
        raise ProviderError(f"the {group} backend's facts of {facts.path} point outside their own tables")


def _within(numbers: Ints, low: int, high: int) -> bool:
    return not numbers.size or bool(low <= numbers.min() and numbers.max() < high)


def _word_at(text: bytes, line: int, column: int, encoding: str) -> str:
    """The identifier at a place that a backend named; a dot stands for what cannot be read."""
    lines = text.split(b"\n")
    whole = lines[line].decode("utf-8", "replace") if line < len(lines) else ""
    if encoding == "utf-8" and not whole.isascii():
        column = len(lines[line][:column].decode("utf-8", "replace"))
    rest = whole[column:]
    length = next((at for at, char in enumerate(rest) if not (char.isalnum() or char in "_$")), len(rest))
    return rest[:length] or "."

"""Lines of backends in, facts per file out: positions in code points, targets by identity, never by line.

A target in the same file is its node's index (-1: the file itself); any other is an identity, so that a
file's facts stay true when the files that it refers to only shift. Identities: `path#` for a file,
`path#Class.method:method` for a declaration, with `:1` and so on for the next of equal name and kind, and
`~name` for what is outside the repository.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property

import msgspec
import numpy as np
from numpy.typing import NDArray

from codenib.core.errors import ProviderError, StateError
from codenib.core.facts import OCCURRENCE_FIELDS, RELATIONS, NodeFlag, NodeKind, WireFacts
from codenib.views.graph.facts.columns import from_code_points, to_code_points

Ints = NDArray[np.int32]
OWN_FILE = -1
NODE_FIELDS = 10  # kind, parent, line, column, end line, end column, name's line, column, end column, flags
OUTSIDE = "~"
_KINDS = {kind.label: int(kind) for kind in NodeKind}
_LABELS = [kind.label for kind in NodeKind]


@dataclass(frozen=True, eq=False)
class FileFacts:
    """What is known of one file; rows of `nodes` and `occurrences` are in source order, 0-based."""

    path: str
    group: str
    names: tuple[str, ...]
    nodes: Ints
    targets: tuple[int | str, ...]
    list_ptr: Ints
    list_items: Ints
    occurrences: Ints
    relations: Ints  # kind, source, destination

    @cached_property
    def identities(self) -> list[str]:
        """The identity of each node; also of parameters, which calls in other files name."""
        kinds, parents = (self.nodes[:, column].tolist() for column in (0, 1))
        chains: list[str] = []
        seen: dict[str, int] = {}
        found: list[str] = []
        for index, name in enumerate(self.names):
            parent = parents[index]
            chains.append(f"{chains[parent]}.{name}" if parent >= 0 else name)
            plain = f"{self.path}#{chains[index]}:{_LABELS[kinds[index]]}"
            ordinal = seen.get(plain, 0)
            seen[plain] = ordinal + 1
            found.append(f"{plain}:{ordinal}" if ordinal else plain)
        return found

    @cached_property
    def referred(self) -> frozenset[str]:
        """The other files that these facts name."""
        return frozenset(
            target.partition("#")[0]
            for target in self.targets
            if isinstance(target, str) and not target.startswith(OUTSIDE)
        )

    def plain(self) -> tuple[object, ...]:
        """Everything as values that compare."""
        arrays = (self.nodes, self.list_ptr, self.list_items, self.occurrences, self.relations)
        return (self.path, self.group, self.names, self.targets, *(array.tolist() for array in arrays))


class _Record(msgspec.Struct, array_like=True):
    path: str
    group: str
    names: tuple[str, ...]
    targets: tuple[int | str, ...]
    nodes: bytes
    list_ptr: bytes
    list_items: bytes
    occurrences: bytes
    relations: bytes


def encode(facts: FileFacts) -> bytes:
    """The facts of a file as bytes; same facts, same bytes."""
    arrays = (facts.nodes, facts.list_ptr, facts.list_items, facts.occurrences, facts.relations)
    packed = (array.astype("<i4").tobytes() for array in arrays)
    return zlib.compress(
        msgspec.msgpack.encode(_Record(facts.path, facts.group, facts.names, facts.targets, *packed)), 1
    )


def decode(data: bytes) -> FileFacts:
    """What `encode` was given."""
    try:
        record = msgspec.msgpack.decode(zlib.decompress(data), type=_Record)
    except (zlib.error, msgspec.DecodeError) as error:
        raise StateError(f"the graph's facts are damaged: {error}", hint="codenib index --rebuild") from error
    return FileFacts(
        record.path,
        record.group,
        record.names,
        _array(record.nodes).reshape(-1, NODE_FIELDS),
        record.targets,
        _array(record.list_ptr),
        _array(record.list_items),
        _array(record.occurrences).reshape(-1, OCCURRENCE_FIELDS),
        _array(record.relations).reshape(-1, 3),
    )


class Binder:
    """Reads the lines of one run of a backend, then binds targets to the nodes of the whole repository."""

    def __init__(self, group: str, read: Callable[[str], bytes], known: Iterable[FileFacts] = ()) -> None:
        """`known` are files that the run may refer to but did not analyse again."""
        self._group = group
        self._read = read
        self._wires: dict[str, WireFacts] = {}
        self._encoding = ""
        self._nodes: dict[str, Ints] = {}
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
            if len(wire.occurrences) % OCCURRENCE_FIELDS:
                raise ValueError(f"{wire.path}: an occurrence is cut off")
        except (msgspec.DecodeError, KeyError, ValueError) as error:
            raise ProviderError(f"the {self._group} backend wrote a wrong line: {error}") from error
        self._encoding = wire.encoding  # one backend, one encoding
        self._wires[wire.path] = wire
        self._nodes[wire.path] = nodes
        self._places[wire.path] = {
            (line, column): at
            for at, (line, column) in zip(
                range(len(nodes) - 1, -1, -1), nodes[::-1, 6:8].tolist(), strict=True
            )
        }

    @property
    def paths(self) -> Set[str]:
        """The files read."""
        return self._wires.keys()

    def know(self, facts: Iterable[FileFacts]) -> None:
        """More files that the run may refer to but did not analyse again."""
        self._known.update({each.path: each for each in facts})

    def bind(self) -> list[FileFacts]:
        """The facts of all files read, in path order."""
        paths = sorted(self._wires)
        for path in paths:
            for target in self._wires[path].targets:
                self._look(target)
        done = {path: self._file(self._wires[path]) for path in paths}
        self._identities = {path: facts.identities for path, facts in done.items()}
        return [self._bound(done[path], self._wires[path]) for path in paths]

    def _look(self, target: str | list[str | int]) -> None:
        """Note a declaration that its own file did not list."""
        if isinstance(target, list) and len(target) >= 3:
            path, line, column = str(target[0]), int(target[1]), int(target[2])
            if path in self._wires and (line, column) not in self._places[path]:
                self._missing.setdefault(path, set()).add((line, column))

    def _file(self, wire: WireFacts) -> FileFacts:
        """A file's own facts, with positions in code points and no targets yet."""
        text = self._read(wire.path)
        names = [str(node[0]) for node in wire.nodes]
        nodes = self._with_anchors(wire, text, names)
        found = np.array(wire.occurrences, np.int32).reshape(-1, OCCURRENCE_FIELDS)
        to_code_points(
            text, wire.encoding, (nodes, ((2, 3), (4, 5), (6, 7), (6, 8))), (found, ((0, 1), (2, 3)))
        )
        sizes = [len(one) for one in wire.lists]
        items = [item for one in wire.lists for item in one]
        kinds = {name: index for index, name in enumerate(RELATIONS)}
        relations = [(kinds[kind], source, to) for kind, source, to in wire.relations]
        return FileFacts(
            wire.path,
            self._group,
            tuple(names),
            nodes,
            (),
            np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).astype(np.int32),
            np.array(items, np.int32),
            found[np.lexsort((found[:, 3], found[:, 2], found[:, 1], found[:, 0]))],
            np.array(sorted(relations), np.int32).reshape(-1, 3),
        )

    def _with_anchors(self, wire: WireFacts, text: bytes, names: list[str]) -> Ints:
        """The file's nodes, and one for each place that others refer to and that it did not list."""
        nodes, places = self._nodes[wire.path], self._places[wire.path]
        rows = []
        for line, column in sorted(self._missing.get(wire.path, ())):
            name = _word_at(text, line, column, wire.encoding)
            places[line, column] = len(names)
            names.append(name)
            flags = NodeFlag.LOCAL | NodeFlag.ANCHOR
            rows.append(
                [NodeKind.VARIABLE, -1, line, column, line, column, line, column, column + len(name), flags]
            )
        return np.concatenate([nodes, np.array(rows, np.int32)]) if rows else nodes

    def _bound(self, facts: FileFacts, wire: WireFacts) -> FileFacts:
        targets = tuple(self._target(facts.path, target) for target in wire.targets)
        _check(facts, targets, self._group)
        return FileFacts(
            facts.path, facts.group, facts.names, facts.nodes, targets,
            facts.list_ptr, facts.list_items, facts.occurrences, facts.relations,
        )  # fmt: skip

    def _target(self, own: str, target: str | list[str | int]) -> int | str:
        if isinstance(target, str):
            return OUTSIDE + target
        path = str(target[0])
        if len(target) == 1:
            return OWN_FILE if path == own else f"{path}#"
        place = (int(target[1]), int(target[2]))
        index = self._node_at(path, place)
        if index is None:
            if path in self._known:
                self.unlisted.add(path)
            return f"{OUTSIDE}{path}"
        if path == own and len(target) == 3:
            return index
        known = self._identities.get(path)
        name = known[index] if known is not None else self._known[path].identities[index]
        return name if len(target) == 3 else f"{OUTSIDE}{target[3]} {name}"

    def _node_at(self, path: str, place: tuple[int, int]) -> int | None:
        if path not in self._places and path in self._known:
            rows = from_code_points(self._read(path), self._encoding, self._known[path].nodes[:, 6:8])
            self._places[path] = {(line, column): i for i, (line, column) in reversed([*enumerate(rows)])}
        return self._places.get(path, {}).get(place)


def node_rows(nodes: Sequence[Sequence[str | int]]) -> Ints:
    """The nodes of a line as an array."""
    rows = [[_KINDS[str(node[1])], *node[2:]] for node in nodes]
    found = np.array(rows, np.int32).reshape(len(rows), NODE_FIELDS)
    if np.any(found[:, 1] >= np.arange(len(found))):
        raise ValueError("a node stands before its parent")
    return found


def _check(facts: FileFacts, targets: Sequence[int | str], group: str) -> None:
    """A backend's numbers stay inside their tables."""
    lists, rows = len(facts.list_ptr) - 1, facts.occurrences
    inside = (
        _within(facts.list_items, 0, len(targets))
        and _within(facts.relations[:, 1:], 0, len(targets))
        and _within(rows[:, 5:8], -1, lists)
        and _within(rows[:, :4], 0, 1 << 31)
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


def _array(data: bytes) -> Ints:
    return np.frombuffer(data, "<i4").astype(np.int32, copy=False)


def summary(facts: Mapping[str, FileFacts]) -> dict[str, int]:
    """How much there is."""
    return {
        "files": len(facts),
        "nodes": sum(len(each.names) for each in facts.values()),
        "occurrences": sum(len(each.occurrences) for each in facts.values()),
    }

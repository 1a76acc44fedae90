"""A SCIP index and the files that it was made of in, lines of facts out; for any language.

A symbol's key is its first definition in the repository, or its own string when there is none. Occurrences of
several symbols at one place become one with all their keys, so no pair of place and symbol is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field

import msgspec

from codenib.core.errors import InputError
from codenib.core.facts import NodeFlag, Role, WireFacts, WireNode
from codenib.navigation.scip.symbols import descriptors, is_local, kind_of, parent_of
from codenib.navigation.scip.text import SourceLines
from codenib.navigation.scip.wire import (
    DEFINITION,
    FORWARD,
    IMPORT,
    WRITE,
    ScipDocument,
    ScipIndex,
    ScipOccurrence,
    SymbolInformation,
)
from codenib.navigation.targets import Target, TargetTable

Place = tuple[int, int, int, int]
#: Gives the bytes of a file of the repository; None when it has none by that path.
Read = Callable[[str], bytes | None]
_HINT = "make the index again from the files as they are"
_LOCAL_SUFFIXES = ("p", "[")


def lower(index: ScipIndex, read: Read, files: Collection[str] | None = None) -> Iterator[bytes]:
    """The line of each document, in path order; with `files`, of those alone.

    Raises `InputError` when the index does not fit the text: it was made of another state.
    """
    wanted = None if files is None else frozenset(files)
    documents = _joined(index, wanted)
    places = _Definitions(documents, [*(one for each in documents for one in each.symbols), *index.external])
    for document in documents:
        data = read(document.path)
        if data is None and not document.text:
            raise InputError(f"the index has {document.path}, which is not in the repository", hint=_HINT)
        text = SourceLines(document.text.encode() if data is None else data, document.encoding)
        yield msgspec.json.encode(_File(document, places, text).facts())


def _joined(index: ScipIndex, wanted: frozenset[str] | None) -> list[ScipDocument]:
    """The documents to lower, in path order; parts of one path joined."""
    found: dict[str, ScipDocument] = {}
    for document in index.documents:
        if wanted is not None and document.path not in wanted:
            continue
        if (first := found.get(document.path)) is not None:
            document = ScipDocument(
                first.path,
                first.encoding,
                first.occurrences + document.occurrences,
                first.symbols + document.symbols,
                first.text or document.text,
            )
        found[document.path] = document
    return [found[path] for path in sorted(found)]


class _Definitions:
    """Where each symbol is defined, over all documents."""

    def __init__(self, documents: Sequence[ScipDocument], about: Sequence[SymbolInformation]) -> None:
        self.about = {one.symbol: one for one in about if not is_local(one.symbol)}
        self._definitions: dict[str, list[tuple[str, Place]]] = {}
        forward: dict[str, list[tuple[str, Place]]] = {}
        for document in documents:
            for found in document.occurrences:
                if found.roles & (DEFINITION | FORWARD) and not is_local(found.symbol):
                    table = self._definitions if found.roles & DEFINITION else forward
                    table.setdefault(found.symbol, []).append((document.path, found.place))
        for symbol, rows in forward.items():
            self._definitions.setdefault(symbol, rows)
        for rows in self._definitions.values():
            rows.sort()

    def targets(self, symbol: str) -> list[Target]:
        """All definitions of a global symbol, the one that is its key first."""
        rows = self._definitions.get(symbol)
        return [_target(path, place) for path, place in rows] if rows else [symbol]


def _target(path: str, place: Place) -> Target:
    """A definition without extent stands for the file itself: so indexers spell modules."""
    return (path,) if place[:2] == place[2:] else (path, place[0], place[1])


@dataclass(slots=True)
class _Merged:
    """What stands at one place."""

    roles: int = 0
    exact: bool = False
    defs: set[int] = field(default_factory=set)
    keys: set[int] = field(default_factory=set)


class _File:
    """Builds the line of one document."""

    def __init__(self, document: ScipDocument, definitions: _Definitions, text: SourceLines) -> None:
        self._document = document
        self._definitions = definitions
        self._text = text
        self._targets = TargetTable()
        self._numbers: dict[str, list[int]] = {}  # symbol → its definitions as targets, the key first
        self._own: dict[str, list[Target]] = {}
        self._local_names: dict[str, str] = {}
        self._about = {one.symbol: one for one in document.symbols}

    def facts(self) -> WireFacts:
        document = self._document
        definitions = [found for found in document.occurrences if found.roles & (DEFINITION | FORWARD)]
        for found in definitions:
            if is_local(found.symbol):
                self._own.setdefault(found.symbol, []).append(_target(document.path, found.place))
                self._local_names.setdefault(found.symbol, self._span(found.place))
        nodes = self._nodes(definitions)
        rows = self._rows()
        relations = self._relations()
        return WireFacts(
            path=document.path,
            encoding=document.encoding,
            nodes=nodes,
            targets=self._targets.targets,
            lists=self._targets.lists,
            occurrences=rows,
            relations=relations,
        )

    def _rows(self) -> list[int]:
        merged: dict[Place, _Merged] = {}
        for found in self._document.occurrences:
            numbers = self._symbol(found.symbol)
            at = merged.setdefault(found.place, _Merged())
            at.roles |= _roles(found)
            at.exact |= self._is_exact(found)
            at.defs.update(numbers)
            at.keys.add(numbers[0])
        rows: list[int] = []
        for place, at in sorted(merged.items()):
            if not at.exact:
                at.roles |= Role.INEXACT
            if not at.roles & Role.DECLARATION and self._text.next_char(place) == "(":
                at.roles = at.roles & ~Role.TYPE | Role.CALL
            rows += (*place, at.roles, self._targets.listed(at.defs), self._targets.listed(at.keys), -1)
        return rows

    def _is_exact(self, found: ScipOccurrence) -> bool:
        """Whether what is written is the symbol's name."""
        written = self._span(found.place)
        if not (parts := descriptors(found.symbol)):
            return bool(written) and written == self._local_names.setdefault(found.symbol, written)
        name = parts[-1].name
        if parts[-1].suffix == ":":  # scip-typescript numbers the keys of object literals
            name = name.rstrip("0123456789")
        return written == name

    def _nodes(self, definitions: Sequence[ScipOccurrence]) -> list[WireNode]:
        """A node for each definition with a name, outer before inner."""
        rows = {
            (*_extent(found), found.place, found.symbol): found
            for found in definitions
            if found.place[:2] != found.place[2:]
        }
        ordered = sorted(rows, key=lambda row: (row[0], row[1], -row[2], -row[3], row[4], row[5]))
        nodes: list[WireNode] = []
        of_symbol: dict[str, int] = {}
        around: list[tuple[tuple[int, int], int]] = []  # end of each open node, its number
        taken: set[Place] = set()
        for row in ordered:
            begin, end, place, symbol = row[:2], row[2:4], row[4], row[5]
            if place in taken:  # two symbols with one name: one declaration
                of_symbol.setdefault(symbol, _node_at(nodes, place))
                continue
            taken.add(place)
            while around and around[-1][0] <= begin:
                around.pop()
            parent = of_symbol.get(parent_of(symbol), around[-1][1] if around else -1)
            of_symbol[symbol] = len(nodes)
            around.append((end, len(nodes)))
            nodes.append(self._node(rows[row], parent, (*begin, *end)))
        return nodes

    def _node(self, found: ScipOccurrence, parent: int, extent: Place) -> WireNode:
        about = self._about.get(found.symbol) or self._definitions.about.get(found.symbol)
        parts = descriptors(found.symbol)
        kind = kind_of(found.symbol, about, has_body=found.extent is not None)
        hidden = not parts or parts[-1].suffix in _LOCAL_SUFFIXES
        line, column, last, end = found.place
        if last > line:  # a name is on one line
            end = self._text.width(line)
        written = self._span((line, column, line, end)).strip("'\"`")
        name = written or (parts[-1].name if parts else "") or (about.name if about else "") or found.symbol
        first_line, first_column, end_line, end_column = extent
        return WireNode(
            name=name,
            kind=kind,
            parent=parent,
            line=first_line,
            column=first_column,
            end_line=end_line,
            end_column=end_column,
            name_line=line,
            name_column=column,
            name_end_column=end,
            flags=int(NodeFlag.LOCAL if hidden else NodeFlag.NONE),
        )

    def _relations(self) -> list[tuple[str, int, int]]:
        found: set[tuple[str, int, int]] = set()
        for one in self._document.symbols:
            if not one.relationships:
                continue
            source = self._symbol(one.symbol)[0]
            for relation in one.relationships:
                to = self._symbol(relation.symbol)[0]
                if to == source:
                    continue
                if relation.is_reference or relation.is_definition:
                    found |= {("also", source, to), ("also", to, source)}
                if relation.is_implementation:
                    parts = descriptors(one.symbol)
                    is_type = not parts or parts[-1].suffix == "#"
                    found.add(("implement" if is_type else "override", source, to))
        return sorted(found)

    def _symbol(self, symbol: str) -> list[int]:
        """The targets of a symbol's definitions, by number; the first is its key."""
        numbers = self._numbers.get(symbol)
        if numbers is None:
            if is_local(symbol):
                targets: list[Target] = self._own.get(symbol) or [f"{self._document.path}#{symbol}"]
            else:
                targets = self._definitions.targets(symbol)
            numbers = self._numbers[symbol] = [self._targets.target(target) for target in targets]
        return numbers

    def _span(self, place: Place) -> str:
        written = self._text.span(place)
        if written is None:
            where = f"{self._document.path}:{place[0] + 1}"
            raise InputError(f"the index does not fit {where}: it was made of another state", hint=_HINT)
        return written


def _roles(found: ScipOccurrence) -> int:
    parts = descriptors(found.symbol)
    roles = Role.NONE
    if found.roles & (DEFINITION | FORWARD):
        roles |= Role.DECLARATION
    elif parts and parts[-1].suffix == "#":
        roles |= Role.TYPE
    if found.roles & IMPORT:
        roles |= Role.IMPORT
    if found.roles & WRITE:
        roles |= Role.WRITE
    return int(roles)


def _extent(found: ScipOccurrence) -> Place:
    """The whole declaration; its name is always part of it."""
    place, extent = found.place, found.extent or found.place
    return (*min(place[:2], extent[:2]), *max(place[2:], extent[2:]))


def _node_at(nodes: Sequence[WireNode], place: Place) -> int:
    """The node whose name is at a place."""
    return next(at for at, node in enumerate(nodes) if (node.name_line, node.name_column) == place[:2])

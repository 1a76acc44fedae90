"""What clangd answered at the tokens of all files, and its index, in; each file's line of facts out.

`keys` are what the index lists at a token, since that is what clangd gives for files that are not open;
`asks` are what `symbolInfo` names. What the index leaves out (locals, parameters), or lists otherwise than
the file's own parse (a header that stands alone), clangd shows only to those who ask inside that file: it
gets a key of that symbol in that file.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from codenib.navigation.cpp.clangd.answers import FileAnswers, TokenAnswer
from codenib.navigation.cpp.clangd.shards import BASE_OF, OVERRIDDEN_BY, ClangdPlace
from codenib.navigation.cpp.clangd.symbols import SymbolTable, Target
from codenib.navigation.cpp.nodes import OF_INDEX, Start, TargetedPlace, nodes_of
from codenib.navigation.cpp.tokens import TokenKind

ENCODING = "utf-16"
_DECLARATION, _IMPORT, _CALL, _TYPE, _WRITE, _INHERIT, _INEXACT = 1, 2, 4, 8, 16, 32, 64
_TYPES = frozenset(("class", "interface", "enum", "type", "typeParameter", "concept"))
_ASSIGNMENTS = frozenset(["=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--"])


@dataclass(frozen=True, slots=True)
class FileSummary:
    """What other files' facts need of one file's answers."""

    path: str
    macros: tuple[tuple[str, str, ClangdPlace], ...]  # identity, name and place
    places: frozenset[tuple[ClangdPlace, int]]  # of definitions, with the end of the name
    named: tuple[tuple[str, str, ClangdPlace | None], ...]  # identity, name and where the file sees it
    size: int  # names that were asked at


def summary_of(file: FileAnswers) -> FileSummary:
    macros = {
        (asked.symbols[0], asked.token.text, asked.definitions[0][0])
        for asked in file.asked
        if len(asked.symbols) == len(asked.definitions) == 1 and file.symbols[asked.symbols[0]].is_macro
    }
    places = {
        pair for asked in file.asked if asked.token.kind is not TokenKind.HEADER for pair in asked.definitions
    }
    named = tuple((identity, each.name, each.place) for identity, each in file.symbols.items())
    return FileSummary(file.path, tuple(sorted(macros, key=repr)), frozenset(places), named, len(file.asked))


class FactAssembly:
    """All files' answers together: who refers to what decides which places need a node."""

    def __init__(self, table: SymbolTable, files: Iterable[FileSummary]) -> None:
        self.table = table
        files = list(files)
        for file in files:
            for identity, name, place in file.macros:
                table.add_macro(identity, name, place)
        table.name_all()
        #: Of each file: places that need a node, relations, and declarations of methods that override.
        self.targeted: dict[str, dict[Start, TargetedPlace]] = defaultdict(dict)
        self.relations: dict[str, set[tuple[str, Target, Target]]] = defaultdict(set)
        self.declarations: dict[str, dict[Start, list[str]]] = defaultdict(dict)
        self._relate()
        for identity, symbol in table.symbols.items():
            for home in table.places(identity):
                self._want(home, home[2] + len(symbol.name), OF_INDEX.get(symbol.kind, ""), symbol.name)
        for file in files:
            self._want_answers(file)

    def facts(self, file: FileAnswers) -> dict[str, Any]:
        """What the line of one file says."""
        nodes = nodes_of(file, self.targeted[file.path])
        table = _Table()
        self._occurrences(file, {(node.name_line, node.name_column) for node in nodes}, table)
        relations = [
            [kind, table.target(source), table.target(aim)]
            for kind, source, aim in sorted(self.relations[file.path], key=repr)
        ]
        return {"path": file.path, "encoding": ENCODING, "nodes": nodes, "targets": table.targets,
                "lists": table.lists, "occurrences": table.occurrences, "relations": relations}  # fmt: skip

    def _want(self, place: tuple[str, int, int], end_column: int, kind: str, name: str) -> None:
        path, line, column = place
        held = self.targeted[path].get((line, column))
        if (
            held is None
            or (not held.kind and kind)
            or (
                bool(held.kind) == bool(kind)
                and (name, kind, end_column) < (held.name, held.kind, held.end_column)
            )
        ):
            self.targeted[path][line, column] = TargetedPlace(end_column, kind, name)

    def _want_answers(self, file: FileSummary) -> None:
        table = self.table
        for place, end in file.places:
            found = table.locate(place)
            if found is not None:
                self._want(found, end, "", "")
        for identity, name, seen in file.named:
            home = table.locate(seen)
            if home is not None and not table.is_indexed(identity):
                self._want(home, home[2] + len(name), "", name)

    def _relate(self) -> None:
        """Relations of types and of methods. Clangd adds to the references of a method those of all that it
        overrides, and the declarations of what overrides it directly."""
        table = self.table
        bases: dict[str, set[str]] = defaultdict(set)
        for subject, kind, other in sorted(table.relations):
            source, aim = table.target(other), table.target(subject)
            if kind == BASE_OF and isinstance(source, tuple):
                self.relations[source[0]].add(("inherit", source, aim))
            elif kind == OVERRIDDEN_BY:
                bases[other].add(subject)
                if isinstance(source, tuple):
                    self.relations[source[0]].add(("override", source, aim))
                for place in table.places(other):
                    self.declarations[place[0]].setdefault(place[1:], []).append(other)
                    self.relations[place[0]].add(("also", aim, _declarations_key(table, other)))
        for identity in bases:
            source = table.target(identity)
            if isinstance(source, tuple):
                for base in _all_bases(identity, bases):
                    self.relations[source[0]].add(("also", source, table.target(base)))

    def _occurrences(self, file: FileAnswers, starts: set[Start], table: _Table) -> None:
        listed = self.table.references.get(file.path, {})
        scope = _FileScope(self.table, file, listed)
        rows = []
        for asked in file.asked:
            start = (asked.token.line, asked.token.column)
            keys = scope.keys(asked)
            keys |= {
                _declarations_key(self.table, identity)
                for identity in self.declarations[file.path].get(start, ())
            }
            asks = scope.asks(asked)
            defs = set(self._definitions(asked))
            if keys or asks or defs:
                roles = _roles(file, asked, declares=start in starts)
                same = -1 if asks == keys else table.list(asks, always=True)
                end = (asked.token.end_line, asked.token.end_column)
                rows.append((*start, *end, roles, table.list(defs), table.list(keys), same))
        known = {(asked.token.line, asked.token.column) for asked in file.asked}
        for (line, column), identities in listed.items():
            if (line, column) not in known:
                keys = {self.table.target(identity) for identity in identities}
                rows.append((line, column, line, column + 1, _INEXACT, -1, table.list(keys), -1))
        for row in sorted(rows):
            table.occurrences.extend(row)

    def _definitions(self, asked: TokenAnswer) -> Iterable[Target]:
        table = self.table
        for place, _ in asked.definitions:
            found = table.locate(place)
            if found is None:
                outside = [table.target(identity) for identity in asked.symbols]
                yield from [name for name in outside if isinstance(name, str)] or [
                    _outside(place, asked.token.text)
                ]
            elif asked.token.kind is TokenKind.HEADER:
                yield (found[0],)
            else:
                yield found


class _FileScope:
    """What tokens of one file are occurrences of, and what references asked there collects."""

    def __init__(self, table: SymbolTable, file: FileAnswers, listed: Mapping[Start, Sequence[str]]) -> None:
        self._table = table
        self._file = file
        self._listed = listed
        self._own: dict[Start, list[str]] = defaultdict(list)
        self._differ = set()
        for identity, places in file.own.items():
            for place in places:
                if identity not in listed.get(place, ()):
                    self._own[place].append(identity)
                    self._differ.add(identity)

    def keys(self, asked: TokenAnswer) -> set[Target]:
        start = (asked.token.line, asked.token.column)
        keys: set[Target] = {self._table.target(identity) for identity in self._listed.get(start, ())}
        return keys | {self._here(identity) for identity in self._own.get(start, ())}

    def asks(self, asked: TokenAnswer) -> set[Target]:
        table = self._table
        asks: set[Target] = {
            table.target(identity) for identity in asked.symbols if table.is_indexed(identity)
        }
        return asks | {self._here(identity) for identity in asked.symbols if identity in self._differ}

    def _here(self, identity: str) -> Target:
        """The key of a symbol for those who ask in this file alone."""
        named = self._file.symbols[identity]
        home = self._table.locate(named.place)
        if home is not None and home[0] == self._file.path and not self._table.is_indexed(identity):
            return home
        label = f"{named.name}#macro" if named.is_macro else f"{named.scope}{named.name}#{identity}"
        return f"in:{self._file.path}:{label}"


def _roles(file: FileAnswers, asked: TokenAnswer, *, declares: bool) -> int:
    token = asked.token
    if token.kind is TokenKind.HEADER:
        return _IMPORT | _INEXACT
    roles = _DECLARATION if declares else 0
    if token.kind is not TokenKind.NAME:
        return roles | _INEXACT
    is_type = asked.style in _TYPES
    if is_type:
        roles |= _TYPE
    if asked.follower == "(" and not declares and (asked.style in ("function", "method", "macro") or is_type):
        roles |= _CALL
    if asked.follower in _ASSIGNMENTS and not is_type:
        roles |= _WRITE
    if asked.is_base:
        roles |= _INHERIT
    names = {file.symbols[identity].name for identity in asked.symbols}
    return roles | _INEXACT if names and token.text not in names else roles


class _Table:
    """Interned targets and lists of one file."""

    def __init__(self) -> None:
        self.targets: list[Target] = []
        self.lists: list[list[int]] = []
        self.occurrences: list[int] = []
        self._of_target: dict[Target, int] = {}
        self._of_list: dict[tuple[int, ...], int] = {}

    def target(self, target: Target) -> int:
        if target not in self._of_target:
            self._of_target[target] = len(self.targets)
            self.targets.append(target)
        return self._of_target[target]

    def list(self, targets: Iterable[Target], *, always: bool = False) -> int:
        found = tuple(sorted(self.target(target) for target in sorted(targets, key=repr)))
        if not found and not always:
            return -1
        if found not in self._of_list:
            self._of_list[found] = len(self.lists)
            self.lists.append([*found])
        return self._of_list[found]


def _declarations_key(table: SymbolTable, identity: str) -> str:
    return f"declarations:{table.label(identity)}"


def _all_bases(identity: str, bases: dict[str, set[str]]) -> set[str]:
    found: set[str] = set()
    todo = [identity]
    while todo:
        for base in bases.get(todo.pop(), ()):
            if base not in found:
                found.add(base)
                todo.append(base)
    return found


def _outside(place: ClangdPlace, text: str) -> str:
    return f"{PurePosixPath(place.path).name}#{text}"

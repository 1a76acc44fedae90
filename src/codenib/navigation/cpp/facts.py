"""What clangd answered at the tokens of all files, and its index, in; each file's line of facts out.

`keys` are what the index lists at a token, since that is what clangd gives for files that are not open;
`asks` are what `symbolInfo` names. What the index leaves out (locals, parameters), or lists otherwise than
the file's own parse (a header that stands alone), clangd shows only to those who ask inside that file: it
gets a key of that symbol in that file.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from codenib.core.facts import FileScope, Role, WireFacts
from codenib.core.text.c_tokens import Token, TokenKind
from codenib.navigation.cpp.clangd.answers import FileAnswers, NamedSymbol, TokenAnswer
from codenib.navigation.cpp.clangd.chosen import TEMPLATE_CALL
from codenib.navigation.cpp.clangd.shards import BASE_OF, OVERRIDDEN_BY, ClangdPlace
from codenib.navigation.cpp.clangd.symbols import SymbolTable, Target
from codenib.navigation.cpp.includes import Includes, reachable
from codenib.navigation.cpp.nodes import OF_INDEX, Start, TargetedPlace, nodes_of
from codenib.navigation.targets import TargetTable

ENCODING = "utf-16"
_STATEMENT_LINES = 2  # between a type and what is declared with it
_OWN = "in:"  # before the key of what only its own file lists
_FUNCTION = re.compile(r"@FT?@")
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

    def __init__(self, table: SymbolTable, files: Iterable[FileSummary], includes: Includes) -> None:
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
                self._target_place(
                    home, home[2] + len(symbol.name), OF_INDEX.get(symbol.kind, ""), symbol.name
                )
        for file in files:
            self._target_answers(file)
        #: Of each file without a guard, which sources may include for what they define before: their macros.
        self.borrowed = {path: self._macros_around(path, files, includes) for path in includes.unguarded}

    def _macros_around(
        self, path: str, files: Iterable[FileSummary], includes: Includes
    ) -> dict[str, set[Target]]:
        """The macros that files define which may include `path`, by name. The index leaves them out."""
        found: dict[str, set[Target]] = defaultdict(set)
        for file in files:
            if file.path == path or not file.macros or path not in includes.closure(file.path):
                continue
            for _, name, place in file.macros:
                home = self.table.locate(place)
                if home is not None and home[0] == file.path:
                    found[name].add(home)
        return found

    def facts(self, file: FileAnswers, scope: FileScope = FileScope.PROJECT) -> WireFacts:
        """What the line of one file says."""
        nodes = nodes_of(file, self.targeted[file.path])
        targets = TargetTable()
        starts = {(node.name_line, node.name_column) for node in nodes}
        occurrences = self._occurrences(file, starts, targets)
        relations = [
            (kind, targets.target(source), targets.target(aim))
            for kind, source, aim in sorted(self.relations[file.path], key=repr)
        ]
        return WireFacts(
            path=file.path,
            encoding=ENCODING,
            nodes=nodes,
            targets=targets.targets,
            lists=targets.lists,
            occurrences=occurrences,
            relations=relations,
            scope=scope,
        )

    def _target_place(self, place: tuple[str, int, int], end_column: int, kind: str, name: str) -> None:
        path, line, column = place
        known = self.targeted[path].get((line, column))
        if (
            known is None
            or (not known.kind and kind)
            or (
                bool(known.kind) == bool(kind)
                and (name, kind, end_column) < (known.name, known.kind, known.end_column)
            )
        ):
            self.targeted[path][line, column] = TargetedPlace(end_column, kind, name)

    def _target_answers(self, file: FileSummary) -> None:
        table = self.table
        for place, end in file.places:
            found = table.locate(place)
            if found is not None:
                self._target_place(found, end, "", "")
        for identity, name, declared in file.named:
            home = table.locate(declared)
            if home is not None and not table.is_indexed(identity):
                self._target_place(home, home[2] + len(name), "", name)

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
                for base in reachable(bases[identity], bases):
                    self.relations[source[0]].add(("also", source, table.target(base)))

    def _occurrences(self, file: FileAnswers, starts: set[Start], targets: TargetTable) -> list[int]:
        listed = self.table.references.get(file.path, {})
        scope = _FileScope(self.table, file, listed, self.borrowed.get(file.path, {}))
        rows = []
        for asked in file.asked:
            start = (asked.token.line, asked.token.column)
            keys = scope.keys(asked)
            keys |= {
                _declarations_key(self.table, identity)
                for identity in self.declarations[file.path].get(start, ())
            }
            around = scope.definitions_around(asked)
            keys |= around
            asks = around or scope.asks(asked)
            defs = around or set(self._definitions(asked))
            if keys or asks or defs:
                roles = _roles(file, asked, declares=start in starts)
                if not around and (asked.guessed or scope.is_unlisted_macro(asked) or _is_own(keys)):
                    roles |= Role.GUESS
                elif not keys and all(isinstance(each, str) for each in defs):
                    roles |= Role.KEYWORD  # a namespace outside, whose uses the index does not list
                same = -1 if asks == keys else _listed(targets, asks)
                end = (asked.token.end_line, asked.token.end_column)
                rows.append((*start, *end, roles, _optional(targets, defs), _optional(targets, keys), same))
        known = {(asked.token.line, asked.token.column) for asked in file.asked}
        for (line, column), identities in listed.items():
            if (line, column) not in known:
                keys = {self.table.target(identity) for identity in identities}
                rows.append(
                    (line, column, line, column + 1, int(Role.INEXACT), -1, _optional(targets, keys), -1)
                )
        return [number for row in sorted(rows) for number in row]

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

    def __init__(
        self,
        table: SymbolTable,
        file: FileAnswers,
        listed: Mapping[Start, Sequence[str]],
        borrowed: Mapping[str, set[Target]],
    ) -> None:
        self._borrowed = borrowed
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

    def is_unlisted_macro(self, asked: TokenAnswer) -> bool:
        """Whether a macro's name stands where the index does not list it: in a macro's body, or in lines that
        are left out, where clangd takes any such name for the macro."""
        macros = [each for each in asked.symbols if self._file.symbols[each].is_macro]
        listed = self._listed.get((asked.token.line, asked.token.column), ())
        named = asked.token.kind is TokenKind.NAME and bool(macros)
        return named and len(macros) == len(asked.symbols) and not listed

    def definitions_around(self, asked: TokenAnswer) -> set[Target]:
        """What a name means that the file's own parse does not know, as whoever includes the file reads it.

        The index has that of a header that cannot be read alone, but for macros of the source that includes
        it. Of all that a macro makes at a place only what has the name that stands there.
        """
        name = asked.token.text
        if asked.token.kind is not TokenKind.NAME:
            return set()
        # A type that the parse does not know is said to be what is declared with it.
        symbols = [self._file.symbols[identity] for identity in asked.symbols]
        if any(each.name == name or not self._is_declared_by(each, asked.token) for each in symbols):
            return set()
        listed = self._listed.get((asked.token.line, asked.token.column), ())
        known = {self._table.target(each) for each in listed if self._table.name(each) == name}
        return known or (set() if asked.symbols else self._borrowed.get(name, set()))

    def _is_declared_by(self, symbol: NamedSymbol, token: Token) -> bool:
        """Whether a symbol is a local, or declared in this file just behind a token."""
        if symbol.is_local:
            return True
        home = self._table.locate(symbol.place) if symbol.place is not None else None
        return (
            home is not None
            and home[0] == self._file.path
            and (token.line, token.column) < home[1:] < (token.line + _STATEMENT_LINES, 0)
        )

    def _here(self, identity: str) -> Target:
        """The key of a symbol for those who ask in this file alone."""
        named = self._file.symbols[identity]
        home = self._table.locate(named.place)
        places = self._table.places(identity)
        if (
            self._file.path in self._table.incomplete
            and self._table.is_indexed(identity)
            and not named.is_macro
            # Another type of the same name, of this file alone, is another.
            and (home in places if home is not None else not places)
        ):
            return self._table.target(identity)
        if home is not None and home[0] == self._file.path and not self._table.is_indexed(identity):
            return home
        label = f"{named.name}#macro" if named.is_macro else f"{named.scope}{named.name}#{identity}"
        return f"{_OWN}{self._file.path}:{label}"


def _is_own(keys: Collection[Target]) -> bool:
    """Whether only the file's own parse lists a token: whoever compiles the file leaves its line out."""
    return bool(keys) and all(isinstance(key, str) and key.startswith(_OWN) for key in keys)


def _roles(file: FileAnswers, asked: TokenAnswer, *, declares: bool) -> int:
    token = asked.token
    if token.kind is TokenKind.HEADER:
        return int(Role.IMPORT | Role.INEXACT)
    roles = Role.DECLARATION if declares else Role.NONE
    if token.kind is not TokenKind.NAME:
        return int(roles | Role.INEXACT | Role.KEYWORD)  # `auto` leads to a type, and does not refer to it
    is_type = asked.style in _TYPES
    if is_type:
        roles |= Role.TYPE
    # In code that it cannot read whole, clangd says of a name where it leads and not what it is.
    callable_style = not asked.style or asked.style in ("function", "method", "macro", "unknown")
    # With arguments of a template between, what is no function may be compared: `low < x && x > (high)`.
    is_call = asked.follower == "(" and callable_style
    is_call = is_call or (asked.follower == TEMPLATE_CALL and _is_function(file, asked))
    if not declares and (is_call or (is_type and asked.follower in ("(", TEMPLATE_CALL))):
        roles |= Role.CALL
    if asked.follower in _ASSIGNMENTS and not is_type:
        roles |= Role.WRITE
    if asked.is_base:
        roles |= Role.INHERIT
    names = {file.symbols[identity].name for identity in asked.symbols}
    return int(roles | Role.INEXACT if names and token.text not in names else roles)


def _is_function(file: FileAnswers, asked: TokenAnswer) -> bool:
    """Whether a token names functions; of some in templates clangd only says where they lead."""
    if asked.style not in ("", "unknown"):
        return asked.style in ("function", "method")
    named = [file.symbols[identity] for identity in asked.symbols]
    return bool(named) and all(_FUNCTION.search(each.usr) and not each.is_local for each in named)


def _listed(table: TargetTable, targets: Iterable[Target]) -> int:
    """The number of a list; targets are numbered in an order that does not depend on that of a set."""
    return table.listed([table.target(target) for target in sorted(targets, key=repr)])


def _optional(table: TargetTable, targets: Collection[Target]) -> int:
    """The number of a list, -1 for an empty one."""
    return _listed(table, targets) if targets else -1


def _declarations_key(table: SymbolTable, identity: str) -> str:
    return f"declarations:{table.label(identity)}"


def _outside(place: ClangdPlace, text: str) -> str:
    return f"{PurePosixPath(place.path).name}#{text}"

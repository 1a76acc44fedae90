"""Edited headers and a compiled file that includes them in; its old answers at their new places out, or none.

The file itself did not change, and was indexed again. Its answers are reused where the index lists the same
symbols at the same places, no macro that the file writes changed, and nothing that it names is declared in
the edited tokens: then every name means what it meant. What the index does not list is local to the file,
except keywords such as `auto`, which have to be asked again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from codenib.core.text.c_tokens import TokenKind
from codenib.navigation.cpp.clangd.answers import Definitions, FileAnswers, NamedSymbol, TokenAnswer
from codenib.navigation.cpp.clangd.shards import ClangdPlace, Shard
from codenib.navigation.cpp.clangd.symbols import SymbolTable
from codenib.navigation.cpp.maintenance.edits import FileEdit, Macros, edit_of, words
from codenib.navigation.cpp.maintenance.index_diff import IndexDiff

Texts = Mapping[str, str]


class _CannotReuse(Exception):
    """The file's answers may differ: it has to be asked again."""


class HeaderEdits:
    """The edits of files that stayed, by full path. `before` and `after` are the texts of all files."""

    def __init__(self, root: Path, changed: Collection[str], before: Texts, after: Texts) -> None:
        self._root = root
        self.files: dict[str, FileEdit] = {}
        macros: Macros | None = None
        for path in changed:
            edit = edit_of(before[path], after[path], is_c=path.endswith(".c"))
            self.files[str(root / path)] = edit
            if edit.macros and not edit.wide:
                macros = macros or Macros([*before.values(), *(after[each] for each in changed)])
                reached = macros.reached(edit.macros)
                edit.wide = reached is None
                edit.names |= reached or set()

    def may_stand(self, included: Collection[str], text: str) -> bool:
        """Whether a file may keep its answers: by what it includes and the names that it has."""
        concern = [
            edit for path, edit in self.files.items() if path.removeprefix(f"{self._root}/") in included
        ]
        if any(edit.wide for edit in concern):
            return False
        names = set().union(*(edit.names for edit in concern))
        return not names or names.isdisjoint(words(text))

    def add_declared(self, shards: Iterable[Shard], table: SymbolTable, texts: Texts, *, new: bool) -> None:
        """Note what the edited tokens declare, by the index before or after the edit."""
        for shard in shards:
            edit = self.files.get(shard.path)
            path = table.inside(shard.path)
            if edit is None or path is None:
                continue
            touched = edit.new if new else edit.old
            for identity, place in shard.declared:
                if (place.line, place.column) in touched:
                    edit.names.add(_plain_name(table, identity))
            for symbol in shard.symbols:
                for spot in (symbol.definition, symbol.declaration):
                    if spot is not None and spot.path == shard.path and (spot.line, spot.column) in touched:
                        edit.names.add(symbol.name)
            edit.names |= _silent(touched, table.references.get(path, {}), texts[path])
            edit.names.discard("")


class AnswerReuse:
    """Carries answers over an edit."""

    def __init__(self, edits: HeaderEdits, diff: IndexDiff, old: SymbolTable, new: SymbolTable) -> None:
        self._edits = edits
        self._diff = diff
        self._old = old
        self._new = new

    def carried(self, file: FileAnswers, included: Collection[str], text: str) -> FileAnswers | None:
        """The answers of an unchanged file that includes edited ones; None when they may differ."""
        if not self._edits.may_stand(included, text):
            return None
        try:
            return _FileReuse(self._edits, self._diff, self._renamed(file), included, self._new).carry(file)
        except _CannotReuse:
            return None

    def _renamed(self, file: FileAnswers) -> dict[str, str]:
        """Which symbols have another identity: that of macros and nameless types has their place in it."""
        before, after = (side.references.get(file.path, {}) for side in (self._old, self._new))
        if before.keys() != after.keys():
            raise _CannotReuse
        found: dict[str, str] = {}
        for start, was in before.items():
            now = after[start]
            if was == now:
                continue
            gone, came = set(was) - set(now), set(now) - set(was)
            if len(gone) != len(came) or len(gone) > 1:
                raise _CannotReuse
            for one, other in zip(gone, came, strict=True):
                if found.setdefault(one, other) != other or not self._alike(file, one, other):
                    raise _CannotReuse
        if len(set(found.values())) != len(found):
            raise _CannotReuse
        return found

    def _alike(self, file: FileAnswers, one: str, other: str) -> bool:
        was, now = self._old.symbols.get(one), self._new.symbols.get(other)
        if was is None or now is None:
            named = file.symbols.get(one)
            return was is now and (named is None or named.is_macro)
        return (was.name, was.kind, was.scope) == (now.name, now.kind, now.scope)


class _FileReuse:
    """Carries one file's answers."""

    def __init__(
        self,
        edits: HeaderEdits,
        diff: IndexDiff,
        renamed: Mapping[str, str],
        included: Collection[str],
        new: SymbolTable,
    ) -> None:
        self._edits = edits
        self._diff = diff
        self._renamed = renamed
        self._included = included
        self._new = new
        self._known: dict[Definitions, Definitions] = {}

    def carry(self, file: FileAnswers) -> FileAnswers:
        symbols = {
            self._identity(identity): self._named(identity, each) for identity, each in file.symbols.items()
        }
        return replace(
            file,
            asked=[self._asked(one) for one in file.asked],
            symbols=symbols,
            own={self._identity(identity): places for identity, places in file.own.items()},
        )

    def _identity(self, identity: str) -> str:
        if identity not in self._renamed and identity in self._diff.symbols:
            raise _CannotReuse
        return self._renamed.get(identity, identity)

    def _named(self, identity: str, named: NamedSymbol) -> NamedSymbol:
        if named.place is None or named.place.path not in self._edits.files:
            return named
        if named.is_macro and identity not in self._renamed and not self._new.is_indexed(identity):
            raise _CannotReuse  # its identity has its offset in it, and nothing says which that is now
        return replace(named, place=self._place(named.place))

    def _asked(self, one: TokenAnswer) -> TokenAnswer:
        if one.token.kind is TokenKind.HEADER:
            return one
        symbols = tuple(sorted(self._renamed.get(identity, identity) for identity in one.symbols))
        definitions = self._known.get(one.definitions)
        if definitions is None:
            definitions = self._known[one.definitions] = self._places(one.definitions)
        if symbols == one.symbols and definitions is one.definitions:
            return one
        return replace(one, symbols=symbols, definitions=definitions)

    def _places(self, definitions: Definitions) -> Definitions:
        found = []
        for place, end in definitions:
            now = self._place(place)
            found.append((now, end - place.column + now.column))
        order = tuple(sorted(found, key=lambda pair: (pair[0].path, pair[0].line, pair[0].column, pair[1])))
        return definitions if order == definitions else order

    def _place(self, place: ClangdPlace) -> ClangdPlace:
        """Where a place is now: by its token where the file reads that itself, else by the index."""
        edit = self._edits.files.get(place.path)
        if edit is None:
            if place in self._diff.places:
                raise _CannotReuse
            return place
        indexed = self._diff.moved.get(place)
        if self._new.inside(place.path) not in self._included:
            if indexed is None or place in self._diff.places:
                raise _CannotReuse
            return indexed
        start = edit.now((place.line, place.column))
        if start is None:
            raise _CannotReuse
        now = ClangdPlace(place.path, *start)
        if place in self._diff.moved and indexed != now:
            raise _CannotReuse
        return now


def keywords(file: FileAnswers) -> list[TokenAnswer]:
    """The answers that depend on types alone."""
    return [one for one in file.asked if one.token.kind is TokenKind.KEYWORD]


def _silent(touched: set[tuple[int, int]], listed: Iterable[tuple[int, int]], text: str) -> set[str]:
    """Every name on edited lines where the index lists nothing: such lines may declare any of them."""
    heard = {line for line, _ in listed}
    lines = text.split("\n")
    found: set[str] = set()
    return found.union(*(words(lines[line]) for line in {line for line, _ in touched} - heard))


def _plain_name(table: SymbolTable, identity: str) -> str:
    symbol = table.symbols.get(identity)
    return symbol.name if symbol is not None else ""

"""A file's answers in, the same answers independent of the order in which files were asked out.

A place that the file's own parse cannot know comes from the index. One that the index on disk does not have
was left by a file that clangd had open earlier: the declaration that the file sees replaces it. A definition
that the index has and the answer has not was hidden by such a file. Of a symbol
with several definitions clangd gives any: the one that the file includes replaces it, else the first, but
asked at one of them it is that one.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import replace
from pathlib import Path

from codenib.core.text.c_tokens import TokenKind
from codenib.navigation.cpp.clangd.answers import Definitions, FileAnswers, TokenAnswer
from codenib.navigation.cpp.clangd.shards import ClangdPlace
from codenib.navigation.cpp.clangd.symbols import SymbolTable
from codenib.navigation.cpp.header_context import HeaderContexts
from codenib.navigation.cpp.includes import Includes


class AnswerNormalizer:
    """Normalizes answers by one state of the index, of what files include, and of what is before headers."""

    def __init__(
        self, root: Path, table: SymbolTable, includes: Includes, contexts: HeaderContexts | None
    ) -> None:
        self._root = root
        self._table = table
        self._includes = includes
        self._contexts = contexts

    def normalize(self, file: FileAnswers) -> FileAnswers:
        known: dict[tuple[Definitions, tuple[str, ...], tuple[int, int] | None], Definitions] = {}
        asked = []
        for one in file.asked:
            if one.token.kind is TokenKind.HEADER or not self._doubtful(file.path, one):
                asked.append(one)
                continue
            start = (one.token.line, one.token.column)
            # Where a symbol is declared the answer is of that place.
            here = start if start in self._table.spots.get(file.path, ()) else None
            key = (one.definitions, one.symbols, here)
            if key not in known:
                known[key] = self._places(file, one)
            asked.append(replace(one, definitions=known[key]))
        return replace(file, asked=asked)

    def agrees(
        self,
        file: FileAnswers,
        reused: Sequence[TokenAnswer],
        answers: Sequence[tuple[Definitions, tuple[str, ...]]],
    ) -> bool:
        """Whether new answers at tokens of a file equal those that are to be reused."""
        fresh = [
            replace(one, definitions=definitions, symbols=symbols)
            for one, (definitions, symbols) in zip(reused, answers, strict=True)
        ]
        if any(identity not in file.symbols for one in fresh for identity in one.symbols):
            return False
        return self.normalize(replace(file, asked=fresh)).asked == list(reused)

    def _doubtful(self, path: str, one: TokenAnswer) -> bool:
        table = self._table
        if any(identity in table.several for identity in one.symbols):
            return True
        if self._hidden_definition(one) is not None:
            return True
        for place, _ in one.definitions:
            home = table.inside(place.path)
            if home is not None and home != path and (place.line, place.column) not in table.spots[home]:
                return True
        return False

    def _hidden_definition(self, one: TokenAnswer) -> ClangdPlace | None:
        """The definition that the index has where the answer has only the declaration: its file was open."""
        if len(one.symbols) != 1 or len(one.definitions) != 1 or one.symbols[0] in self._table.several:
            return None
        symbol = self._table.symbols.get(one.symbols[0])
        if symbol is None or one.definitions[0][0] != symbol.declaration:
            return None
        is_elsewhere = self._table.locate(symbol.definition) not in (
            None,
            self._table.locate(symbol.declaration),
        )
        return symbol.definition if is_elsewhere else None

    def _places(self, file: FileAnswers, one: TokenAnswer) -> Definitions:
        table, found = self._table, set()
        own = ClangdPlace(str(self._root / file.path), one.token.line, one.token.column)
        hidden = self._hidden_definition(one)
        if hidden is not None and own != hidden:
            return ((hidden, hidden.column + len(table.symbols[one.symbols[0]].name)),)
        for place, end in one.definitions:
            home = table.inside(place.path)
            if home is None:
                found.add((place, end))
                continue
            sees = home == file.path or home in self._includes.closure(file.path)
            sees = sees or (self._contexts is not None and home in self._contexts.files_before(file.path))
            if not sees and (place.line, place.column) not in table.spots[home]:
                found.update(self._declared(file, one))
                continue
            chosen = self._chosen(file.path, one, place, sees=sees)
            found.add((chosen, end - place.column + chosen.column))
        return tuple(sorted(found, key=lambda pair: (pair[0].path, pair[0].line, pair[0].column, pair[1])))

    def _declared(self, file: FileAnswers, one: TokenAnswer) -> Definitions:
        named = [file.symbols[identity] for identity in one.symbols]
        return tuple((each.place, each.place.column + len(each.name)) for each in named if each.place)

    def _chosen(self, path: str, one: TokenAnswer, place: ClangdPlace, *, sees: bool) -> ClangdPlace:
        """Of several places of one symbol the one that the file includes, else the first.

        A type of C is known by the name of its header: each `mem.h` of zstd has the same `U32`.
        """
        own = ClangdPlace(str(self._root / path), one.token.line, one.token.column)
        for identity in one.symbols:
            definitions, declarations = self._table.several.get(identity, (frozenset(), frozenset()))
            symbol = self._table.symbols.get(identity)
            if symbol is None:
                continue
            if place in definitions and own in definitions:
                return own  # `main` of each program is its own
            included = self._included_of(path, definitions) if place in definitions else []
            if included and place not in included:
                return included[0]
            here = own in declarations or own in definitions
            if place in declarations and symbol.declaration and (here or not sees):
                return symbol.declaration
            if place in definitions and symbol.definition and not sees:
                return symbol.definition
        return place

    def _included_of(self, path: str, places: Set[ClangdPlace]) -> list[ClangdPlace]:
        """Those of some places that stand in what a file includes."""
        certain = self._includes.certain(path)
        found = [each for each in places if self._table.inside(each.path) in certain]
        return sorted(found, key=lambda each: (each.path, each.line, each.column))

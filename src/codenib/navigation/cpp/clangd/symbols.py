"""The shards of a background index in; every symbol's name in the facts and its occurrences per file out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Set
from pathlib import Path

from codenib.navigation.cpp.clangd.shards import ClangdPlace, IndexedSymbol, Shard

#: Definitions and declarations of one symbol, where there is more than one.
Several = tuple[frozenset[ClangdPlace], frozenset[ClangdPlace]]
#: A target of the facts: a declaration (path, line, column), a file (path,), or something outside by name.
Target = str | tuple[str, int, int] | tuple[str]

# Of several symbols at one place (a class and what a macro made with it) the type is the one to stand for it.
_TYPE_KINDS = frozenset(range(6, 13))


class SymbolTable:
    """All symbols of the index, and what each is called in the facts."""

    def __init__(self, root: Path, files: Collection[str]) -> None:
        self.root = root
        self._root = f"{root}/"
        self.files = frozenset(files)
        self.symbols: dict[str, IndexedSymbol] = {}
        self.references: dict[str, dict[tuple[int, int], list[str]]] = defaultdict(dict)
        self.relations: set[tuple[str, int, str]] = set()
        self._targets: dict[str, Target] = {}
        self._listed: set[str] = set()
        self._macros: dict[str, tuple[str, ClangdPlace]] = {}
        #: Where symbols of the index are declared or defined, by file.
        self.spots: dict[str, set[tuple[int, int]]] = defaultdict(set)
        #: Symbols with several definitions or declarations (`main`): clangd shows any of them.
        self.several: dict[str, Several] = {}
        #: Sources that do not compile: after a missing header the index has nothing of what templates make.
        self.incomplete: set[str] = set()

    def add_shards(self, shards: Iterable[Shard], compiled: Collection[str]) -> None:
        """`compiled` are the files that have a command, by full paths."""
        homes: dict[str, _Homes] = defaultdict(_Homes)
        for shard in shards:
            if shard.had_errors and shard.path in compiled:
                self.incomplete.update(each for each in [self.inside(shard.path)] if each is not None)
            for symbol in shard.symbols:
                known = self.symbols.get(symbol.id)
                if self._spot(symbol):
                    homes[symbol.id].add(symbol)
                if known is None or _rank(symbol) < _rank(known):
                    self.symbols[symbol.id] = symbol
            self.relations.update(shard.relations)
            for identity, found in shard.references:
                for place in found:
                    path = self.inside(place.path)
                    if path is not None:
                        self._listed.add(identity)
                        self.references[path].setdefault((place.line, place.column), []).append(identity)
        # Of system headers only what the repository names: they are most of the index.
        related = {identity for subject, _, other in self.relations for identity in (subject, other)}
        named_here = self._listed | related
        self.symbols = {
            identity: symbol
            for identity, symbol in self.symbols.items()
            if identity in named_here or self.places(identity)
        }
        choices = {identity: home.several() for identity, home in homes.items() if identity in self.symbols}
        self.several = {identity: both for identity, both in choices.items() if any(both)}

    def _spot(self, symbol: IndexedSymbol) -> bool:
        """Note where a symbol is in the repository; whether it is."""
        found = [self.locate(place) for place in (symbol.definition, symbol.declaration)]
        for place in found:
            if place is not None:
                self.spots[place[0]].add(place[1:])
        return any(found)

    def inside(self, path: str) -> str | None:
        """The path in the repository, if it is one of the files to analyse."""
        relative = path.removeprefix(self._root)
        return relative if relative in self.files else None

    def is_indexed(self, identity: str) -> bool:
        return identity in self.symbols or identity in self._listed

    def add_macro(self, identity: str, name: str, place: ClangdPlace) -> None:
        """A macro's definition, which the index does not keep."""
        if self.is_indexed(identity):
            self._macros[identity] = (name, place)

    def known(self) -> Set[str]:
        """Every symbol that has a name in the facts."""
        return self.symbols.keys() | self._macros.keys()

    def name_all(self) -> None:
        """Give every indexed symbol its target; afterwards `target` answers."""
        owners: set[Target] = set()
        for identity, (_, place) in sorted(self._macros.items()):
            home = self.locate(place)
            if home is not None and home not in owners:
                owners.add(home)
                self._targets[identity] = home
        for identity in sorted(self.symbols, key=self._precedence):
            symbol = self.symbols[identity]
            home = self.locate(symbol.definition) or self.locate(symbol.declaration)
            if home is not None and home not in owners:
                owners.add(home)
                self._targets[identity] = home

    def target(self, identity: str) -> Target:
        """An indexed symbol's home in the repository; a name for one outside or one that shares a place."""
        return self._targets.get(identity) or self.label(identity)

    def label(self, identity: str) -> str:
        if symbol := self.symbols.get(identity):
            return f"{symbol.scope}{symbol.name}#{identity}"
        # A macro's identity has its offset in it, which other versions of a header change.
        return f"{self._macros[identity][0]}#macro" if identity in self._macros else f"#{identity}"

    def name(self, identity: str) -> str:
        """What an indexed symbol is called in the source; empty where that is not known."""
        if symbol := self.symbols.get(identity):
            return symbol.name
        return self._macros[identity][0] if identity in self._macros else ""

    def places(self, identity: str) -> list[tuple[str, int, int]]:
        """Where an indexed symbol is declared and defined in the repository."""
        symbol = self.symbols.get(identity)
        if symbol is None:
            return []
        found = (self.locate(place) for place in (symbol.definition, symbol.declaration))
        return sorted({place for place in found if place is not None})

    def locate(self, place: ClangdPlace | None) -> tuple[str, int, int] | None:
        path = None if place is None else self.inside(place.path)
        return None if place is None or path is None else (path, place.line, place.column)

    def place_of(self, target: tuple[str, int, int]) -> ClangdPlace:
        """What `locate` made a target of."""
        return ClangdPlace(f"{self._root}{target[0]}", target[1], target[2])

    def _precedence(self, identity: str) -> tuple[bool, str]:
        return self.symbols[identity].kind not in _TYPE_KINDS, identity


class _Homes:
    """The places of one symbol as several shards have them."""

    def __init__(self) -> None:
        self._definitions: set[ClangdPlace] = set()
        self._declarations: set[ClangdPlace] = set()
        self._loose: set[ClangdPlace] = set()

    def add(self, symbol: IndexedSymbol) -> None:
        if symbol.definition is not None:
            self._definitions.add(symbol.definition)
            if symbol.declaration is not None:
                self._declarations.add(symbol.declaration)
        elif symbol.declaration is not None:
            self._loose.add(symbol.declaration)

    def several(self) -> Several:
        """Definitions and declarations between which there is a choice; who saw a definition is preferred."""
        declared = self._declarations if self._definitions else self._loose
        return (
            frozenset(self._definitions if len(self._definitions) > 1 else ()),
            frozenset(declared if len(declared) > 1 else ()),
        )


def _rank(symbol: IndexedSymbol) -> tuple[bool, str, int, int, str]:
    """A symbol of several shards: one with a definition first, then by place, in whatever order they come."""
    place = symbol.definition or symbol.declaration or ClangdPlace("", 0, 0)
    declared = symbol.declaration or ClangdPlace("", 0, 0)
    return (
        symbol.definition is None,
        place.path,
        place.line,
        place.column,
        f"{declared.path}:{declared.line:08}",
    )

"""The shards of a background index in; every symbol's name in the facts and its occurrences per file out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from pathlib import Path

from codenib.navigation.backends.clangd_index import IndexedSymbol, Place, Shard

#: A target of the facts: a declaration (path, line, column), a file (path,), or something outside by name.
Target = str | tuple[str, int, int] | tuple[str]

# Of several symbols at one place (a class and what a macro made with it) the type is the one to stand for it.
_TYPE_KINDS = frozenset(range(6, 13))


class Universe:
    """All symbols of the index, and what each is called in the facts."""

    def __init__(self, root: Path, files: Collection[str]) -> None:
        self._root = f"{root}/"
        self._files = frozenset(files)
        self.symbols: dict[str, IndexedSymbol] = {}
        self.references: dict[str, dict[tuple[int, int], list[str]]] = defaultdict(dict)
        self.relations: set[tuple[str, int, str]] = set()
        self._targets: dict[str, Target] = {}
        self._listed: set[str] = set()
        self._macros: dict[str, tuple[str, Place]] = {}

    def add_shards(self, shards: Iterable[Shard]) -> None:
        for shard in shards:
            for symbol in shard.symbols:
                held = self.symbols.get(symbol.id)
                if held is None or _rank(symbol) < _rank(held):
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
        kept = self._listed | related
        self.symbols = {
            identity: symbol
            for identity, symbol in self.symbols.items()
            if identity in kept or self.places(identity)
        }

    def inside(self, path: str) -> str | None:
        """The path in the repository, if it is one of the files to analyse."""
        relative = path.removeprefix(self._root)
        return relative if relative in self._files else None

    def is_indexed(self, identity: str) -> bool:
        return identity in self.symbols or identity in self._listed

    def add_macro(self, identity: str, name: str, place: Place) -> None:
        """A macro's definition, which the index does not keep."""
        if self.is_indexed(identity):
            self._macros[identity] = (name, place)

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

    def places(self, identity: str) -> list[tuple[str, int, int]]:
        """Where an indexed symbol is declared and defined in the repository."""
        symbol = self.symbols.get(identity)
        if symbol is None:
            return []
        found = (self.locate(place) for place in (symbol.definition, symbol.declaration))
        return sorted({place for place in found if place is not None})

    def locate(self, place: Place | None) -> tuple[str, int, int] | None:
        path = None if place is None else self.inside(place.path)
        return None if place is None or path is None else (path, place.line, place.column)

    def _precedence(self, identity: str) -> tuple[bool, str]:
        return self.symbols[identity].kind not in _TYPE_KINDS, identity


def _rank(symbol: IndexedSymbol) -> tuple[bool, str, int, int, str]:
    """A symbol of several shards: one with a definition first, then by place, in whatever order they come."""
    place = symbol.definition or symbol.declaration or Place("", 0, 0)
    declared = symbol.declaration or Place("", 0, 0)
    return (
        symbol.definition is None,
        place.path,
        place.line,
        place.column,
        f"{declared.path}:{declared.line:08}",
    )

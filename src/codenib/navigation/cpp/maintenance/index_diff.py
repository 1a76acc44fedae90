"""Two states of the index and the answers before an edit in; whose answers may differ after it out.

Files that include nothing of the edit are parsed as before. Only the places that they got from the index may
differ. A place that shifted inside an edited file is updated by its symbol's identity; after any other change
the file is asked again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from codenib.core.facts import WireNode
from codenib.navigation.cpp.clangd.answers import FileAnswers, TokenAnswer
from codenib.navigation.cpp.clangd.shards import ClangdPlace, IndexedSymbol
from codenib.navigation.cpp.clangd.symbols import SymbolTable, Target
from codenib.navigation.cpp.facts import FileSummary


class IndexDiff:
    """How the index differs. `edited` are the full paths of the files that changed, came or went."""

    def __init__(self, old: SymbolTable, new: SymbolTable, edited: Collection[str]) -> None:
        self._old = old
        self._edited = edited
        #: Where symbols of edited files are now; None where that is not one place.
        self.moved: dict[ClangdPlace, ClangdPlace | None] = {}
        self.symbols: set[str] = set()
        for identity in old.symbols.keys() | new.symbols.keys():
            if not self._same(old.symbols.get(identity), new.symbols.get(identity)):
                self.symbols.add(identity)
        for identity in old.several.keys() | new.several.keys():
            before = old.several.get(identity, (frozenset(), frozenset()))
            now = [frozenset(map(self._now, places)) for places in before]
            if now != list(new.several.get(identity, (frozenset(), frozenset()))):
                self.symbols.add(identity)
        #: Where symbols that differ were.
        self.places = {
            place
            for identity in self.symbols
            if (symbol := old.symbols.get(identity)) is not None
            for place in (symbol.definition, symbol.declaration)
            if place is not None
        }

    def concerns(self, file: FileSummary) -> bool:
        """Whether a file that includes nothing of the edit may be answered otherwise."""
        if any(identity in self.symbols for identity, _, _ in file.named):
            return True
        return any(place in self.places or self._now(place) is None for place, _ in file.places)

    def carried(self, file: FileAnswers, summary: FileSummary) -> FileAnswers:
        """The answers of a file that nothing concerns, with the places of today."""
        if not any(place.path in self._edited for place, _ in summary.places):
            return file
        return replace(file, asked=[self._carry(one) for one in file.asked])

    def target(self, target: Target) -> Target | None:
        """Where a target of old facts is today; None when that is not known."""
        if len(target) != 3 or isinstance(target, str):
            return target
        place = self._old.place_of(target)
        now = self._now(place)
        return None if now is None else (target[0], now.line, now.column)

    def _carry(self, one: TokenAnswer) -> TokenAnswer:
        if not any(place.path in self._edited for place, _ in one.definitions):
            return one
        found = []
        for place, end in one.definitions:
            now = self._now(place) or place
            found.append((now, end - place.column + now.column))
        order = sorted(found, key=lambda pair: (pair[0].path, pair[0].line, pair[0].column, pair[1]))
        return replace(one, definitions=tuple(order))

    def _now(self, place: ClangdPlace) -> ClangdPlace | None:
        return self.moved.get(place) if place.path in self._edited else place

    def _same(self, old: IndexedSymbol | None, new: IndexedSymbol | None) -> bool:
        """Whether a symbol is what it was, but for lines of edited files."""
        if old is None or new is None:
            return False
        if (old.name, old.scope, old.kind) != (new.name, new.scope, new.kind):
            return False
        for before, now in ((old.definition, new.definition), (old.declaration, new.declaration)):
            if before is None or now is None:
                if before is not now:
                    return False
                continue
            if before.path != now.path or (before != now and before.path not in self._edited):
                return False
            if before.path in self._edited:
                earlier = self.moved.setdefault(before, now)
                if earlier != now:
                    self.moved[before] = None
        return True


def differing_files(old: SymbolTable, new: SymbolTable, files: Iterable[str]) -> set[str]:
    """The files of which the index lists other occurrences."""
    return {path for path in files if old.references.get(path, {}) != new.references.get(path, {})}


def identities_of(nodes: Iterable[WireNode]) -> dict[tuple[int, int], str]:
    """What each declaration of a file is called by others, by the place of its name."""
    found: dict[tuple[int, int], str] = {}
    chains: list[str] = []
    ordinals: dict[str, int] = {}
    for node in nodes:
        chains.append(f"{chains[node.parent]}.{node.name}" if node.parent >= 0 else node.name)
        plain = f"{chains[-1]}:{node.kind}"
        ordinal = ordinals.get(plain, 0)
        ordinals[plain] = ordinal + 1
        found.setdefault((node.name_line, node.name_column), f"{plain}:{ordinal}")
    return found

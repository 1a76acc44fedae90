"""Answers of navigation and of the graph. Each says who answered, for which snapshot, and how completely."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Literal

from codenib.core.answers import ItemSequence, Readable, SnapshotRef
from codenib.core.navigation import Granularity, Location, Meaning, Position

Provider = Literal["static", "live", "syntactic"]
#: `partial`: an engine did not resolve some files of the language group; `unknown`: nobody resolved any.
Completeness = Literal["all", "limited", "partial", "unknown"]


@dataclass(frozen=True, slots=True, repr=False)
class NavigationAnswer(ItemSequence[Location]):
    """Places in the repository, in order of path, line and column; a sequence of them.

    A definition that was asked for by name has `meanings`: what each place declares. Then the best is first.

    `total` counts all of them, also those past the limit; `outside` what the question means outside the
    repository. `provider` and `backend` say who answered: `syntactic` answers go by names alone and are never
    resolved. `granularity` is `enclosing` when nothing is known at the very position. `behind` are files that
    changed since the graph that answered: lines that changed there were looked through by name.
    """

    locations: tuple[Location, ...]
    snapshot: SnapshotRef
    provider: Provider
    backend: str
    granularity: Granularity
    completeness: Completeness
    total: int
    outside: int
    asked: str
    position: Position
    seconds: float
    refreshed: str = ""
    note: str = ""  # why this provider, when another was the first choice
    meanings: tuple[Meaning, ...] = ()
    unresolved: int = 0  # files of the language group that no engine resolved
    behind: tuple[str, ...] = ()

    @property
    def items(self) -> tuple[Location, ...]:
        return self.locations


@dataclass(frozen=True, slots=True)
class Symbol(Readable):
    """A declaration, a file or a folder of the graph."""

    id: int
    name: str
    qualified: str
    kind: str
    path: str
    line: int
    end_line: int
    group: str = ""
    importance: float = 0.0
    depth: int = 0
    scope: str = ""  # how its file was read

    @property
    def span(self) -> tuple[str, int, int]:
        return self.path, self.line, self.end_line

    def __str__(self) -> str:
        return f"{self.path}:{self.line} {self.qualified}"


@dataclass(frozen=True, slots=True)
class SymbolEdge:
    """A use of one symbol by another, with its first place."""

    source: int
    to: int
    kind: str
    path: str
    line: int
    often: int


@dataclass(frozen=True, slots=True, repr=False)
class GraphAnswer(ItemSequence[Symbol]):
    """Symbols and the edges between them, from one snapshot; `depth` of a symbol counts steps from the asked.

    `backends` names who resolved each language group. A group that is missing there is known by names alone.
    `behind` are files that changed since the graph that answered.
    """

    symbols: tuple[Symbol, ...]
    edges: tuple[SymbolEdge, ...]
    snapshot: SnapshotRef
    total: int
    truncated: bool
    seconds: float
    asked: str = ""
    backends: Mapping[str, str] = field(default_factory=dict)
    refreshed: str = ""
    note: str = ""
    unresolved: int = 0  # files of the asked symbol's language group that no engine resolved
    behind: tuple[str, ...] = ()
    unknown: int = 0  # places that may be uses: code has the name there, or what the asked one overrides

    @property
    def completeness(self) -> Completeness:
        """`unknown` where nobody resolved uses here: then no symbols does not mean that there are none."""
        group = self.symbols[0].group if self.symbols else ""
        if not self.backends or (group and group not in self.backends):
            return "unknown"
        if self.unresolved or self.behind or self.unknown:
            return "partial"
        return "limited" if self.truncated else "all"

    @property
    def starts(self) -> tuple[Symbol, ...]:
        """The symbols that were asked for: several where a name means several."""
        return tuple(takewhile(lambda each: not each.depth, self.symbols))

    @property
    def items(self) -> tuple[Symbol, ...]:
        return self.symbols


#: What a change reaches: what depends on it, test code that reaches it, files that change with its files.
Consequence = Literal["dependent", "test", "companion"]


@dataclass(frozen=True, slots=True)
class Affected(Readable):
    """One consequence of a change. `of` is the changed declaration or file, `why` says how it is known.

    `depth` counts steps in the graph; a companion has none.
    """

    relation: Consequence
    path: str
    line: int
    end_line: int
    symbol: str
    kind: str
    of: str
    why: str = ""
    depth: int = 0

    @property
    def span(self) -> tuple[str, int, int]:
        return self.path, self.line, self.end_line

    def __str__(self) -> str:
        return f"{self.path}:{self.line} {self.symbol or self.kind} ({self.relation})"


@dataclass(frozen=True, slots=True)
class ImpactPart:
    """Who answered for one kind of consequence, and how completely; `total` counts all that are known."""

    relation: Consequence
    provider: str
    completeness: Completeness
    total: int
    note: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class ImpactAnswer(ItemSequence[Affected]):
    """What a change may reach: `changed` is what it is taken for, `parts` say what is known of each kind.

    An empty kind means that there is none only where its part is `all`; `unknown` is unknown.
    """

    items: tuple[Affected, ...]
    changed: tuple[Symbol, ...]
    parts: tuple[ImpactPart, ...]
    snapshot: SnapshotRef
    seconds: float
    refreshed: str = ""
    note: str = ""

    @property
    def total(self) -> int:
        return sum(part.total for part in self.parts)

    @property
    def truncated(self) -> bool:
        return self.total > len(self.items)

    def of_kind(self, relation: Consequence) -> tuple[Affected, ...]:
        """The listed consequences of one kind."""
        return tuple(item for item in self.items if item.relation == relation)

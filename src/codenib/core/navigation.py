"""Values of navigation: where a person asks, and what a definition or reference request returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from codenib.core.answers import Readable

Granularity = Literal["occurrence", "enclosing", "name"]


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A place in a file: line 1-based, column 0-based in code points."""

    path: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True, order=True)
class Location(Readable):
    """A range of a file: lines 1-based, columns 0-based in code points, the end exclusive.

    `scope` says how its file was read (`FileScope`) or that its name alone is known; a server's has none.
    In a notebook, `cell` is the number of its cell and of the line in that, both 1-based.
    """

    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    scope: str = field(default="", compare=False)
    cell: tuple[int, int] | None = field(default=None, compare=False)

    @property
    def span(self) -> tuple[str, int, int]:
        return self.path, self.line, self.end_line

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Meaning(Readable):
    """What a name may mean: a declaration. `place` is where its name stands, `text` is its source."""

    place: Location
    symbol: str
    kind: str
    signature: str
    start_line: int
    end_line: int
    marks: tuple[str, ...] = ()

    @property
    def span(self) -> tuple[str, int, int]:
        return self.place.path, self.start_line, self.end_line

    def __str__(self) -> str:
        marks = "".join(f", {mark}" for mark in self.marks)
        where = f"{self.place.path}:{self.place.line}:{self.place.column + 1}"
        return f"{where}  {self.kind}{marks}  {self.signature}"


@dataclass(frozen=True, slots=True)
class SortedLocations:
    """Sorted locations in the repository, how many there are in all, and how many targets are outside it."""

    locations: tuple[Location, ...]
    total: int
    outside: int
    granularity: Granularity
    asked: str  # the name that was asked for

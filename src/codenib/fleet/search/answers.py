"""What a question to many repositories returns: places with their repositories, and whom was asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from codenib.core.answers import Evidence, ItemSequence, LineMatch, NotebookItem, Readable, SnapshotRef
from codenib.core.symbols import Symbol


@dataclass(frozen=True, slots=True)
class AskedRepository:
    """A repository that was asked, and which state of it answered.

    `behind` says whether the repository has a newer commit than the state that answered; None: not known.
    `relevance` is what its summary was worth to the query, `best` the score of its best result.
    """

    name: str
    snapshot: SnapshotRef
    behind: bool | None
    relevance: float = 0.0
    best: float = 0.0
    results: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class FleetCoverage:
    """Which of the repositories in question were asked, and which were not and why.

    `repositories` counts all that the caller may ask and named. `unlikely` were not opened, as others fit
    better by their summaries; `next_likely` are the first of them. `excluded` cannot have a result: their
    filters say so. `unavailable` could not be asked, each with its reason: what they hold is not known.
    """

    repositories: int
    asked: tuple[AskedRepository, ...]
    unlikely: int = 0
    next_likely: tuple[str, ...] = ()
    excluded: int = 0
    unavailable: Mapping[str, str] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """Whether every repository was asked, or cannot have a result."""
        return not self.unlikely and not self.unavailable


@dataclass(frozen=True, slots=True)
class FleetEvidence(Readable):
    """A ranked place of one repository. `score` is how likely that is the repository that was meant, by the
    statistics of all in question, less for each further place of it.
    """

    repository: str
    place: Evidence
    score: float

    @property
    def path(self) -> str:
        return self.place.path

    @property
    def span(self) -> tuple[str, int, int]:
        return self.place.span

    @property
    def text(self) -> str:
        """The source of the place, from the snapshot that answered."""
        return self.place.text

    def __str__(self) -> str:
        return f"{self.repository}/{self.place}"


@dataclass(frozen=True, slots=True, repr=False)
class FleetAnswer(ItemSequence[FleetEvidence]):
    """Ranked places of several repositories. `total` counts every match in those that were asked."""

    items: tuple[FleetEvidence, ...]
    total: int
    truncated: bool
    coverage: FleetCoverage
    seconds: float
    note: str = ""


@dataclass(frozen=True, slots=True)
class FleetLine(NotebookItem):
    """A matching line of one repository."""

    repository: str
    match: LineMatch

    def __str__(self) -> str:
        return f"{self.repository}/{self.match}"


@dataclass(frozen=True, slots=True, repr=False)
class FleetLines(ItemSequence[FleetLine]):
    """Matching lines by repository and path.

    `complete` says that these are all, and `total` their number: every repository was searched, or its filter
    excludes a match. Otherwise `total` is a lower bound, and `coverage` and `note` say what is missing.
    """

    items: tuple[FleetLine, ...]
    total: int
    files: int
    truncated: bool
    complete: bool
    coverage: FleetCoverage
    seconds: float
    note: str = ""


@dataclass(frozen=True, slots=True)
class FleetSymbol(NotebookItem):
    """A declaration in one repository. `package` is what exports it there, where a manifest tells."""

    repository: str
    symbol: Symbol
    package: str = ""

    def __str__(self) -> str:
        return f"{self.repository}/{self.symbol}"


@dataclass(frozen=True, slots=True, repr=False)
class FleetSymbols(ItemSequence[FleetSymbol]):
    """Declarations of several repositories; `total` counts all in those that were asked."""

    items: tuple[FleetSymbol, ...]
    total: int
    truncated: bool
    coverage: FleetCoverage
    seconds: float
    note: str = ""

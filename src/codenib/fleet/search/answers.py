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
    `relevance` is how likely its summary made it, against the likeliest; `best` the score of its best result;
    `likelihood` how likely both make it among those that were asked. `called` is the name of it that the
    query says, if any, and `words` those of the query that spoke most for it.
    """

    name: str
    snapshot: SnapshotRef
    behind: bool | None
    relevance: float = 0.0
    likelihood: float = 0.0
    called: str = ""
    words: tuple[str, ...] = ()
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


@dataclass(frozen=True, slots=True)
class RequiredVersion:
    """What a file of one repository asks for of a package, against what its exporter's manifest states.

    `fits` is None where that is not known. `tags` are the newest of the exporter's clone whose versions fit,
    `fitting` how many do; None: the tags could not be read.
    """

    repository: str
    manifest: str
    package: str
    wanted: str
    locked: bool
    exporter: str
    stated: str
    fits: bool | None
    tags: tuple[str, ...] = ()
    fitting: int | None = None

    def __str__(self) -> str:
        how = "is locked to" if self.locked else "asks for"
        asked = f"{self.repository} {how} {self.package} {self.wanted or 'of any version'} ({self.manifest})"
        states = (
            f"{self.exporter} states {self.stated}" if self.stated else f"{self.exporter} states no version"
        )
        judged = {True: "which fits", False: "which does not fit", None: "and whether that fits is not known"}
        said = f"{asked}; {states}, {judged[self.fits]}"
        if self.fits or self.fitting is None:
            return said
        more = f" and {self.fitting - len(self.tags):,} more" if self.fitting > len(self.tags) else ""
        return (
            f"{said}; tags that fit: {', '.join(self.tags)}{more}"
            if self.tags
            else f"{said}; no tag of a release fits"
        )


@dataclass(frozen=True, slots=True, repr=False)
class FleetSymbols(ItemSequence[FleetSymbol]):
    """Declarations of several repositories; `total` counts all in those that were asked.

    `required` is which versions of their packages the repository that wants to know asks for.
    """

    items: tuple[FleetSymbol, ...]
    total: int
    truncated: bool
    coverage: FleetCoverage
    seconds: float
    note: str = ""
    required: tuple[RequiredVersion, ...] = ()

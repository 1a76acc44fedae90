"""Values of the query side: plans, evidence and answers. Each answer says what it answers for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from codenib.core.listing import Listing, Readable


class Route(StrEnum):
    """The paper's physical routes A to D."""

    LEXICAL = "lexical"
    SEMANTIC = "semantic"
    HYBRID = "hybrid"
    STRUCTURAL = "structural"

    @property
    def letter(self) -> str:
        """The paper's name of the route."""
        return "ABCD"[list(Route).index(self)]


@dataclass(frozen=True, slots=True)
class Plan:
    """What a ranked query lowers to: route, width, reranker, expansion; and why.

    `fusion` says how a hybrid plan makes one order of what the views say: `weighted` scores, reciprocal ranks
    (`rrf`) or the `learned` model. `estimate_ms` is what the plan is expected to cost here.
    """

    route: Route
    k_retrieve: int
    reason: str
    k_rerank: int = 0
    reranker: str | None = None
    expansion: str | None = None
    fusion: str = ""
    budget: str = ""
    estimate_ms: float | None = None


@dataclass(frozen=True, slots=True)
class PlanStep:
    """One operator of a plan: what it does, and how many milliseconds that should take."""

    operator: str
    words: str
    expected_ms: float
    measured: bool  # on this repository; else assumed


@dataclass(frozen=True, slots=True)
class SnapshotRef:
    """Which state of the repository an answer is for.

    `stale` is true when the caller asked not to refresh and the worktree may have moved on since.
    """

    id: str
    commit: str | None
    dirty: bool
    stale: bool = False


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of the snapshot an answer looked at: files of the view, and those left out by reason."""

    files: int
    skipped: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Evidence(Readable):
    """One ranked, source-linked result. Lines are 1-based and inclusive; `text` is its source."""

    path: str
    start_line: int
    end_line: int
    symbol: str
    kind: str
    level: str
    language: str
    score: float
    marks: tuple[str, ...] = ()
    matched: tuple[str, ...] = ()
    further: int = 0  # more units of this file match as well, and were left out for other files

    @property
    def span(self) -> tuple[str, int, int]:
        return self.path, self.start_line, self.end_line

    def __str__(self) -> str:
        return f"{self.path}:{self.start_line}-{self.end_line} {self.symbol or self.kind}"


@dataclass(frozen=True, slots=True, repr=False)
class Answer(Listing[Evidence]):
    """Ranked evidence from one snapshot, as a sequence. `total` counts every match, also past the limit."""

    items: tuple[Evidence, ...]
    snapshot: SnapshotRef
    plan: Plan
    total: int
    truncated: bool
    coverage: Coverage
    seconds: float
    refreshed: str = ""  # what was done to make the views fresh, for people


@dataclass(frozen=True, slots=True)
class LineMatch:
    """A matching line. Lines are 1-based, columns 0-based in code points of `text`, ends exclusive.

    `column` and `end_column` are those of the first match in the line; `spans` holds every match. Line texts
    are without their newline; a carriage return stays.
    """

    path: str
    line: int
    column: int
    end_column: int
    text: str
    spans: tuple[tuple[int, int], ...]
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"


@dataclass(frozen=True, slots=True, repr=False)
class RegexAnswer(Listing[LineMatch]):
    """Matching lines from one snapshot, in path order.

    `complete` is false after a time-out, and then `total` is a lower bound; `scanned_all` says that the
    pattern has no part that the trigram filter could use; `provider` names the engine.
    """

    items: tuple[LineMatch, ...]
    snapshot: SnapshotRef
    total: int
    files: int
    truncated: bool
    complete: bool
    scanned_all: bool
    candidates: int
    provider: str
    reason: str
    coverage: Coverage
    seconds: float
    refreshed: str = ""


@dataclass(frozen=True, slots=True)
class Passage:
    """Lines of one file of one snapshot."""

    path: str
    start_line: int
    end_line: int
    lines: int
    language: str
    text: str
    snapshot: SnapshotRef = field(default_factory=lambda: SnapshotRef("", None, False))

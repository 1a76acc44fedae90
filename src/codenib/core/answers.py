"""Values of the query side: plans, evidence and answers. Each answer says what it answers for.

An answer is a sequence of its items, with a short text and a table for notebooks; places know their source.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar, overload

from codenib.core.errors import StateError

Item = TypeVar("Item")

_IN_REPR = 5  # items that a repr names
_IN_TABLE = 20  # items that a notebook shows
_LINES = 12  # lines of each


class SourceOf(Protocol):
    """The files of one snapshot."""

    def lines(self, path: str, first: int, last: int) -> str:
        """Lines of a file, 1-based and inclusive."""


class NotebookItem:
    """An item that shows itself with its text in a notebook."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return _cell(self)


class Readable(NotebookItem):
    """A place of an answer, whose `text` is read when it is asked for, from the snapshot that answered."""

    __slots__ = ("_source",)

    @property
    def span(self) -> tuple[str, int, int]:
        """Its path, first and last line."""
        raise NotImplementedError

    @property
    def text(self) -> str:
        """The source of the place."""
        source: SourceOf | None = getattr(self, "_source", None)
        if source is None:
            raise StateError(f"{self.span[0]}: a place without its answer", hint="ask the workspace again")
        return source.lines(*self.span)

    def read_from(self, source: SourceOf) -> None:
        """Take `source` as where the text comes from: for who answers, before the answer is handed out."""
        object.__setattr__(self, "_source", source)


class ItemSequence(Generic[Item]):
    """What has `items`, best or first ones first, of `total`; as a sequence of them."""

    __slots__ = ()

    if TYPE_CHECKING:  # a property of a base class would be the default of a dataclass's field

        @property
        def items(self) -> tuple[Item, ...]: ...

    def __iter__(self) -> Iterator[Item]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def __bool__(self) -> bool:
        return bool(self.items)

    @overload
    def __getitem__(self, at: int) -> Item: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Item, ...]: ...
    def __getitem__(self, at: int | slice) -> Item | tuple[Item, ...]:
        return self.items[at]

    def __repr__(self) -> str:
        more = len(self.items) - _IN_REPR
        rows = [f"  {item}" for item in self.items[:_IN_REPR]]
        return "\n".join([f"<{self._head()}>", *rows, *([f"  … and {more} more"] if more > 0 else [])])

    def _repr_html_(self) -> str:
        """A table of the first items with their source, for notebooks. All text is escaped."""
        from html import escape

        rows = "".join(f"<tr><td>{_cell(item)}</td></tr>" for item in self.items[:_IN_TABLE])
        more = len(self.items) - _IN_TABLE
        rest = f"<p>… and {more} more</p>" if more > 0 else ""
        return f"<p><b>{escape(self._head())}</b></p><table>{rows}</table>{rest}"

    def _head(self) -> str:
        total = getattr(self, "total", len(self.items))
        snapshot = getattr(self, "snapshot", None)
        state = f", {(snapshot.commit or snapshot.id)[:7]}{'+edits' * snapshot.dirty}" if snapshot else ""
        return f"{type(self).__name__}: {len(self.items):,} of {total:,}{state}"


def _cell(item: object) -> str:
    from html import escape  # in notebooks alone

    title = f"<code>{escape(str(item))}</code>"
    try:
        text = getattr(item, "text", "")
    except StateError:
        text = ""
    lines = text.split("\n")
    more = f"\n… {len(lines) - _LINES} more lines" if len(lines) > _LINES else ""
    code = escape("\n".join(lines[:_LINES]) + more)
    style = "text-align:left;white-space:pre"
    return f'{title}<pre style="{style}">{code}</pre>' if text.strip() else title


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
    (`rrf`) or the `learned` model. `estimate_ms` is what the plan is expected to cost here. `model` names the
    policy that chose the route, with its version, `decided_by` the two signals that decided; both are empty
    where the rules chose.
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
    model: str = ""
    decided_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PlanStep:
    """One operator of a plan: what it does, and how many milliseconds that should take."""

    operator: str
    words: str
    expected_ms: float
    measured: bool  # on this repository; else assumed


@dataclass(frozen=True, slots=True)
class MeasuredStep:
    """One step of an answer: when it began and how long it took. A step may lie inside of another."""

    operator: str
    start_ms: float
    ms: float


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a result stands where it does: the BM25 points of each word, and its place in each order.

    `places` are by order: `words`, `meaning`, then what the plan makes of them (`weighted`, `rrf`, `learned`,
    `graph`), and `answer`, its place here. None: not among the first of that order. A result that the
    question names comes first whatever the orders say.
    """

    words: Mapping[str, float]
    places: Mapping[str, int | None]


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

    @property
    def not_searched(self) -> str:
        """What was left out, in words; empty when nothing was. An empty answer says it.

        >>> Coverage(9, {"binary": 3, "huge": 1}).not_searched
        '3 binary files, 1 file over 10 MB'
        """
        return ", ".join(_files_left_out(count, reason) for reason, count in sorted(self.skipped.items()))


# Reasons that do not read as what the files are.
_LEFT_OUT = {
    "binary": "binary file",
    "huge": "file over 10 MB",
    "long line": "file with a line over 10,000 characters",
    "minified": "minified file",
    "symbolic link": "symbolic link",
    "submodule": "submodule",
    "secrets file": "secrets file",
    "ignored by .codenibignore": "file ignored by .codenibignore",
    "left out by codenib.toml": "file left out by codenib.toml",
}


def _files_left_out(count: int, reason: str) -> str:
    name = _LEFT_OUT.get(reason, f"file skipped: {reason}")
    if count != 1:
        name = name.replace("file", "files", 1) if "file" in name else f"{name}s"
    return f"{count:,} {name}"


@dataclass(frozen=True, slots=True)
class Evidence(Readable):
    """One ranked, source-linked result. Lines are 1-based and inclusive."""

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
class Answer(ItemSequence[Evidence]):
    """Ranked evidence from one snapshot, as a sequence. `total` counts every match, also past the limit.

    `without` names the views that this worktree has and the answer could not use; `note` says why, and what
    helps.
    """

    items: tuple[Evidence, ...]
    snapshot: SnapshotRef
    plan: Plan
    total: int
    truncated: bool
    coverage: Coverage
    seconds: float
    refreshed: str = ""  # what was done to make the views fresh, for people
    note: str = ""
    without: tuple[str, ...] = ()
    steps: tuple[MeasuredStep, ...] = ()
    explained: tuple[Explanation, ...] = ()  # for each item, where that was asked for


@dataclass(frozen=True, slots=True)
class LineMatch(NotebookItem):
    """A matching line. Lines are 1-based, columns 0-based in code points of `text`, ends exclusive.

    `column` and `end_column` are those of the first match in the line; `spans` holds every match. Line texts
    are without their newline; a carriage return stays. A match over several lines has them all in `text`,
    begins at `line`, and its columns count from there.
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
class RegexAnswer(ItemSequence[LineMatch]):
    """Matching lines from one snapshot, in path order.

    `complete` is false after a time-out, and then `total` is a lower bound; `scanned_all` says that the
    pattern has no part that the trigram filter could use; `provider` names the engine. `by_file` counts the
    matching lines of each file, also past the limit.
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
    by_file: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Passage(NotebookItem):
    """Lines of one file of one snapshot."""

    path: str
    start_line: int
    end_line: int
    lines: int
    language: str
    text: str
    snapshot: SnapshotRef = field(default_factory=lambda: SnapshotRef("", None, False))

    def __str__(self) -> str:
        return f"{self.path}:{self.start_line}-{self.end_line}"

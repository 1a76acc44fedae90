"""What a caller asks, as values: an adapter builds one, and it travels unchanged to where it is executed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from codenib.core.calls.checked import CheckedRequest
from codenib.core.errors import InputError
from codenib.core.navigation import Position
from codenib.core.views import ViewKind

#: `auto`: bring the views up to the files first; `never`: answer from what was last published.
Refresh = Literal["auto", "never"]
#: What a ranked answer lists.
ResultLevel = Literal["unit", "file"]
#: Rank test, example and vendored code as it is, not at all, or lower.
Tests = Literal["include", "exclude", "lower"]
RegexBackend = Literal["trigram", "zoekt"]
#: Who may answer a definition or a reference: the graph, a language server, or the graph where it is fresh.
ProviderChoice = Literal["auto", "static", "live"]
NavigationQuestion = Literal["definition", "references"]
#: `affected` are the dependents, with those of what a method overrides and what overrides it.
NeighbourRelation = Literal["dependencies", "dependents", "callers", "callees", "subtypes", "affected"]


@dataclass(frozen=True, slots=True)
class SnapshotRequest(CheckedRequest):
    """Which snapshot to answer for: that of revision `at`, or without it the worktree's.

    Navigation answers from what is there. With `wait` it brings up the graph first, and starts the language
    server where no engine resolved the file.
    """

    at: str | None = None
    refresh: Refresh = "auto"
    wait: bool = False


CURRENT = SnapshotRequest()
PUBLISHED = SnapshotRequest(refresh="never")


@dataclass(frozen=True, slots=True)
class SearchRequest(CheckedRequest):
    """A ranked question: what to look for, and what must or must not be done for it.

    `budget` is `fast`, `balanced` or a number of milliseconds. `reranker` names one, which reads the first
    `cut` candidates; without, or with `none`, nothing is read. `expand` adds the graph's neighbours to a
    semantic route. Without `tests`, test code ranks lower unless the question is about tests. `explain` asks
    why each result stands where it does, which costs the orders of the single views again.

    Without `learned`, what `codenib learn` and `codenib policy use` made of this repository is left out.

    `like` is a place, `path:line`, instead of a query: then what resembles the unit there is asked for.
    """

    query: str = ""
    k: int = 10
    route: str = "auto"
    budget: str = "balanced"
    level: ResultLevel = "unit"
    paths: Sequence[str] = ()
    tests: Tests | None = None
    fusion: str = "auto"
    reranker: str | None = None
    cut: int | None = None
    expand: bool = False
    explain: bool = False
    like: str = ""
    learned: bool = True
    snapshot: SnapshotRequest = CURRENT


@dataclass(frozen=True, slots=True)
class RegexRequest(CheckedRequest):
    """A pattern to look for in the raw text; `k=None` for every line, `context` lines around each.

    Matches of a `multiline` pattern may span lines; a result is then all lines of one.
    """

    pattern: str
    k: int | None = 100
    ignore_case: bool = False
    literal: bool = False
    paths: Sequence[str] = ()
    context: int = 0
    timeout_s: float = 10.0
    multiline: bool = False
    backend: RegexBackend = "trigram"
    snapshot: SnapshotRequest = CURRENT


@dataclass(frozen=True, slots=True)
class ExploreRequest(CheckedRequest):
    """A question to be answered in at most `max_tokens` tokens."""

    query: str
    max_tokens: int = 4000
    paths: Sequence[str] = ()
    snapshot: SnapshotRequest = CURRENT
    route: str = "auto"  # of the search for it, as `SearchRequest` has it


@dataclass(frozen=True, slots=True)
class OverviewRequest(CheckedRequest):
    """The `k` longest files below `folder` (0: all of them), with what is known of each."""

    folder: str = ""
    k: int = 2000
    snapshot: SnapshotRequest = CURRENT


@dataclass(frozen=True, slots=True)
class ModulesRequest(CheckedRequest):
    """What the folders and files below `folder` use of each other, the `k` busiest of them.

    Folders in `opened` stand as what they hold; None opens the largest until there is something to see.
    """

    folder: str = ""
    opened: Sequence[str] | None = None
    k: int = 40
    uses: int = 200
    tests: Tests = "exclude"
    snapshot: SnapshotRequest = CURRENT


@dataclass(frozen=True, slots=True)
class NavigationRequest(CheckedRequest):
    """Whose definition or references are asked for.

    `where` is a position, `path:line:column` (1-based), `path:line` with a `name`, or a dotted symbol.
    """

    where: str | Position
    name: str = ""
    provider: ProviderChoice = "auto"
    limit: int | None = None
    declarations: bool = True
    snapshot: SnapshotRequest = CURRENT


@dataclass(frozen=True, slots=True)
class NeighboursRequest(CheckedRequest):
    """Which neighbours of a symbol or file in the graph are asked for, up to `depth` steps away.

    `where` is as in `NavigationRequest`, or a path; no `kinds` means edges of every kind.
    """

    where: str | Position
    relation: NeighbourRelation = "dependencies"
    name: str = ""
    depth: int = 1
    k: int = 50
    kinds: Sequence[str] = ()
    snapshot: SnapshotRequest = CURRENT


@dataclass(frozen=True, slots=True)
class ImpactRequest(CheckedRequest):
    """What a change is, whose consequences are asked for: one of a place, a diff, or a revision.

    `where` is as in `NeighboursRequest`; `diff` is a unified diff, applied to the files or not yet; `since`
    means what is different from that revision. Without any of them it is what differs from HEAD.
    Dependents are `depth` steps away at most; of each kind of consequence, `k` are listed.
    """

    where: str = ""
    name: str = ""
    diff: str = ""
    since: str = ""
    depth: int = 1
    k: int = 50
    snapshot: SnapshotRequest = CURRENT


@dataclass(frozen=True, slots=True)
class HistoryRequest(CheckedRequest):
    """Whose commits are asked for: those of a file, or of lines `start` to `end` of it; `k=0` for all."""

    path: str
    start: int | None = None
    end: int | None = None
    k: int = 20
    snapshot: SnapshotRequest = CURRENT


@dataclass(frozen=True, slots=True)
class IndexRequest(CheckedRequest):
    """Which views to build or maintain, of revision `at` or of the worktree as it is now.

    `embedder`, `family` (`flat`, `ivf`, `hnsw`) and `documents` (`L2`, `L0`) choose the dense view, also for
    later updates. `trust` says, until it is said otherwise, that engines may run this repository's build
    scripts and macros. `rebuild` trusts nothing that is stored.
    """

    views: Sequence[ViewKind]
    at: str | None = None
    rebuild: bool = False
    embedder: str | None = None
    family: str | None = None
    documents: str | None = None
    trust: bool | None = None

    def __post_init__(self) -> None:
        """Views may be given by name."""
        known = [str(kind) for kind in ViewKind]
        if isinstance(self.views, str) or any(str(each) not in known for each in self.views):
            what = f"views must be a list of {', '.join(known)}"
            raise InputError(what, hint=f'views=["{ViewKind.GRAPH}"]')
        object.__setattr__(self, "views", tuple(ViewKind(str(each)) for each in self.views))
        super(IndexRequest, self).__post_init__()

"""What an update did and why, as values: of all views (`Outcome`), and of the graph file by file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import msgspec

from codenib.core.source import SourceSnapshot
from codenib.core.views import RepoManifest, ViewKind

UNCHANGED = "kept"  # nothing that the group's engine reads has changed
FOLLOWED = "followed"  # some files were derived anew, the rest is as it was
REBUILT = "rebuilt"

#: How sure it is that the facts are those of a rebuild.
BY_CONSTRUCTION = "exact by construction"
BY_REBUILDING = "rebuilt"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What `ensure` did: nothing, or which views it built, maintained or reused, from how large a delta."""

    manifest: RepoManifest
    snapshot: SourceSnapshot
    views: Mapping[ViewKind, str] = field(default_factory=dict)
    added: int = 0
    changed: int = 0
    removed: int = 0
    renamed: int = 0
    derived: int = 0
    seconds: float = 0.0
    healed: tuple[str, ...] = ()  # what was damaged in the store, and dropped
    outdated: tuple[str, ...] = ()  # what an earlier version made in it, and is dropped

    @property
    def nothing_to_do(self) -> bool:
        return not self.views

    def then(self, second: Outcome) -> Outcome:
        """Two steps of one update as one outcome."""
        if self.nothing_to_do or second.nothing_to_do:
            done = second if self.nothing_to_do else self
            return replace(
                done,
                manifest=second.manifest,
                seconds=self.seconds + second.seconds,
                healed=self.healed + second.healed,
                outdated=self.outdated + second.outdated,
            )
        return replace(
            self,
            manifest=second.manifest,
            views={**self.views, **second.views},
            derived=self.derived + second.derived,
            seconds=self.seconds + second.seconds,
            healed=self.healed + second.healed,
            outdated=self.outdated + second.outdated,
        )


@dataclass(frozen=True, slots=True)
class RecentUpdate:
    """A published snapshot: its manifest, when it was last used, and what the graph's update did for it.

    `graph` is None where the graph was built from nothing, taken over as it was, or is not there.
    """

    manifest: RepoManifest
    used: float  # seconds since 1970
    graph: GraphUpdate | None


class Rederived(msgspec.Struct, frozen=True):
    """A file whose facts were made anew, and the reason."""

    path: str
    why: str


class SymbolChange(msgspec.Struct, frozen=True):
    """A declaration of a changed file, and what the edit did to it."""

    path: str
    symbol: str
    kind: str
    change: str  # deleted, affected, shifted, unchanged or added
    line: int = 0  # 1-based, in the new text; of a deleted one in the old
    by: int = 0  # lines that it moved


class GroupUpdate(msgspec.Struct):
    """What happened to the files of one language group."""

    group: str
    how: str
    why: str = ""
    files: int = 0
    rederived: list[Rederived] = []
    names: list[str] = []  # that mean something else to other files than before
    requests: int = 0
    resolved: int = 0  # occurrences that the engine resolved anew
    moved: int = 0  # occurrences of changed files that were taken over, moved by lines
    confidence: str = BY_CONSTRUCTION
    start_s: float = 0.0  # engine start and loading, once for as long as it stays
    seconds: float = 0.0


class GraphUpdate(msgspec.Struct):
    """The whole update: groups in order, and the classification of the changed files' declarations."""

    base: str
    target: str
    groups: list[GroupUpdate] = []
    symbols: list[SymbolChange] = []
    broken: list[str] = []  # files that no longer parse, of which engines read what they can
    #: Those whose last readable text engines read instead.
    stale: list[str] = msgspec.field(default_factory=list, name="held")

    @property
    def rederived(self) -> int:
        return sum(len(group.rederived) for group in self.groups)


@dataclass(frozen=True, slots=True)
class LearnedSummary:
    """A stored file as `status` shows it: where it was learnt, on how much, and what it gained there."""

    artifact: str
    size_bytes: int
    commit: str = ""
    rows: int = 0
    questions: int = 0  # of the journal
    file_gain: float = 0.0  # points of recall in the first ten, on the commits that it was tested on
    unit_gain: float = 0.0
    applies: bool = False
    error: str = ""

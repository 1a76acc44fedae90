"""Values of the history side: what a commit is and did, and what a question about the past answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from codenib.core.answers import ItemSequence, NotebookItem, SnapshotRef


class Hunk(NamedTuple):
    """Lines that a change replaced, and by which, as git prints them: a count of 0 stands after its start."""

    old_start: int
    old_count: int
    new_start: int
    new_count: int


@dataclass(frozen=True, slots=True)
class ListedCommit:
    """A commit's place in the history."""

    id: str
    parents: tuple[str, ...]
    committed: int  # seconds since 1970


@dataclass(frozen=True, slots=True)
class FileChange:
    """How a commit changed a file; of a merge, how its result differs from one parent.

    Blobs are the first eight bytes of their ids as a number, 0 where there is no file. No hunks between two
    blobs that differ: a binary file.
    """

    path: str
    old_path: str
    old_blob: int
    new_blob: int
    hunks: tuple[Hunk, ...]


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit. A merge has changes only where its result equals none of its parents, a row for each.

    `lacking` says that git does not have the objects that tell what it changed: it has no changes here.
    `oversized` that it changes more files than could be listed: it has none here either.
    """

    id: str
    parents: int
    author: str
    authored: int  # seconds since 1970
    committed: int
    message: str
    changes: tuple[FileChange, ...]
    lacking: bool = False
    oversized: bool = False


@dataclass(frozen=True, slots=True)
class Touch(NotebookItem):
    """A commit that changed the lines asked for, with where they stood after it.

    `lines` are the first and last line of each of its hunks that touch them; a pure deletion has the line
    that it follows, twice. `old_path` is empty unless the commit renamed the file.
    """

    commit: str
    author: str
    authored: int
    committed: int
    subject: str
    message: str
    path: str
    old_path: str
    lines: tuple[tuple[int, int], ...]
    added: int
    removed: int

    @property
    def text(self) -> str:
        """What the commit says of itself."""
        return self.message

    def __str__(self) -> str:
        return f"{self.commit[:10]} {self.author}: {self.subject}"


@dataclass(frozen=True, slots=True)
class Companion:
    """A file that changes together with another: in how many commits, of how many, how much above chance."""

    path: str
    together: int
    share: float  # of the commits of the file asked for
    lift: float


@dataclass(frozen=True, slots=True)
class UnitHistory:
    """How often and when last a unit of the snapshot was changed."""

    symbol: str
    kind: str
    start_line: int
    end_line: int
    commits: tuple[str, ...]  # newest first
    last: int


@dataclass(frozen=True, slots=True)
class BlameRun:
    """Lines of a file that one commit changed last; the commit is empty where none did, or none is known."""

    start_line: int
    end_line: int
    commit: str
    author: str
    committed: int
    subject: str

    def __str__(self) -> str:
        return f"{self.start_line}-{self.end_line} {self.commit[:10] or 'not committed'}"


@dataclass(frozen=True, slots=True, repr=False)
class BlameAnswer(ItemSequence[BlameRun]):
    """Who changed each line last, from the first line to the last, as the snapshot has them.

    `unknown` lines were changed before the commits that the view holds; `uncommitted` ones are in none yet.
    """

    path: str
    items: tuple[BlameRun, ...]
    snapshot: SnapshotRef
    uncommitted: int
    unknown: int
    seconds: float = 0.0
    refreshed: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class HistoryAnswer(ItemSequence[Touch]):
    """Who changed a file or lines of it, newest first. `total` counts every commit, also past the limit.

    `uncommitted` lines of those asked for are in no commit yet. `complete` says that the walk reached the
    commits that created them all; otherwise `note` says where it ended. The view holds `commits` of the
    `reachable` ones.
    """

    path: str
    start_line: int
    end_line: int
    items: tuple[Touch, ...]
    together: tuple[Companion, ...]
    snapshot: SnapshotRef
    total: int
    truncated: bool
    complete: bool
    uncommitted: int
    commits: int
    reachable: int
    seconds: float = 0.0
    refreshed: str = ""
    note: str = ""

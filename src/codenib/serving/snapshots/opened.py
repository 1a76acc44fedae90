"""What is open of one repository, and when its files were looked at: shared by the workspaces of a server."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from threading import Lock, RLock
from typing import TYPE_CHECKING

from codenib.core.views import RepoManifest, Status, ViewKind

if TYPE_CHECKING:  # numpy comes with the first query, not with `import codenib`
    from codenib.core.source import SourceSnapshot
    from codenib.serving.snapshots.pinned import PinnedSnapshot

#: What an open lexical view takes of memory beside its mapped parts, for each unit, with the names of its
#: units and the features of the learned order; measured on Django: 11 MB for 33,000 units.
_UNIT_BYTES = 350


def open_bytes_of(manifest: RepoManifest, kinds: Iterable[ViewKind] | None = None) -> int:
    """What these views of a manifest (all that are fresh) take at most when they are open."""
    total = 0
    for kind, record in manifest.views.items():
        if record.status is Status.FRESH if kinds is None else kind in kinds:
            total += record.size_bytes
            if kind is ViewKind.LEXICAL:
                total += _UNIT_BYTES * record.counts.get("units", 0)
    return total


@dataclass(frozen=True, slots=True)
class FileLook:
    """When files were looked at, and the snapshot that they were."""

    began: float
    ended: float
    pinned: PinnedSnapshot
    taken: SourceSnapshot | None = None  # where no view was opened for it


class OpenSnapshots:
    """What is open of one repository, and when its files were looked at.

    The workspaces of a server share one: each had its own views of each snapshot, and after an edit each
    looked at the files and took the edit in.
    """

    def __init__(self) -> None:
        self.pinned: dict[tuple[str, bool], PinnedSnapshot] = {}  # by snapshot and whether it may be stale
        self.looks: dict[str | None, FileLook] = {}  # by revision
        self.refreshing = RLock()  # one looks at the files and takes edits in, others wait for what it finds
        self._lock = Lock()

    def renew(self, at: str | None, pinned: PinnedSnapshot, renewed: PinnedSnapshot) -> None:
        """Put `renewed` in the place of `pinned`, of the same snapshot, unless there was a look since."""
        with self._lock:
            look = self.looks.get(at)
            if look is not None and look.pinned is pinned:
                self.looks[at] = replace(look, pinned=renewed)

    def look(self, at: str | None, look: FileLook) -> None:
        """Remember a look at the files."""
        with self._lock:
            self.looks[at] = look

    def size_bytes(self) -> int:
        """What the open views take at most: their mapped parts, and what is derived from them."""
        return sum(pinned.size_bytes() for pinned in list(self.pinned.values()))

    def opening_s(self) -> float:
        """How long opening and deriving took, of the snapshot that took longest."""
        return max((pinned.opening_s for pinned in list(self.pinned.values())), default=0.0)

"""Members in, their open workspaces out: the last used ones, within a number of bytes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock, RLock

from codenib.core.requests import PUBLISHED
from codenib.core.views import ViewKind
from codenib.fleet.search.members import FleetMember
from codenib.serving.snapshots.pinned import PinnedSnapshot
from codenib.serving.workspace import Workspace

DEFAULT_BYTES = 2 << 30


class OpenWorkspace:
    """A workspace that one thread uses at a time, and what it takes of memory."""

    def __init__(self, member: FleetMember, views: frozenset[ViewKind] | None = None) -> None:
        self.workspace = Workspace(member.path)
        self.workspace.maintenance.snapshots.views_allowed = views
        self.lock = RLock()
        self.users = 0

    def size_bytes(self) -> int:
        """The parts of its open snapshots, which are mapped, and what is derived from them."""
        return self.workspace.maintenance.snapshots.opened.size_bytes()

    def forget_older(self) -> None:
        """Let go of snapshots that a newer one has replaced: a fleet answers from the published one."""
        opened = self.workspace.maintenance.snapshots.opened.pinned
        for key in list(opened)[:-1]:
            opened.pop(key, None)


class OpenWorkspaces:
    """The workspaces of a fleet that are open, at most `limit_bytes` of them besides those in use.

    With `views` no other view answers.
    """

    def __init__(self, limit_bytes: int = DEFAULT_BYTES, views: frozenset[ViewKind] | None = None) -> None:
        self.limit_bytes = limit_bytes
        self._views = views
        self._open: OrderedDict[str, OpenWorkspace] = OrderedDict()
        self._lock = Lock()

    @contextmanager
    def borrow(self, member: FleetMember) -> Iterator[Workspace]:
        """The workspace of a member, for this thread alone until it is given back."""
        with self._lock:
            entry = self._open.get(str(member.path))
            if entry is None:
                entry = self._open[str(member.path)] = OpenWorkspace(member, self._views)
            self._open.move_to_end(str(member.path))
            entry.users += 1
        try:
            with entry.lock:
                yield entry.workspace
                entry.forget_older()
        finally:
            with self._lock:
                entry.users -= 1
                self._evict()

    def pin(self, member: FleetMember) -> PinnedSnapshot:
        """What is published of a member, with its lexical view open."""
        with self.borrow(member) as workspace:
            return workspace.snapshots.pin(ViewKind.LEXICAL, PUBLISHED)[0]

    def size_bytes(self) -> int:
        """What the open workspaces take."""
        with self._lock:
            return sum(entry.size_bytes() for entry in self._open.values())

    def names(self) -> tuple[str, ...]:
        """The paths of those that are open, the least recently used first."""
        with self._lock:
            return tuple(self._open)

    def close(self) -> None:
        """Let go of all of them."""
        with self._lock:
            for entry in self._open.values():
                entry.workspace.close()
            self._open.clear()

    def _evict(self) -> None:
        """Close the least recently used until the others fit; one in use is never closed."""
        total = sum(entry.size_bytes() for entry in self._open.values())
        for name, entry in list(self._open.items()):
            if total <= self.limit_bytes:
                return
            if not entry.users:
                total -= entry.size_bytes()
                del self._open[name]
                entry.workspace.close()

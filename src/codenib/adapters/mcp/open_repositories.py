"""Calls of many repositories in, those repositories open within a budget of memory out.

A repository is opened when it is asked for, and what is worth least is closed for it (`scheduler.evict`): by
what opening cost when it was measured, what it takes and how often it was asked. What a call uses is never
closed. Where everything else is in use, a call waits: no further call begins on what must go for it.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Protocol

from codenib.core.calls.cancellation import check_cancelled
from codenib.fleet.scheduler.evict import KnownUse, Residents, Room, make_room, promised, used, worth_opening
from codenib.fleet.scheduler.uses import RepositoryUse, read_uses, write_uses

_POLICY = "greedy-dual"
_LOOK_S = 0.5  # between two looks whether a call that waits for memory was cancelled
_SAVE_S = 60.0


class Closable(Protocol):
    """A repository of a server, which can be closed and opened again."""

    @property
    def key(self) -> str:
        """What it is remembered by."""
        ...

    def need_bytes(self) -> float:
        """What all views that are published take at most."""
        ...

    def open_bytes(self) -> float:
        """What is open takes now."""
        ...

    def opening_s(self) -> float:
        """What opening it took."""
        ...

    def release(self) -> Callable[[], None]:
        """Let go of all that is open; what is slow about it is left to the function that is returned."""
        ...


class OpenRepositories:
    """Which repositories of a server are open. `budget_bytes` bounds what they take together.

    One that is larger than the budget is open alone.
    """

    def __init__(self, budget_bytes: float, clock: Callable[[], float] = time.time) -> None:
        self.budget_bytes = budget_bytes
        self.evicted = self.reopened = 0  # how often one was closed, and opened
        self._clock = clock
        self._residents = Residents({})
        self._sites: dict[str, Closable] = {}
        self._calls: Counter[str] = Counter()  # that use each
        self._queue: deque[object] = deque()  # calls that wait for memory, in the order of their coming
        self._awaited: frozenset[str] = frozenset()  # what must end for the first of them
        self._changed = threading.Condition()
        self._remembered = read_uses()
        self._saved_at = clock()

    @property
    def size_bytes(self) -> float:
        """What is open, and what was promised to calls that open something now."""
        with self._changed:
            return self._residents.size_bytes

    @property
    def names(self) -> tuple[str, ...]:
        """The keys of what is open."""
        with self._changed:
            return tuple(self._residents.entries)

    @property
    def waiting(self) -> int:
        """How many calls wait for memory."""
        return len(self._queue)

    @contextmanager
    def using(self, site: Closable) -> Iterator[None]:
        """A call that uses a repository: it is open, or may be opened, until the end of the block."""
        key = site.key
        self._begin(site)
        try:
            yield
        finally:
            self._finish(self._end(site, key))

    def preload(self, sites: Mapping[str, Closable]) -> list[str]:
        """The keys of what is worth opening before it is asked for, by what was asked before the start."""
        known = {}
        for key, saved in self._remembered.items():
            if key in sites:
                size_bytes = max(saved.size_bytes, sites[key].need_bytes())
                known[key] = KnownUse(saved.uses_at(self._clock()), saved.reopen_s, size_bytes)
        return list(worth_opening(known, self.budget_bytes))

    def save(self) -> None:
        """Write down what was asked, for the next start."""
        with self._changed:
            rows = dict(self._remembered)
            self._saved_at = self._clock()
        write_uses(rows)

    def _begin(self, site: Closable) -> None:
        key, ticket = site.key, object()
        with self._changed:
            self._sites[key] = site
            if key in self._residents.entries and key not in self._awaited:
                self._calls[key] += 1
                return
        need_bytes = site.need_bytes()  # reads a manifest: not under the lock
        with self._changed:
            self._queue.append(ticket)
            try:
                while (room := self._room(ticket, key, need_bytes)) is None:
                    self._changed.wait(_LOOK_S)
                    check_cancelled()
            finally:
                self._queue.remove(ticket)
                self._awaited = frozenset()
                self._changed.notify_all()
            later = self._close(room)
            self._calls[key] += 1
            if key not in room.residents.entries:
                self.reopened += 1
                reopen_s = self._remembered[key].reopen_s if key in self._remembered else 0.0
                self._residents = promised(self._residents, key, need_bytes, reopen_s)
        self._finish(later)

    def _room(self, ticket: object, key: str, need_bytes: float) -> Room | None:
        """Room for the repository of the first call that waits; None: not yet."""
        if self._queue[0] is not ticket:
            return None
        if key in self._residents.entries:
            return Room(self._residents)
        room = self._make_room(need_bytes, frozenset(self._calls))
        self._awaited = frozenset(room.awaited)
        return None if room.awaited else room

    def _make_room(self, need_bytes: float, in_use: frozenset[str]) -> Room:
        return make_room(
            self._residents, need_bytes, budget_bytes=self.budget_bytes, policy=_POLICY, in_use=in_use
        )

    def _end(self, site: Closable, key: str) -> list[Callable[[], None]]:
        size_bytes, opening_s = site.open_bytes(), site.opening_s()
        with self._changed:
            self._calls[key] -= 1
            if not self._calls[key]:
                del self._calls[key]
            before = self._remembered.get(key)
            reopen_s = max(opening_s, before.reopen_s if before and not opening_s else 0.0)
            if key in self._calls:  # others still open what they may: what was promised stays
                size_bytes = max(size_bytes, self._residents.entries[key].size_bytes)
            self._residents = used(self._residents, key, size_bytes, reopen_s)
            self._remember(key, reopen_s, size_bytes)
            alone = frozenset({key}) if len(self._residents.entries) == 1 else frozenset()
            later = self._close(self._make_room(0.0, alone | frozenset(self._calls)))
            self._changed.notify_all()
            due = self._clock() - self._saved_at > _SAVE_S
            if due:
                self._saved_at = self._clock()
        if due:
            later.append(self.save)
        return later

    def _remember(self, key: str, reopen_s: float, size_bytes: float) -> None:
        now, before = self._clock(), self._remembered.get(key)
        uses = before.uses_at(now) if before else 0.0
        self._remembered[key] = RepositoryUse(now, uses + 1, reopen_s, size_bytes)

    def _close(self, room: Room) -> list[Callable[[], None]]:
        """Let go of what a room was made by; the memory is free when this returns."""
        self._residents = room.residents
        self.evicted += len(room.closed)
        return [self._sites[key].release() for key in room.closed]

    @staticmethod
    def _finish(later: list[Callable[[], None]]) -> None:
        for work in later:
            work()

"""Replies to one client in, which lines it has already out: they need not be sent again."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from threading import Lock

from codenib.serving.context.ledger import Ledger

# A client forgets: it compacts its context, and starts other agents with the same connection. What was sent
# longer ago than this many replies with source is sent again.
_REPLIES = 24


class SentLines:
    """What the last replies of a session had."""

    def __init__(self, replies: int = _REPLIES) -> None:
        self._ledgers: deque[Ledger] = deque(maxlen=replies)
        self._lock = Lock()

    def begin(self) -> Ledger:
        """A ledger for one more reply, which knows what the others had."""
        with self._lock:
            return Ledger(self._ledgers)

    def keep(self, ledger: Ledger) -> None:
        """Remember that a reply was sent."""
        if len(ledger):
            with self._lock:
                self._ledgers.append(ledger)

    def add(self, path: str, digest: str, lines: Iterable[int]) -> None:
        """Remember lines of one file, as one reply."""
        ledger = Ledger()
        ledger.add(path, digest, lines)
        self.keep(ledger)

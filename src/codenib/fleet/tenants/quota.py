"""Requests in, whether they pass or when to come back out: a rate as a bucket, tokens by day."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec

from codenib.core.errors import UNDECODABLE
from codenib.serving.installation import home_file, read_home_file, write_home_file

_DAY_S = 86_400
_SAVE_S = 5.0  # between two writes: a server that is killed forgets what the last seconds cost


@dataclass(frozen=True, slots=True)
class Bucket:
    """How many requests may come at once, as of a moment."""

    left: float
    at_s: float


def spend(bucket: Bucket | None, now_s: float, rate: float, burst: float) -> tuple[Bucket, float]:
    """The bucket after one more request, and how many seconds that should have waited; 0: it passes. Pure.

    >>> full, wait_s = spend(None, 0.0, rate=2.0, burst=1.0)
    >>> wait_s, spend(full, 0.0, rate=2.0, burst=1.0)[1]
    (0.0, 0.5)
    """
    before = bucket or Bucket(burst, now_s)
    left = min(burst, before.left + (now_s - before.at_s) * rate)
    if left < 1:
        return Bucket(left, now_s), (1 - left) / rate
    return Bucket(left - 1, now_s), 0.0


class _Day(msgspec.Struct):
    number: int = 0  # since 1970, UTC
    used: dict[str, int] = {}


class DailyUsage:
    """Tokens that each token's replies took since midnight UTC; it outlives the server.

    What several requests at once take is known when they end: a limit is passed by at most those.
    """

    def __init__(self, file: Path | None = None, clock: Callable[[], float] = time.time) -> None:
        self._file = file or home_file("usage.json")
        self._clock = clock
        self._lock = threading.Lock()
        self._saved_s = clock()
        self._day = self._read()

    def wait_s(self, key: str, limit: int | None) -> float:
        """How long until `key` may ask again; 0: now."""
        now = self._clock()
        with self._lock:
            self._turn(now)
            if limit is None or self._day.used.get(key, 0) < limit:
                return 0.0
        return _DAY_S - now % _DAY_S

    def used(self, key: str) -> int:
        """Tokens of today."""
        with self._lock:
            self._turn(self._clock())
            return self._day.used.get(key, 0)

    def add(self, key: str, tokens: int) -> bool:
        """Count a reply. True when it is time to `save`, which a caller does beside its work."""
        now = self._clock()
        with self._lock:
            self._turn(now)
            self._day.used[key] = self._day.used.get(key, 0) + tokens
            due = now - self._saved_s > _SAVE_S
            if due:
                self._saved_s = now
        return due

    def save(self) -> None:
        """Write it down."""
        with self._lock:
            day = _Day(self._day.number, dict(self._day.used))
        write_home_file(self._file, day)

    def _turn(self, now: float) -> None:
        if self._day.number != int(now // _DAY_S):
            self._day = _Day(int(now // _DAY_S))

    def _read(self) -> _Day:
        try:
            return read_home_file(self._file, _Day)
        except FileNotFoundError:
            return _Day()
        except UNDECODABLE:
            return _Day()  # damaged: the day begins anew, which takes nothing from anybody

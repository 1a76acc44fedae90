"""Backends with faults: real ones behind, which do what they are told and say something else, or die."""

from __future__ import annotations

import itertools
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

from codenib.fleet.store.backend import Backend, Unacknowledged, Version


class LosesAcknowledgements:
    """A backend whose next `lose` moves of heads take place (or not, without `writes`) and look failed."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self.lose = 0
        self.writes = True
        self.meanwhile: Callable[[], None] = lambda: None

    def read(self, path: str) -> tuple[bytes, Version] | None:
        return self._backend.read(path)

    def read_ranges(self, path: str, ranges: list[tuple[int, int]]) -> list[bytes]:
        return self._backend.read_ranges(path, ranges)

    def chunks(self, path: str) -> Iterator[bytes]:
        return self._backend.chunks(path)

    def size(self, path: str) -> int | None:
        return self._backend.size(path)

    def create(self, path: str, source: bytes | Path) -> bool:
        return self._backend.create(path, source)

    def overwrite(self, path: str, source: bytes | Path) -> None:
        self._backend.overwrite(path, source)

    def replace(self, path: str, data: bytes, version: Version) -> bool:
        if not self.lose:
            return self._backend.replace(path, data, version)
        self.lose -= 1
        if self.writes and self._backend.replace(path, data, version):
            self.meanwhile()
        raise Unacknowledged("the connection was lost")

    def list(self, prefix: str) -> Iterator[tuple[str, int]]:
        return self._backend.list(prefix)

    def remove(self, path: str) -> None:
        self._backend.remove(path)


class DiesAtStep(LosesAcknowledgements):
    """A backend whose process is killed before or after its write number `step`."""

    def __init__(self, backend: Backend, step: int, *, after: bool) -> None:
        super().__init__(backend)
        self._step = step
        self._after = after
        self._steps = itertools.count(1)

    def create(self, path: str, source: bytes | Path) -> bool:
        return self._dying(lambda: super(DiesAtStep, self).create(path, source))

    def replace(self, path: str, data: bytes, version: Version) -> bool:
        return self._dying(lambda: super(DiesAtStep, self).replace(path, data, version))

    def _dying(self, write: Callable[[], bool]) -> bool:
        is_last = next(self._steps) == self._step
        if is_last and not self._after:
            os.kill(os.getpid(), signal.SIGKILL)
        wrote = write()
        if is_last:
            os.kill(os.getpid(), signal.SIGKILL)
        return wrote

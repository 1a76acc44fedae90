"""Backends with faults: real ones behind, which do what they are told and say something else, or die."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from codenib.fleet.store.backend import Backend, StoredObject, Unacknowledged, Version


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

    def list(self, prefix: str) -> Iterator[StoredObject]:
        return self._backend.list(prefix)

    def remove(self, path: str) -> None:
        self._backend.remove(path)

    def remove_partials(self, before_s: float) -> int:
        return self._backend.remove_partials(before_s)


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


#: Reads `STEP URL` lines: a child of each pushes there and dies at its write number STEP. Before it at even
#: numbers, after it at odd ones.
_PUSHER = """
import os, sys
from tests.fleet.store.faulty import DiesAtStep
from codenib.fleet.store.objects import ObjectStore
from codenib.fleet.store.publish import push
from codenib.manifest.store import Store
key, snapshot = sys.argv[1:3]
for line in sys.stdin:
    step, url = line.split()
    child = os.fork()
    if child == 0:
        objects = ObjectStore.open(url)
        faulty = ObjectStore(url, DiesAtStep(objects.backend, int(step), after=bool(int(step) % 2)))
        push(faulty, "org/app", Store(key), snapshot, refs=["main"])
        os._exit(0)
    print(os.waitpid(child, 0)[1], flush=True)
"""


@contextmanager
def dying_pusher(key: str, snapshot: str) -> Iterator[Callable[[int, str], int]]:
    """Pushes a snapshot of a local store to a URL until a step, and says how that ended."""
    root = Path(__file__).parents[3]
    with subprocess.Popen(
        [sys.executable, "-c", _PUSHER, key, snapshot],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
    ) as pusher:  # fmt: skip
        assert pusher.stdin is not None
        assert pusher.stdout is not None
        stdin, stdout = pusher.stdin, pusher.stdout

        def push_until(step: int, url: str) -> int:
            stdin.write(f"{step} {url}\n")
            stdin.flush()
            return int(stdout.readline())

        yield push_until
        stdin.close()

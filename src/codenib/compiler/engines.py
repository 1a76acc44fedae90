"""Edits in, engines out that stay from one edit to the next and read one checkout that follows the files."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from codenib.compiler.checkouts import Checkout
from codenib.core.protocols import DifferenceEngine, ResidentBackend, SurfaceEngine
from codenib.core.source import Delta, SourceSnapshot
from codenib.manifest.store import Store
from codenib.manifest.trust import is_trusted
from codenib.snapshot.blobs import BlobSource
from codenib.snapshot.repository import Repository
from codenib.units.languages import language_hint
from codenib.units.notebook_code import engine_name

if TYPE_CHECKING:  # numpy, which a no-op never needs
    from codenib.views.graph.maintenance.stale_syntax import StaleSyntax

# What the engines of a repository may take together after an update, of the memory that this machine lets us
# have. Where it is more, the largest is ended; the next update starts it again.
_SHARE = 0.4
_LEAST_BYTES = 1 << 30  # of memory that is left on the machine


class RunningEngine:
    """An engine, and the files that it was last told of."""

    def __init__(self, backend: ResidentBackend, root: Path, trusted: bool) -> None:
        self.engine: DifferenceEngine | SurfaceEngine = backend.engine(root, trusted=trusted)
        self._languages = backend.languages
        self._files: dict[str, str] = {}

    def follow(self, files: Mapping[str, str]) -> None:
        """Tell the engine what changed since the last time."""
        now = {path: digest for path, digest in files.items() if language_hint(path) in self._languages}
        both = now.keys() | self._files.keys()
        changed = sorted(path for path in both if now.get(path) != self._files.get(path))
        if changed:
            self.engine.sync(sorted(now), changed)
        self._files = now


class EditSession:
    """The files before and after an edit, one of the two states on disk, and the engines that read it."""

    def __init__(
        self,
        checkout: Checkout,
        engines: dict[tuple[str, bool], RunningEngine],
        *,
        before: Mapping[str, str],
        after: Mapping[str, str],
        trusted: bool,
    ) -> None:
        self.before = before
        self.after = after
        self.delta: Delta | None = None
        self.stale: Mapping[str, StaleSyntax] = {}
        self.root = checkout.root
        self._checkout = checkout
        self._engines = engines
        self._trusted = trusted
        self._used: list[RunningEngine] = []

    def check_out(self, files: Mapping[str, str]) -> None:
        """Put these files on disk, and tell the engines in use."""
        self._checkout.move(files)
        for running in self._used:
            running.follow(files)

    def engine(self, backend: ResidentBackend) -> tuple[DifferenceEngine | SurfaceEngine, float]:
        """The running engine of a backend, told of what is on disk; and the seconds that starting it took."""
        key = (backend.group, self._trusted)
        running = self._engines.get(key)
        started = time.perf_counter()
        fresh = running is None or not running.engine.alive
        if running is None or not running.engine.alive:
            running = self._engines[key] = RunningEngine(backend, self.root, self._trusted)
        running.follow(self._checkout.files)
        self._used.append(running)
        return running.engine, time.perf_counter() - started if fresh else 0.0

    def end_engine(self, group: str) -> None:
        """End a group's engine: what it has loaded no longer fits."""
        running = self._engines.pop((group, self._trusted), None)
        if running is not None:
            running.engine.close()
            self._used = [each for each in self._used if each is not running]

    def read(self, path: str) -> bytes | None:
        """A file as engines read it now."""
        try:
            return (self.root / engine_name(path)).read_bytes()
        except OSError:
            return None


class EnginePool:
    """One checkout of a repository and its engines, which stay from update to update."""

    def __init__(self, repository: Repository, store: Store) -> None:
        self._repository = repository
        self._store = store
        self._checkout: Checkout | None = None
        self._engines: dict[tuple[str, bool], RunningEngine] = {}

    def open(self, before: SourceSnapshot, after: SourceSnapshot) -> EditSession:
        """A session with the files of `before` on disk."""
        for fresh in (False, True):
            if self._checkout is None or not self._checkout.root.is_dir():
                self.close()
                source = BlobSource.of(self._repository, self._store.blob_store)
                self._checkout = Checkout(source, self._repository, self._store.checkouts)
            self._checkout.move(before.files)
            if self._checkout.link(after) or fresh:
                break
            self.close()
        assert self._checkout is not None
        return EditSession(
            self._checkout,
            self._engines,
            before=before.files,
            after=after.files,
            trusted=is_trusted(self._store.folder, self._repository),
        )

    def trim(self) -> None:
        """End the largest engines while they take too much memory together, all where memory is scarce."""
        memory = machine_memory()
        sizes = {key: running.engine.resident_bytes for key, running in self._engines.items()}
        for key in sorted(sizes, key=lambda each: -sizes[each]):
            if memory.left_bytes < _LEAST_BYTES or sum(sizes.values()) > _SHARE * memory.total_bytes:
                self._engines.pop(key).engine.close()
                del sizes[key]

    @property
    def running(self) -> int:
        """How many engines are up."""
        return sum(running.engine.alive for running in self._engines.values())

    def close(self) -> None:
        """End the engines and drop the folder."""
        for running in self._engines.values():
            running.engine.close()
        self._engines.clear()
        if self._checkout is not None:
            self._checkout.close()
            self._checkout = None


@dataclass(frozen=True, slots=True)
class MachineMemory:
    """The memory that this process and its children may have, and what is left of it."""

    total_bytes: int
    left_bytes: int


def machine_memory(info: Path = Path("/proc/meminfo"), group: Path = Path("/sys/fs/cgroup")) -> MachineMemory:
    """Of the machine, or of the container where that has less; plenty where the system does not say."""
    plenty = 1 << 62
    try:
        rows = [row.split() for row in info.read_text().splitlines()]
        sizes = {row[0].rstrip(":"): int(row[1]) * 1024 for row in rows}
        memory = MachineMemory(sizes["MemTotal"], sizes["MemAvailable"])
    except (OSError, ValueError, LookupError):
        memory = MachineMemory(plenty, plenty)
    try:
        most, used = (int((group / name).read_text()) for name in ("memory.max", "memory.current"))
    except (OSError, ValueError):  # no container, or one without a limit
        return memory
    return MachineMemory(min(memory.total_bytes, most), min(memory.left_bytes, max(0, most - used)))

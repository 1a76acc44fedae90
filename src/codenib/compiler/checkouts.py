"""Snapshots in, one private folder that follows them out, and the engines that hold it.

The folder is an export (export.py) that is moved from snapshot to snapshot by writing only what differs, so
that an engine which has loaded it reads the few changed files again. Both live as long as their owner.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from codenib.compiler.export import link_surroundings, surroundings
from codenib.core.protocols import Engine, FollowingBackend
from codenib.core.source import Delta, SourceSnapshot
from codenib.snapshot.blobs import BlobSource
from codenib.snapshot.repository import Repository
from codenib.units.languages import language_hint

if TYPE_CHECKING:  # numpy, which a no-op never needs
    from codenib.views.graph.maintenance.broken import Readable

# What the engines of a repository may hold together after an update, of the memory that this machine lets us
# have. Where it is more, the largest is ended; the next update starts it again.
_SHARE = 0.4
_LEAST_BYTES = 1 << 30  # of memory that is left on the machine


class Checkout:
    """A folder with exactly the files of one snapshot, and links to what git ignores beside them."""

    def __init__(self, source: BlobSource, repository: Repository, parent: Path) -> None:
        parent.mkdir(parents=True, exist_ok=True)
        self._top = Path(tempfile.mkdtemp(prefix=f"checkout-{os.getpid()}-", dir=parent)).resolve()
        self.root = self._top / repository.root.name
        self.root.mkdir()
        self._source = source
        self._repository = repository
        self._linked: bytes | None = None
        self.files: dict[str, str] = {}

    def move(self, files: Mapping[str, str]) -> None:
        """Write what differs from `files` (paths and digests), and drop what is not there."""
        changed = sorted(path for path, digest in files.items() if self.files.get(path) != digest)
        for path in self.files.keys() - files.keys():
            (self.root / path).unlink(missing_ok=True)
            self._prune((self.root / path).parent)
        made: set[Path] = set()
        with closing(self._source.open()) as blobs:
            for path, data in zip(changed, blobs.read([files[path] for path in changed]), strict=True):
                place = self.root / path
                if data is None:
                    place.unlink(missing_ok=True)
                    continue
                if place.parent not in made:
                    place.parent.mkdir(parents=True, exist_ok=True)
                    made.add(place.parent)
                place.write_bytes(data)
        self.files = dict(files)

    def link(self, snapshot: SourceSnapshot) -> bool:
        """Link the surroundings; false when they are others than before, so that this folder is of no use."""
        if self._repository.kind != "git":
            return True
        found = surroundings(self._repository)
        if self._linked is None:
            link_surroundings(self._repository, snapshot, self.root, found)
            self._linked = found
        return found == self._linked

    def close(self) -> None:
        shutil.rmtree(self._top, ignore_errors=True)

    def _prune(self, folder: Path) -> None:
        with suppress(OSError):  # not empty, or not there
            while folder != self.root:
                folder.rmdir()
                folder = folder.parent


class Held:
    """An engine, and the files that it was last told of."""

    def __init__(self, backend: FollowingBackend, root: Path, trusted: bool) -> None:
        started = time.perf_counter()
        self.engine: Engine = backend.engine(root, trusted=trusted)
        self._languages = backend.languages
        self._known: dict[str, str] = {}
        self.start_s = time.perf_counter() - started

    def follow(self, files: Mapping[str, str]) -> None:
        """Tell the engine what changed since the last time."""
        now = {path: digest for path, digest in files.items() if language_hint(path) in self._languages}
        both = now.keys() | self._known.keys()
        changed = sorted(path for path in both if now.get(path) != self._known.get(path))
        if changed:
            self.engine.sync(sorted(now), changed)
        self._known = now


class Desk:
    """An update at work: the two states of the files, one of them on disk, and the engines that read it."""

    def __init__(
        self,
        checkout: Checkout,
        engines: dict[tuple[str, bool], Held],
        before: Mapping[str, str],
        after: Mapping[str, str],
        trusted: bool,
    ) -> None:
        self.before = before
        self.after = after
        self.delta: Delta | None = None
        self.held: Mapping[str, Readable] = {}
        self.root = checkout.root
        self._checkout = checkout
        self._engines = engines
        self._trusted = trusted
        self._used: list[Held] = []

    def turn(self, files: Mapping[str, str]) -> None:
        """Put these files on disk, and tell the engines in use."""
        self._checkout.move(files)
        for held in self._used:
            held.follow(files)

    def engine(self, backend: FollowingBackend) -> tuple[Engine, float]:
        """The running engine of a backend, told of what is on disk; and the seconds that starting it took."""
        key = (backend.group, self._trusted)
        held = self._engines.get(key)
        started = time.perf_counter()
        fresh = held is None or not held.engine.alive
        if held is None or not held.engine.alive:
            held = self._engines[key] = Held(backend, self.root, self._trusted)
        held.follow(self._checkout.files)
        self._used.append(held)
        return held.engine, time.perf_counter() - started if fresh else 0.0

    def drop(self, group: str) -> None:
        """End a group's engine: what it has loaded no longer fits."""
        held = self._engines.pop((group, self._trusted), None)
        if held is not None:
            held.engine.close()
            self._used = [each for each in self._used if each is not held]

    def read(self, path: str) -> bytes | None:
        """A file as it is on disk now."""
        try:
            return (self.root / path).read_bytes()
        except OSError:
            return None


class Workshop:
    """Keeps one checkout of a repository and its engines from update to update."""

    def __init__(self) -> None:
        self._checkout: Checkout | None = None
        self._engines: dict[tuple[str, bool], Held] = {}

    def desk(
        self,
        source: BlobSource,
        repository: Repository,
        parent: Path,
        before: SourceSnapshot,
        after: SourceSnapshot,
        *,
        trusted: bool,
    ) -> Desk:
        """A desk with `before` on disk."""
        for fresh in (False, True):
            if self._checkout is None or not self._checkout.root.is_dir():
                self.close()
                self._checkout = Checkout(source, repository, parent)
            self._checkout.move(before.files)
            if self._checkout.link(after) or fresh:
                break
            self.close()
        assert self._checkout is not None
        return Desk(self._checkout, self._engines, before.files, after.files, trusted)

    def trim(self) -> None:
        """End the largest engines while they hold too much memory together, all where memory is scarce."""
        memory = machine_memory()
        sizes = {key: held.engine.resident_bytes for key, held in self._engines.items()}
        for key in sorted(sizes, key=lambda each: -sizes[each]):
            if memory.left_bytes < _LEAST_BYTES or sum(sizes.values()) > _SHARE * memory.total_bytes:
                self._engines.pop(key).engine.close()
                del sizes[key]

    @property
    def running(self) -> int:
        """How many engines are up."""
        return sum(held.engine.alive for held in self._engines.values())

    def close(self) -> None:
        """End the engines and drop the folder."""
        for held in self._engines.values():
            held.engine.close()
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

"""Objects of the fleet in, mapped files on this machine out, within a number of bytes.

v1/objects/XX/SHA256     parts, each once
repos/KEY/artifacts/     folders of links to them, as a local store has them
usage                    bytes at the last count, with what came since

The least recently used artifacts go first. Any number of processes may use one cache: what is downloaded
appears by rename, removal waits for those that link, and a file that a process has mapped stays readable when
its name is gone.
"""

from __future__ import annotations

import os
import shutil
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from codenib.core.errors import InputError, StateError
from codenib.fleet.store.install import fetch_artifact
from codenib.fleet.store.layout import FORM, ObjectRef
from codenib.fleet.store.objects import ObjectStore
from codenib.manifest.files import drop_partial, is_running, reports_faults
from codenib.manifest.home import home
from codenib.manifest.lock import exclusive, shared
from codenib.manifest.store import Store

DEFAULT_BYTES = 20 << 30
_LOCK_S = 120.0
_TOUCH_S = 10.0  # how exact "recently used" is
#: What was used within this time may be about to be opened by another process, so it is not removed.
_GRACE_S = 60.0
_SPARE = 10  # a cache that is full loses a tenth, so that not every download counts its files


def default_cache() -> LocalCache:
    """The cache of this user: in the home, of `$CODENIB_FLEET_CACHE_BYTES`."""
    chosen = os.environ.get("CODENIB_FLEET_CACHE_BYTES", "")
    if chosen and not chosen.isdecimal():
        raise InputError(f"CODENIB_FLEET_CACHE_BYTES={chosen} is not a number of bytes")
    return LocalCache(home() / "fleet" / "cache", int(chosen) if chosen else DEFAULT_BYTES)


@dataclass(frozen=True, slots=True)
class _CachedArtifact:
    used_ns: int
    folder: Path
    sizes: dict[int, int]  # by inode


@dataclass(frozen=True, slots=True)
class LocalCache:
    """One folder of cached objects, of `limit_bytes` and what is opened at this moment."""

    root: Path
    limit_bytes: int

    @reports_faults
    def materialize(self, objects: ObjectStore, store: Store, name: str, parts: dict[str, ObjectRef]) -> None:
        """Make sure that an artifact is in `store`, which is one of this cache; mark it as used."""
        folder = store.artifact(name)
        if self._touch(folder):
            return
        with shared(self._lock, timeout_s=_LOCK_S):  # no object is removed before it is linked
            fresh = store.new_artifact()
            try:
                fetch_artifact(parts, fresh, lambda ref, place: self._place(objects, ref, place))
                # Each part was compared with its SHA-256: reading all of it for the CRC would say no more.
                if what := store.seals.accept(fresh, read=False):
                    raise StateError(f"artifact {name} is damaged: {what}", hint="codenib fleet verify")
                with suppress(OSError):  # another process was faster
                    fresh.rename(folder)
                store.seals.adopt(fresh, folder)
                os.utime(folder)
            finally:
                shutil.rmtree(fresh, ignore_errors=True)
        self._account(sum(ref.size for ref in parts.values()))

    @reports_faults
    def fetch(self, objects: ObjectStore, ref: ObjectRef) -> bytes:
        """A small object, by way of the cache."""
        place = self.root / ref.path
        with suppress(OSError):
            data = place.read_bytes()
            if ObjectRef.of(data) == ref:
                return data
        data = objects.get(ref)
        place.parent.mkdir(parents=True, exist_ok=True)
        partial = place.with_name(f".{place.name}.{os.getpid()}-{time.monotonic_ns()}.tmp")
        partial.write_bytes(data)
        partial.replace(place)
        self._account(ref.size)
        return data

    def usage_bytes(self) -> int:
        """What the cache has on the disk, at most: shared parts may be counted twice since the last count."""
        with suppress(OSError, ValueError):
            return int((self.root / "usage").read_text())
        return 0

    @reports_faults
    def shrink(self, limit_bytes: int) -> None:
        """Remove the least recently used artifacts until the rest is within a limit, or was used just now."""
        with exclusive(self._lock, timeout_s=_LOCK_S):
            self._drop_rubbish()
            objects = dict(self._objects())
            artifacts = sorted(self._artifacts(), key=lambda artifact: artifact.used_ns)
            links = Counter(inode for artifact in artifacts for inode in artifact.sizes)
            sizes = {inode: size for artifact in artifacts for inode, size in artifact.sizes.items()}
            sizes.update((inode, size) for inode, (_, size) in objects.items())
            used = sum(sizes.values())
            for inode in objects.keys() - links.keys():  # file lists, and what killed readers left
                if used > limit_bytes:
                    objects[inode][0].unlink(missing_ok=True)
                    used -= sizes[inode]
            for artifact in artifacts:
                if used <= limit_bytes or artifact.used_ns > (time.time() - _GRACE_S) * 1e9:
                    break
                self._drop_artifact(artifact.folder)
                links.subtract(artifact.sizes.keys())
                for inode in artifact.sizes:
                    if not links[inode]:
                        used -= sizes[inode]
                        if inode in objects:
                            objects[inode][0].unlink(missing_ok=True)
            self._remember(used)

    @property
    def _lock(self) -> Path:
        return self.root / "lock"

    def _account(self, added: int) -> None:
        """Add what was downloaded to the count; remove what is too much."""
        with exclusive(self.root / "usage.lock", timeout_s=_LOCK_S):
            used = self.usage_bytes() + added
            self._remember(used)
        if used > self.limit_bytes:
            self.shrink(self.limit_bytes - self.limit_bytes // _SPARE)

    def _remember(self, used: int) -> None:
        partial = self.root / f".usage.{os.getpid()}-{time.monotonic_ns()}.tmp"
        partial.write_text(str(used))
        partial.replace(self.root / "usage")

    def _place(self, objects: ObjectStore, ref: ObjectRef, place: Path) -> None:
        """Put an object at a place, as a link where the file system has links."""
        source = self.root / ref.path
        if not source.exists() or source.stat().st_size != ref.size:
            objects.download(ref, source)
        try:
            os.link(source, place)
        except OSError:
            shutil.copyfile(source, place)

    def _touch(self, folder: Path) -> bool:
        """Mark an artifact as used now; False when it is not there."""
        try:
            if time.time() - folder.stat().st_mtime > _TOUCH_S:
                os.utime(folder)
        except OSError:
            return False
        return True

    def _objects(self) -> Iterator[tuple[int, tuple[Path, int]]]:
        for path in (self.root / FORM).glob("objects/*/[!.]*"):
            with suppress(OSError):
                state = path.stat()
                yield state.st_ino, (path, state.st_size)

    def _artifacts(self) -> Iterator[_CachedArtifact]:
        for folder in (self.root / "repos").glob("*/artifacts/[!.]*"):
            with suppress(OSError):
                states = [part.stat() for part in folder.iterdir()]
                sizes = {state.st_ino: state.st_size for state in states}
                yield _CachedArtifact(folder.stat().st_mtime_ns, folder, sizes)

    def _drop_artifact(self, folder: Path) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        with suppress(OSError):
            (folder.parent.with_name("checked") / folder.name).unlink(missing_ok=True)

    def _drop_rubbish(self) -> None:
        """What killed readers left."""
        for folder in (self.root / "repos").glob("*/artifacts/.tmp-*"):
            if not is_running(int(folder.name.split("-")[1])):
                shutil.rmtree(folder, ignore_errors=True)
        for folder in (self.root, *(self.root / FORM).glob("objects/*")):
            drop_partial(folder)

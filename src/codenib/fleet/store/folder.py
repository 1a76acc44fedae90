"""A store in a folder (`file:///…`): needs nothing but this package.

Objects are written beside their name, flushed and renamed or linked, as in the local store. Heads move under
a lock of the kernel, which a dying writer releases: right for any number of processes on one machine, and on
network file systems as far as those have working locks (NFSv4 has, some others do not: use a bucket there).
"""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from codenib.fleet.store.backend import StoredObject, Version
from codenib.manifest.files import reports_faults
from codenib.manifest.lock import exclusive
from codenib.system.files import sync_folder

_LOCK_S = 60.0
_CHUNK = 1 << 20
_LOCKS = "locks"


class ObjectFolder:
    """A `Backend` in the file system."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @reports_faults
    def read(self, path: str) -> tuple[bytes, Version] | None:
        try:
            data = (self.root / path).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        return data, _version(data)

    def read_ranges(self, path: str, ranges: list[tuple[int, int]]) -> list[bytes]:
        pieces = []
        with (self.root / path).open("rb") as stream:
            for start, end in ranges:
                stream.seek(start)
                pieces.append(stream.read(end - start))
        return pieces

    def chunks(self, path: str) -> Iterator[bytes]:
        with (self.root / path).open("rb") as stream:
            while data := stream.read(_CHUNK):
                yield data

    @reports_faults
    def size(self, path: str) -> int | None:
        try:
            return (self.root / path).stat().st_size
        except (FileNotFoundError, NotADirectoryError):
            return None

    @reports_faults
    def create(self, path: str, source: bytes | Path) -> bool:
        place = self.root / path
        if place.exists():
            return False
        partial = self._partial(place, source)
        try:
            os.link(partial, place)
        except FileExistsError:
            return False
        except OSError:  # no links here; whoever was first wrote the same bytes
            partial.replace(place)
        finally:
            partial.unlink(missing_ok=True)
        sync_folder(place.parent)
        return True

    @reports_faults
    def overwrite(self, path: str, source: bytes | Path) -> None:
        place = self.root / path
        self._partial(place, source).replace(place)
        sync_folder(place.parent)

    @reports_faults
    def replace(self, path: str, data: bytes, version: Version) -> bool:
        # One lock file for each of 256 groups of heads: they stay, so a lock is never removed under a waiter.
        group = hashlib.sha256(path.encode()).hexdigest()[:2]
        with exclusive(self.root / _LOCKS / group, timeout_s=_LOCK_S):
            now = self.read(path)
            if (now[1] if now else "") != version:
                return False
            self.overwrite(path, data)
            return True

    def list(self, prefix: str) -> Iterator[StoredObject]:
        for folder, names, files in os.walk(self.root / prefix):
            names.sort()
            for name in sorted(files):
                place = Path(folder, name)
                if not name.startswith("."):
                    with suppress(FileNotFoundError):  # removed meanwhile
                        now = place.stat()
                        path = place.relative_to(self.root).as_posix()
                        yield StoredObject(path, now.st_size, now.st_mtime)

    @reports_faults
    def remove(self, path: str) -> None:
        (self.root / path).unlink(missing_ok=True)

    @reports_faults
    def remove_partials(self, before_s: float) -> int:
        removed = 0
        for place in self.root.rglob(".*.tmp"):
            with suppress(FileNotFoundError):
                if place.stat().st_mtime < before_s:
                    place.unlink()
                    removed += 1
        return removed

    def _partial(self, place: Path, source: bytes | Path) -> Path:
        """The bytes, durable, beside their place."""
        place.parent.mkdir(parents=True, exist_ok=True)
        partial = place.with_name(f".{place.name[:40]}.{os.getpid()}-{secrets.token_hex(4)}.tmp")
        try:
            with partial.open("wb") as stream:
                if isinstance(source, bytes):
                    stream.write(source)
                else:
                    with source.open("rb") as original:
                        shutil.copyfileobj(original, stream, _CHUNK)
                stream.flush()
                os.fsync(stream.fileno())
        except BaseException:
            partial.unlink(missing_ok=True)
            raise
        return partial


def _version(data: bytes) -> Version:
    return hashlib.sha256(data).hexdigest()

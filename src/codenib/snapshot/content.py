"""Paths on disk in, digests out: each changed file is read once, stored, and then known by its stat alone."""

from __future__ import annotations

import errno
import os
import stat
import time
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from codenib.core.errors import UNDECODABLE
from codenib.snapshot.blobs import MAX_BYTES, blob_digest
from codenib.snapshot.listing import SUBMODULE, SYMLINK, Listing
from codenib.snapshot.store import LocalBlobs
from codenib.system.files import READ_SAFELY, REFUSES_LINKS

HUGE = "huge"
UNREADABLE = "unreadable"
IRREGULAR = "not a regular file"

# A file written so shortly before it was hashed may be written again without a visible change of its times.
_RACY_NS = 100_000_000

_SUM = 4  # bytes of the checksum before the cache

_GONE = (errno.ENOENT, errno.ENOTDIR)


class StatRow(msgspec.Struct, frozen=True, array_like=True):
    """What a file looked like when its digest was taken."""

    mtime_ns: int
    ctime_ns: int
    size: int
    inode: int
    digest: str

    def matches(self, now: os.stat_result) -> bool:
        return (self.mtime_ns, self.ctime_ns, self.size, self.inode) == _times(now)


class _Cache(msgspec.Struct, frozen=True):
    root: str
    object_format: str
    rows: dict[str, StatRow]


class Folder:
    """Safe reads under one root: no symbolic link is followed, nothing but regular files is opened."""

    def __init__(self, root: Path) -> None:
        self._root = os.fsencode(root)
        self._real: dict[bytes, bool] = {b"": True}

    def stat(self, path: str) -> os.stat_result | str | None:
        """The state of a regular file, the reason why it is none, or None when nothing is there."""
        name = path.encode()
        if not self._is_real(name.rpartition(b"/")[0]):
            return None
        try:
            state = os.lstat(self._root + b"/" + name)
        except OSError as error:
            return None if error.errno in _GONE else UNREADABLE
        if stat.S_ISREG(state.st_mode):
            return HUGE if state.st_size > MAX_BYTES else state
        if stat.S_ISLNK(state.st_mode):
            return SYMLINK
        return SUBMODULE if stat.S_ISDIR(state.st_mode) else IRREGULAR

    def read(self, path: str) -> tuple[bytes, os.stat_result | None] | str | None:
        """The bytes of a regular file with its state if that held still, or as `stat`."""
        name = path.encode()
        if not self._is_real(name.rpartition(b"/")[0]):
            return None
        try:
            if not REFUSES_LINKS and stat.S_ISLNK(os.lstat(self._root + b"/" + name).st_mode):
                return SYMLINK
            descriptor = os.open(self._root + b"/" + name, READ_SAFELY)
        except OSError as error:
            if error.errno in _GONE:
                return None
            return SYMLINK if error.errno == errno.ELOOP else UNREADABLE
        before = os.fstat(descriptor)
        if not stat.S_ISREG(before.st_mode):
            os.close(descriptor)  # a folder cannot even be made a file object
            return IRREGULAR
        with os.fdopen(descriptor, "rb") as file:
            try:
                data = file.read(MAX_BYTES + 1)
            except OSError:
                return UNREADABLE
            after = os.fstat(descriptor)
        if len(data) > MAX_BYTES:
            return HUGE
        return data, after if _times(before) == _times(after) else None

    def _is_real(self, folder: bytes) -> bool:
        """Whether every part of `folder` is a folder itself, not a link to one."""
        known = self._real.get(folder)
        if known is None:
            known = self._is_real(folder.rpartition(b"/")[0]) and self._is_folder(folder)
            self._real[folder] = known
        return known

    def _is_folder(self, folder: bytes) -> bool:
        try:
            return stat.S_ISDIR(os.lstat(self._root + b"/" + folder).st_mode)
        except OSError:
            return False


class Digester:
    """Digests of files under `root`, remembered in `cache` by their stat; contents go to `store`."""

    def __init__(self, root: Path, cache: Path, store: LocalBlobs, object_format: str) -> None:
        self.folder = Folder(root)
        self._cache_path = cache
        self._store = store
        self._root = str(root)
        self._format = object_format
        self._rows = self._load()

    def digest(self, wanted: Mapping[str, frozenset[str]]) -> Listing:
        """Each path of `wanted` with its digest or the reason why it has none; absent when it is gone.

        `wanted` names for each path the digests that git holds: such content is not stored a second time.
        """
        listing = Listing()
        rows: dict[str, StatRow] = {}
        unread: set[str] = set()
        for path in wanted:
            now = self.folder.stat(path)
            row = self._rows.get(path)
            if isinstance(now, str):
                listing.skipped[path] = now
            elif now is not None and row is not None and row.matches(now):
                rows[path] = row
            elif now is not None:
                unread.add(path)
        stored = self._store.known({row.digest for row in rows.values()})
        unread.update(
            path for path, row in rows.items() if row.digest not in stored and row.digest not in wanted[path]
        )
        for path in unread:
            rows.pop(path, None)
        listing.files.update((path, row.digest) for path, row in rows.items())
        self._store.put_many(self._read({path: wanted[path] for path in sorted(unread)}, listing, rows))
        if rows != self._rows:
            self._save(rows)
        return listing

    def _read(
        self, wanted: Mapping[str, frozenset[str]], listing: Listing, rows: dict[str, StatRow]
    ) -> Iterator[tuple[str, bytes]]:
        """Contents to store; fills `listing`, and `rows` where the stat can be trusted the next time."""
        for path, stored in wanted.items():
            moment = time.time_ns()
            answer = self.folder.read(path)
            if isinstance(answer, str):
                listing.skipped[path] = answer
            if not isinstance(answer, tuple):
                continue
            data, state = answer
            digest = listing.files[path] = blob_digest(data, self._format)
            if state is not None and max(state.st_mtime_ns, state.st_ctime_ns) < moment - _RACY_NS:
                rows[path] = StatRow(*_times(state), digest)
            if digest not in stored:
                yield digest, data

    def _load(self) -> dict[str, StatRow]:
        try:
            data = self._cache_path.read_bytes()
            if data[:_SUM] != _checksum(data[_SUM:]):
                return {}
            cache = msgspec.msgpack.decode(data[_SUM:], type=_Cache)
        except (OSError, *UNDECODABLE):  # every file is read again
            return {}
        return cache.rows if (cache.root, cache.object_format) == (self._root, self._format) else {}

    def _save(self, rows: dict[str, StatRow]) -> None:
        fresh = self._cache_path.with_name(f"{self._cache_path.name}.new")
        data = msgspec.msgpack.encode(_Cache(self._root, self._format, rows))
        fresh.write_bytes(_checksum(data) + data)
        fresh.replace(self._cache_path)


def _checksum(data: bytes) -> bytes:
    return zlib.crc32(data).to_bytes(_SUM, "little")


def _times(state: os.stat_result) -> tuple[int, int, int, int]:
    return state.st_mtime_ns, state.st_ctime_ns, state.st_size, state.st_ino

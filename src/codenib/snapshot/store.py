"""Contents that git does not hold (dirty files, plain folders), by digest, in one SQLite file."""

from __future__ import annotations

import fcntl
import os
import sqlite3
import threading
import weakref
import zlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

from codenib.core.errors import StateError

_BUSY_S = 60.0
# Raw bytes per transaction: others wait for milliseconds, not for a whole folder.
_BATCH_BYTES = 8 * 1024 * 1024
_VARIABLES = 500  # SQLite before 3.32 takes 999 in a statement


class LocalBlobs:
    """A content store that any number of processes share; a kill at any time loses at most the open batch."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        with self._guard():
            self._connection = _connect(path)
        self._finalizer = weakref.finalize(self, self._connection.close)

    def put_many(self, contents: Iterable[tuple[str, bytes]]) -> None:
        """Store each (digest, bytes) that is not there yet; a few megabytes at a time are in memory."""
        batch: dict[str, bytes] = {}
        size = 0
        for digest, data in contents:
            batch[digest] = data
            size += len(data)
            if size >= _BATCH_BYTES:
                self._put(batch)
                batch, size = {}, 0
        if batch:
            self._put(batch)

    def read(self, digests: Sequence[str]) -> Iterator[bytes | None]:
        """The bytes of each digest, in order; None where the store has none or a damaged one."""
        for digest in digests:
            with self._guard(), self._lock:
                row = self._connection.execute(
                    "SELECT data FROM blobs WHERE digest = ?", (digest,)
                ).fetchone()
            yield None if row is None else _unpack(row[0])

    def known(self, digests: Iterable[str]) -> set[str]:
        """Those of `digests` that are stored."""
        stored: set[str] = set()
        rest = iter(digests)
        while part := list(islice(rest, _VARIABLES)):
            marks = ",".join("?" * len(part))
            with self._guard(), self._lock:
                rows = self._connection.execute(f"SELECT digest FROM blobs WHERE digest IN ({marks})", part)
                stored.update(digest for (digest,) in rows)
        return stored

    def digests(self) -> set[str]:
        """Every digest that is stored."""
        with self._guard(), self._lock:
            return {digest for (digest,) in self._connection.execute("SELECT digest FROM blobs")}

    def delete(self, digests: Collection[str]) -> None:
        """Forget these and give their space back to the file system."""
        with self._transaction() as connection:
            connection.executemany("DELETE FROM blobs WHERE digest = ?", ((digest,) for digest in digests))
        with self._guard(), self._lock:
            self._connection.execute("PRAGMA incremental_vacuum").fetchall()

    def close(self) -> None:
        """Close the file; the store cannot be used after."""
        self._finalizer()

    def _put(self, batch: dict[str, bytes]) -> None:
        stored = self.known(batch)
        rows = [(key, zlib.compress(data, 1)) for key, data in batch.items() if key not in stored]
        if rows:
            with self._transaction() as connection:
                connection.executemany("INSERT OR IGNORE INTO blobs VALUES (?, ?)", rows)

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._guard(), self._lock:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")

    @contextmanager
    def _guard(self) -> Iterator[None]:
        """Names the file in what SQLite reports."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            raise StateError(
                f"{self.path}: {error}", hint=f"delete {self.path}; indexing fills it again"
            ) from error


def _unpack(data: bytes) -> bytes | None:
    try:
        return zlib.decompress(data)
    except zlib.error:
        return None


def _connect(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path, timeout=_BUSY_S, isolation_level=None, check_same_thread=False)
    try:
        if connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
            _create(path, connection)
        connection.execute("PRAGMA synchronous = NORMAL")
    except BaseException:
        connection.close()
        raise
    return connection


def _create(path: Path, connection: sqlite3.Connection) -> None:
    # Changing the journal mode does not wait for a busy file, so the first comers take turns at our lock.
    descriptor = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        connection.execute("CREATE TABLE IF NOT EXISTS blobs (digest TEXT PRIMARY KEY, data BLOB NOT NULL)")
        connection.execute("PRAGMA journal_mode = WAL").fetchall()
    finally:
        os.close(descriptor)

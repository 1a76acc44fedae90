"""Contents that git does not hold (dirty files, plain folders), by digest, in one SQLite file."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from codenib.core.errors import StoreFault
from codenib.snapshot.database import Database

# Raw bytes per transaction: others wait for milliseconds, not for a whole folder.
_BATCH_BYTES = 8 * 1024 * 1024
_VARIABLES = 500  # SQLite before 3.32 takes 999 in a statement
_TABLE = "CREATE TABLE IF NOT EXISTS blobs (digest TEXT PRIMARY KEY, data BLOB NOT NULL)"


class LocalBlobs:
    """A content store that any number of processes share; a kill at any time loses at most the open batch."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._database = Database(path, _TABLE)

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
        """The bytes of each digest, in order; None where the store has none.

        A damaged one is dropped, so that the next snapshot stores it again, and is a `StoreFault` now.
        """
        for digest in digests:
            row = self._database.run(lambda db, key=digest: _row(db, key))  # type: ignore[misc]
            if row is None:
                yield None
                continue
            data = _unpack(row[0])
            if data is None:
                self.delete([digest])
                raise StoreFault(
                    f"{self.path}: the content {digest} was damaged and is dropped", hint="codenib update"
                )
            yield data

    def known(self, digests: Iterable[str]) -> set[str]:
        """Those of `digests` that are stored."""
        stored: set[str] = set()
        rest = iter(digests)
        while part := list(islice(rest, _VARIABLES)):
            stored.update(self._database.run(lambda db, part=part: _known(db, part)))  # type: ignore[misc]
        return stored

    def digests(self) -> set[str]:
        """Every digest that is stored."""
        return self._database.run(lambda db: {digest for (digest,) in db.execute("SELECT digest FROM blobs")})

    def delete(self, digests: Collection[str]) -> None:
        """Forget these and give their space back to the file system."""
        keys = [(digest,) for digest in digests]
        self._database.write(lambda db: db.executemany("DELETE FROM blobs WHERE digest = ?", keys))
        self._database.shrink()

    def close(self) -> None:
        """Close the file; the store cannot be used after."""
        self._database.close()

    def _put(self, batch: dict[str, bytes]) -> None:
        stored = self.known(batch)
        rows = [(key, zlib.compress(data, 1)) for key, data in batch.items() if key not in stored]
        if rows:
            self._database.write(lambda db: db.executemany("INSERT OR IGNORE INTO blobs VALUES (?, ?)", rows))


def _row(db: sqlite3.Connection, digest: str) -> tuple[bytes] | None:
    row: tuple[bytes] | None = db.execute("SELECT data FROM blobs WHERE digest = ?", (digest,)).fetchone()
    return row


def _known(db: sqlite3.Connection, digests: Sequence[str]) -> list[str]:
    marks = ",".join("?" * len(digests))
    return [row[0] for row in db.execute(f"SELECT digest FROM blobs WHERE digest IN ({marks})", digests)]


def _unpack(data: object) -> bytes | None:
    """The content; None when it is damaged, which zlib's own checksum tells."""
    if not isinstance(data, bytes):
        return None
    try:
        return zlib.decompress(data)
    except zlib.error:
        return None

"""The derived-record cache: (deriver, version, blob digest, language hint) in, the record's bytes out.

One SQLite file serves all repositories, so branches, worktrees and clones share what was derived. Each record
has a checksum: a damaged one counts as absent, and is derived again.
"""

from __future__ import annotations

import hashlib
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from codenib.snapshot.database import Database

_BATCH = 500
_TABLE = "CREATE TABLE IF NOT EXISTS records (key BLOB PRIMARY KEY, data BLOB NOT NULL)"
_SUM = 4  # bytes of the checksum before the data
_FORM = "2"  # of a row; those of another are never asked for, and go with the next `gc`


def record_key(deriver: str, version: str, digest: str, hint: str) -> bytes:
    """The name of a record; 128 bits."""
    name = "\0".join((_FORM, deriver, version, digest, hint))
    return hashlib.blake2b(name.encode(), digest_size=16).digest()


class RecordCache:
    """Records by key. Writers batch; readers never block them (write-ahead log)."""

    def __init__(self, path: Path) -> None:
        self._database = Database(path, _TABLE)

    def close(self) -> None:
        self._database.close()

    def get(self, keys: Iterable[bytes]) -> Iterator[bytes | None]:
        """The record of each key, in order; None where there is none, or a damaged one."""
        for key in keys:
            row = self._database.run(lambda db, key=key: _row(db, key))  # type: ignore[misc]
            yield _unsealed(key, row[0]) if row else None

    def missing(self, keys: Sequence[bytes]) -> set[bytes]:
        """Those of `keys` that have no record."""
        absent = set(keys)
        for start in range(0, len(keys), _BATCH):
            part = keys[start : start + _BATCH]
            absent.difference_update(self._database.run(lambda db, part=part: _known(db, part)))  # type: ignore[misc]
        return absent

    def put(self, rows: Sequence[tuple[bytes, bytes]]) -> None:
        """Store records; the last of two writers wins, and both wrote the same."""
        sealed = [(key, _checksum(key, data) + data) for key, data in rows]
        self._database.write(
            lambda db: db.executemany("INSERT OR REPLACE INTO records VALUES (?, ?)", sealed)
        )

    def healthy(self) -> bool:
        """Whether SQLite finds its file in order."""
        return self._database.healthy() and not self._database.was_damaged

    def keep_only(self, keys: set[bytes]) -> int:
        """Drop every other record; how many went."""
        present = self._database.run(lambda db: {key for (key,) in db.execute("SELECT key FROM records")})
        gone = [(key,) for key in present - keys]
        if gone:
            self._database.write(lambda db: db.executemany("DELETE FROM records WHERE key = ?", gone))
            self._database.run(lambda db: db.execute("VACUUM"))
        return len(gone)


def _row(db: sqlite3.Connection, key: bytes) -> tuple[bytes] | None:
    row: tuple[bytes] | None = db.execute("SELECT data FROM records WHERE key = ?", (key,)).fetchone()
    return row


def _known(db: sqlite3.Connection, keys: Sequence[bytes]) -> list[bytes]:
    marks = ",".join("?" * len(keys))
    return [row[0] for row in db.execute(f"SELECT key FROM records WHERE key IN ({marks})", keys)]


def _checksum(key: bytes, data: bytes) -> bytes:
    return zlib.crc32(data, zlib.crc32(key)).to_bytes(_SUM, "little")


def _unsealed(key: bytes, stored: object) -> bytes | None:
    if not isinstance(stored, bytes) or stored[:_SUM] != _checksum(key, stored[_SUM:]):
        return None
    return stored[_SUM:]

"""The derived-record cache: (deriver, version, blob digest, language hint) in, the record's bytes out.

One SQLite file serves all repositories, so branches, worktrees and clones share what was derived.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from codenib.core.errors import StateError

_BATCH = 500


def record_key(deriver: str, version: str, digest: str, hint: str) -> bytes:
    """The name of a record; 128 bits."""
    name = "\0".join((deriver, version, digest, hint))
    return hashlib.blake2b(name.encode(), digest_size=16).digest()


class RecordCache:
    """Records by key. Writers batch; readers never block them (write-ahead log)."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._db = sqlite3.connect(path, timeout=60.0, isolation_level=None, check_same_thread=False)
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=NORMAL")
            self._db.execute("CREATE TABLE IF NOT EXISTS records (key BLOB PRIMARY KEY, data BLOB NOT NULL)")
        except sqlite3.DatabaseError as error:
            raise StateError(f"record cache {path} is damaged: {error}", hint=f"rm {path}*") from error

    def close(self) -> None:
        self._db.close()

    def get(self, keys: Iterable[bytes]) -> Iterator[bytes | None]:
        """The record of each key, in order; None where there is none."""
        for key in keys:
            row = self._db.execute("SELECT data FROM records WHERE key = ?", (key,)).fetchone()
            yield row[0] if row else None

    def missing(self, keys: Sequence[bytes]) -> set[bytes]:
        """Those of `keys` that have no record."""
        absent = set(keys)
        for start in range(0, len(keys), _BATCH):
            part = keys[start : start + _BATCH]
            marks = ",".join("?" * len(part))
            rows = self._db.execute(f"SELECT key FROM records WHERE key IN ({marks})", part)
            absent.difference_update(key for (key,) in rows)
        return absent

    def put(self, rows: Sequence[tuple[bytes, bytes]]) -> None:
        """Store records; the first of two writers wins, and both wrote the same."""
        with self._db:
            self._db.execute("BEGIN IMMEDIATE")
            self._db.executemany("INSERT OR IGNORE INTO records VALUES (?, ?)", rows)

    def healthy(self) -> bool:
        """Whether SQLite finds its file in order."""
        try:
            return bool(self._db.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok")
        except sqlite3.DatabaseError:
            return False

    def keep_only(self, keys: set[bytes]) -> int:
        """Drop every other record; how many went."""
        present = {key for (key,) in self._db.execute("SELECT key FROM records")}
        gone = [(key,) for key in present - keys]
        if gone:
            with self._db:
                self._db.execute("BEGIN IMMEDIATE")
                self._db.executemany("DELETE FROM records WHERE key = ?", gone)
            self._db.execute("VACUUM")
        return len(gone)

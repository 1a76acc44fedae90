"""The derived-record cache: (deriver, version, blob digest, language hint) in, the record's bytes out.

One SQLite file serves all repositories, so branches, worktrees and clones share what was derived.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from codenib.core.errors import StateError
from codenib.manifest.lock import exclusive

_BATCH = 500
_BUSY_S = 60.0


def record_key(deriver: str, version: str, digest: str, hint: str) -> bytes:
    """The name of a record; 128 bits."""
    name = "\0".join((deriver, version, digest, hint))
    return hashlib.blake2b(name.encode(), digest_size=16).digest()


class RecordCache:
    """Records by key. Writers batch; readers never block them (write-ahead log)."""

    def __init__(self, path: Path) -> None:
        self._path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        with self._guard():
            self._db = sqlite3.connect(path, timeout=_BUSY_S, isolation_level=None, check_same_thread=False)
            try:
                self._prepare()
            except BaseException:
                self._db.close()
                raise

    def close(self) -> None:
        self._db.close()

    def get(self, keys: Iterable[bytes]) -> Iterator[bytes | None]:
        """The record of each key, in order; None where there is none."""
        for key in keys:
            with self._guard():
                row = self._db.execute("SELECT data FROM records WHERE key = ?", (key,)).fetchone()
            yield row[0] if row else None

    def missing(self, keys: Sequence[bytes]) -> set[bytes]:
        """Those of `keys` that have no record."""
        absent = set(keys)
        for start in range(0, len(keys), _BATCH):
            part = keys[start : start + _BATCH]
            marks = ",".join("?" * len(part))
            with self._guard():
                rows = self._db.execute(f"SELECT key FROM records WHERE key IN ({marks})", part)
                absent.difference_update(key for (key,) in rows)
        return absent

    def put(self, rows: Sequence[tuple[bytes, bytes]]) -> None:
        """Store records; the last of two writers wins, and both wrote the same."""
        with self._guard(), self._db:
            self._db.execute("BEGIN IMMEDIATE")
            self._db.executemany("INSERT OR REPLACE INTO records VALUES (?, ?)", rows)

    def healthy(self) -> bool:
        """Whether SQLite finds its file in order."""
        try:
            return bool(self._db.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok")
        except sqlite3.DatabaseError:
            return False

    def keep_only(self, keys: set[bytes]) -> int:
        """Drop every other record; how many went."""
        with self._guard():
            present = {key for (key,) in self._db.execute("SELECT key FROM records")}
            gone = [(key,) for key in present - keys]
            if gone:
                with self._db:
                    self._db.execute("BEGIN IMMEDIATE")
                    self._db.executemany("DELETE FROM records WHERE key = ?", gone)
                self._db.execute("VACUUM")
        return len(gone)

    def _prepare(self) -> None:
        if self._db.execute("PRAGMA journal_mode").fetchone() != ("wal",):
            # Changing the journal mode does not wait for a busy file, so the first comers take turns.
            with exclusive(self._path.with_name(f"{self._path.name}.lock"), timeout_s=_BUSY_S):
                self._db.execute(
                    "CREATE TABLE IF NOT EXISTS records (key BLOB PRIMARY KEY, data BLOB NOT NULL)"
                )
                self._db.execute("PRAGMA journal_mode=WAL").fetchall()
        self._db.execute("PRAGMA synchronous=NORMAL")

    @contextmanager
    def _guard(self) -> Iterator[None]:
        """Names the file in what SQLite reports; only a damaged one is to be deleted."""
        try:
            yield
        except sqlite3.OperationalError as error:  # locked, full, not readable
            raise StateError(f"record cache {self._path}: {error}", hint="codenib doctor") from error
        except sqlite3.DatabaseError as error:
            raise StateError(
                f"record cache {self._path} is damaged: {error}", hint=f"rm '{self._path}'"
            ) from error

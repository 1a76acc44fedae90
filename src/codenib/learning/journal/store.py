"""Entries in, one private SQLite file of a repository out: bounded, shared by processes, and forgettable.

SQLite rather than JSON Lines: several servers write at once, the oldest entries are dropped without writing
the rest again, and a kill at any instant loses at most the batch that was being written.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

import msgspec

from codenib.core.errors import StateError
from codenib.core.text.masking import mask_recorded, mask_texts
from codenib.learning.journal.consent import MAX_BYTES, MAX_DAYS
from codenib.learning.journal.entries import CallEntry, EditEntry, JournalEntry
from codenib.runtime.providers.keys import hide
from codenib.snapshot.database import Database

_TABLE = (
    "CREATE TABLE IF NOT EXISTS entries"
    " (id INTEGER PRIMARY KEY AUTOINCREMENT, at REAL NOT NULL, worktree TEXT NOT NULL, data TEXT NOT NULL)"
)
_DAY_S = 86_400.0
_DROPPED = 10  # a full journal loses its oldest tenth at once, so that not every call must drop one
_LAST = 200  # entries among which the last call of a worktree is looked for


class JournalStore:
    """The journal of one repository."""

    def __init__(self, file: Path, *, max_bytes: int = MAX_BYTES, max_days: int = MAX_DAYS) -> None:
        self.file = file
        self._max_bytes, self._max_days = max_bytes, max_days
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # SQLite gives its log and its index beside the file the rights that the file has.
        with suppress(FileExistsError):
            os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        self._database = Database(file, _TABLE)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._database.close()

    @property
    def was_damaged(self) -> bool:
        """Whether the file was damaged when it was opened: its entries are lost, and it begins anew."""
        return self._database.was_damaged

    def append(self, entries: Sequence[JournalEntry], *, now: float | None = None) -> None:
        """Add entries without what is secret in them, then drop the oldest ones past the bounds."""
        rows = [(entry.at, entry.worktree, masked(entry)) for entry in entries]
        oldest = (time.time() if now is None else now) - self._max_days * _DAY_S

        def add(connection: sqlite3.Connection) -> bool:
            connection.executemany("INSERT INTO entries (at, worktree, data) VALUES (?, ?, ?)", rows)
            dropped = connection.execute("DELETE FROM entries WHERE at < ?", (oldest,)).rowcount > 0
            while _used_bytes(connection) > self._max_bytes and _drop_oldest(connection):
                dropped = True
            return dropped

        if self._database.write(add):
            self._database.shrink()

    def entries(self, *, since: float | None = None, until: float | None = None) -> list[JournalEntry]:
        """All entries of a stretch of time, oldest first."""
        where, values = _between(since, until)
        query = f"SELECT data FROM entries{where} ORDER BY at, id"
        rows = self._database.run(lambda connection: connection.execute(query, values).fetchall())
        return [msgspec.json.decode(data, type=CallEntry | EditEntry) for (data,) in rows]

    def last_call(self, worktree: str) -> CallEntry | None:
        """The last call of a worktree whose snapshot is known; None where the latest entries have none."""
        query = "SELECT data FROM entries WHERE worktree = ? ORDER BY id DESC LIMIT ?"
        rows = self._database.run(lambda connection: connection.execute(query, (worktree, _LAST)).fetchall())
        entries = (msgspec.json.decode(data, type=CallEntry | EditEntry) for (data,) in rows)
        for entry in entries:
            if isinstance(entry, EditEntry):
                # What happened up to its later snapshot is recorded, so the next change begins there.
                snapshot, commit = entry.after, entry.commit_after
                return CallEntry(entry.at, entry.session, worktree, "", {}, snapshot=snapshot, commit=commit)
            if entry.snapshot:
                return entry
        return None

    def __len__(self) -> int:
        query = "SELECT count(*) FROM entries"
        return int(self._database.run(lambda connection: connection.execute(query).fetchone()[0]))

    @property
    def size_bytes(self) -> int:
        """What the entries take, without SQLite's log, which stays below a few megabytes."""
        return self._database.run(_used_bytes)

    def forget(self, *, since: float | None = None, until: float | None = None) -> int:
        """Remove entries for good: their bytes are overwritten, in the file and in the log. How many.

        A `StateError` where they are removed and their bytes are not, as another process reads the file.
        """
        where, values = _between(since, until)

        def remove(connection: sqlite3.Connection) -> int:
            return connection.execute(f"DELETE FROM entries{where}", values).rowcount

        def overwrite(connection: sqlite3.Connection) -> bool:
            connection.execute("VACUUM")
            return bool(connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0])

        self._database.run(lambda connection: connection.execute("PRAGMA secure_delete = ON").fetchall())
        removed = self._database.write(remove)
        if self._database.run(overwrite):
            raise StateError(
                f"{removed} entries are removed, but another process reads the journal: their bytes are "
                "still in its file",
                hint="end it, then `codenib journal forget` again",
            )
        return removed


def masked(entry: JournalEntry) -> str:
    """The entry as JSON, without secrets of known formats and without keys of providers."""
    return msgspec.json.encode(mask_texts(msgspec.to_builtins(entry), mask_entry_text)).decode()


def mask_entry_text(text: str) -> str:
    """A text of an entry without secrets; the whole one, as a part may not tell what it is of."""
    return hide(mask_recorded(text))


def _between(since: float | None, until: float | None) -> tuple[str, tuple[float, ...]]:
    bounds = [("at >= ?", since), ("at < ?", until)]
    given = [(words, value) for words, value in bounds if value is not None]
    where = " AND ".join(words for words, _ in given)
    return (f" WHERE {where}" if where else ""), tuple(value for _, value in given)


def _used_bytes(connection: sqlite3.Connection) -> int:
    pages, free, size = (
        int(connection.execute(f"PRAGMA {name}").fetchone()[0])
        for name in ("page_count", "freelist_count", "page_size")
    )
    return (pages - free) * size


def _drop_oldest(connection: sqlite3.Connection) -> bool:
    """Remove the oldest tenth, at least one; False when there is none left."""
    count = connection.execute("SELECT count(*) FROM entries").fetchone()[0]
    oldest = "DELETE FROM entries WHERE id IN (SELECT id FROM entries ORDER BY at, id LIMIT ?)"
    return connection.execute(oldest, (-(-count // _DROPPED),)).rowcount > 0

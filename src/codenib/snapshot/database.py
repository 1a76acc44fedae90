"""A path and a table in, one SQLite file that any number of processes share out.

What is in such a file can be derived again, so a damaged one is dropped and made anew on the way. Whatever
else SQLite reports (full, locked, not readable) is a `StoreFault` that names the file.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from codenib.core.errors import StoreFault
from codenib.system.files import open_flags
from codenib.system.locks import LOCKS

BUSY_S = 60.0
_HINT = "codenib doctor"
#: SQLite's codes of a file that is not, or no longer, a database; the last is a file that ends too early.
_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_SHORT_READ = sqlite3.SQLITE_IOERR_SHORT_READ
_LOST = ("no such table", "no such column", "has no column", "Could not decode")
_CANNOT_WRITE = (errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOSPC, errno.EDQUOT)
_NEEDS_SPACE = (
    *(sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_FULL),
    *(sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY),
)

ValueT = TypeVar("ValueT")


class Database:
    """A connection for all threads of a process; a kill at any time loses at most the open transaction."""

    def __init__(self, path: Path, table: str) -> None:
        """`table` creates the one table; it is kept when it is there."""
        self.path = path
        self.was_damaged = False
        self._refused = ""  # why it is open for reading alone
        self._table = table
        self._inode = 0
        self._lock = threading.RLock()
        self._finalizer: Callable[[], object] = _nothing
        with self._reported():
            try:
                self._connect()
            except sqlite3.Error as error:
                if not is_damage(error):
                    raise
                self._make_anew()

    def run(self, work: Callable[[sqlite3.Connection], ValueT]) -> ValueT:
        """What `work` gives; asked again of an empty file when the file turns out to be damaged."""
        with self._lock, self._reported():
            try:
                return work(self._connection)
            except sqlite3.Error as error:
                if not is_damage(error):
                    return self._read_despite(error, work)
            self._make_anew()
            return work(self._connection)

    def _read_despite(self, error: sqlite3.Error, work: Callable[[sqlite3.Connection], ValueT]) -> ValueT:
        """What `work` gives where it only reads and the disk takes nothing any more; else the error."""
        if not isinstance(error, sqlite3.OperationalError) or not _cannot_write(error):
            raise error
        try:
            with closing(self._connect_for_reading()) as connection:
                return work(connection)
        except sqlite3.Error:
            raise error from None

    def write(self, work: Callable[[sqlite3.Connection], ValueT]) -> ValueT:
        """As `run`, in a transaction of its own."""
        return self.run(lambda connection: _in_transaction(connection, work))

    def shrink(self) -> None:
        """Give the pages that nothing uses back to the file system."""
        # As a script: a plain `execute` takes one step, and this statement frees one page a step.
        self.run(lambda connection: connection.executescript("PRAGMA incremental_vacuum"))

    def healthy(self) -> bool:
        """Whether SQLite finds its file in order."""
        with self._lock:
            try:
                return bool(self._connection.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok")
            except sqlite3.DatabaseError:
                return False

    def close(self) -> None:
        """Close the file; it cannot be used after."""
        self._finalizer()

    def _connect(self) -> None:
        """Open the file, and create it where there is none; nobody can drop it meanwhile."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with _locked(self.path, shared=True):
                self._inode = _inode(self.path)  # another one later is another process's, made anew
                connection = _opened(str(self.path))
                ready = self._is_ready(connection)
            if not ready:
                self._create(connection)
        except (OSError, sqlite3.OperationalError) as error:
            if not _cannot_write(error):
                raise
            self._refused = str(error)
            try:
                connection = self._connect_for_reading()
                connection.execute("SELECT name FROM sqlite_master").fetchall()
            except sqlite3.Error:
                raise error from None
        self._connection = connection
        self._inode = _inode(self.path)
        self._finalizer = weakref.finalize(self, connection.close)

    def _is_ready(self, connection: sqlite3.Connection) -> bool:
        try:
            connection.execute("PRAGMA synchronous = NORMAL")
            return bool(connection.execute("PRAGMA journal_mode").fetchone() == ("wal",))
        except BaseException:
            connection.close()
            raise

    def _create(self, connection: sqlite3.Connection) -> None:
        # Changing the journal mode does not wait for a busy file, so the first comers take turns at our lock.
        try:
            with _locked(self.path, shared=False):
                connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
                connection.execute(self._table)
                connection.execute("PRAGMA journal_mode = WAL").fetchall()
        except BaseException:
            connection.close()
            raise

    def _connect_for_reading(self) -> sqlite3.Connection:
        """What is there, where nothing can be written: the file as it is, or an empty one in memory."""
        if not self.path.exists():
            connection = _opened(":memory:")
            connection.execute(self._table)
            connection.execute("PRAGMA query_only = ON")  # what is put there would be lost
            return connection
        # Without a log beside it the file is all there is, and SQLite need not write a lock next to it.
        alone = "" if Path(f"{self.path}-wal").exists() else "&immutable=1"
        return _opened(f"{self.path.absolute().as_uri()}?mode=ro{alone}", uri=True)

    def _make_anew(self) -> None:
        """Drop the damaged file, unless another process did, and open an empty one."""
        self.was_damaged = True
        self.close()
        with _locked(self.path, shared=False):
            if _inode(self.path) == self._inode:
                for name in ("", "-wal", "-shm", "-journal"):
                    Path(f"{self.path}{name}").unlink(missing_ok=True)
        self._connect()

    @contextmanager
    def _reported(self) -> Iterator[None]:
        """Names the file in what goes wrong."""
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            readonly = getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_READONLY
            what = self._refused if readonly and self._refused else error
            raise StoreFault(f"{self.path}: {what}", hint=_HINT) from error


def _cannot_write(error: OSError | sqlite3.OperationalError) -> bool:
    """Whether a file may be readable all the same: SQLite writes beside a file also to read it."""
    if isinstance(error, OSError):
        return error.errno in _CANNOT_WRITE
    code = error.sqlite_errorcode
    return code & 0xFF in _NEEDS_SPACE and not is_damage(error)


def is_damage(error: sqlite3.Error) -> bool:
    """Whether SQLite says that the file is damaged, not that it is full, locked or unreadable."""
    code = getattr(error, "sqlite_errorcode", None)
    if code is not None and (code & 0xFF in _DAMAGE or code == _SHORT_READ):
        return True
    return any(lost in str(error) for lost in _LOST)


def _in_transaction(connection: sqlite3.Connection, work: Callable[[sqlite3.Connection], ValueT]) -> ValueT:
    connection.execute("BEGIN IMMEDIATE")
    try:
        value = work(connection)
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):  # a full disk or a damaged file has ended it already
            connection.execute("ROLLBACK")
        raise
    return value


def _opened(name: str, *, uri: bool = False) -> sqlite3.Connection:
    return sqlite3.connect(name, timeout=BUSY_S, isolation_level=None, check_same_thread=False, uri=uri)


def _inode(path: Path) -> int:
    try:
        return path.stat().st_ino
    except FileNotFoundError:
        return 0


@contextmanager
def _locked(path: Path, *, shared: bool) -> Iterator[None]:
    descriptor = os.open(f"{path}.lock", open_flags("O_RDWR", "O_CREAT", "O_CLOEXEC"), 0o600)
    try:
        LOCKS.acquire(descriptor, shared=shared, wait=True)
        yield
    finally:
        LOCKS.release(descriptor)
        os.close(descriptor)


def _nothing() -> None:
    """What a file that was never opened does when it is closed."""

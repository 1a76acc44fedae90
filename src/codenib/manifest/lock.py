"""One writer per repository: an advisory file lock, which the kernel releases when its holder dies."""

from __future__ import annotations

import errno
import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from codenib.core.errors import StateError, fault_of

_POLL_S = 0.02


@contextmanager
def exclusive(path: Path, *, timeout_s: float) -> Iterator[None]:
    """Hold the lock at `path`; wait at most `timeout_s` for another holder."""
    with _locked(path, fcntl.LOCK_EX, timeout_s):
        yield


@contextmanager
def shared(path: Path, *, timeout_s: float) -> Iterator[None]:
    """Hold the lock together with other `shared` holders, against `exclusive` ones."""
    with _locked(path, fcntl.LOCK_SH, timeout_s):
        yield


def is_taken(path: Path) -> bool:
    """Whether somebody holds the lock at `path` exclusively."""
    try:
        handle = os.open(path, os.O_RDWR)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False


@contextmanager
def _locked(path: Path, mode: int, timeout_s: float) -> Iterator[None]:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        if mode == fcntl.LOCK_SH and error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
            yield  # nobody can write here, so nothing is swept while we read
            return
        raise fault_of(error) from error
    try:
        _acquire(handle, mode, path, timeout_s)
        if mode == fcntl.LOCK_EX:
            _sign(handle, f"{os.getpid()}\n")
        try:
            yield
        finally:
            if mode == fcntl.LOCK_EX:  # whoever waits for shared holders must not blame us
                _sign(handle, "")
    finally:
        os.close(handle)


def _sign(handle: int, holder: str) -> None:
    """Say who holds the lock, for messages; it is held without that, also where nothing can be written."""
    with suppress(OSError):
        os.ftruncate(handle, 0)  # a holder that was killed may have left a longer number
        os.pwrite(handle, holder.encode(), 0)


def _acquire(handle: int, mode: int, path: Path, timeout_s: float) -> None:
    deadline = time.monotonic() + timeout_s
    while True:
        try:
            fcntl.flock(handle, mode | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() >= deadline:
                holder = os.pread(handle, 20, 0).partition(b"\n")[0].decode(errors="replace")
                who = f"process {holder}" if holder else "another codenib process"
                raise StateError(
                    f"{who} still holds {path} after {timeout_s:g} s", hint="try again when it is done"
                ) from None
            time.sleep(_POLL_S)

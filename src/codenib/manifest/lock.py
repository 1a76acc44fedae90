"""One writer per repository: an advisory file lock, which the kernel releases when its holder dies."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from codenib.core.errors import StateError, fault_of
from codenib.system.files import open_flags
from codenib.system.locks import LOCKS

_POLL_S = 0.02


@contextmanager
def exclusive(path: Path, *, timeout_s: float) -> Iterator[None]:
    """Hold the lock at `path`; wait at most `timeout_s` for another holder."""
    with _locked(path, timeout_s, shared=False):
        yield


@contextmanager
def shared(path: Path, *, timeout_s: float) -> Iterator[None]:
    """Hold the lock together with other `shared` holders, against `exclusive` ones."""
    with _locked(path, timeout_s, shared=True):
        yield


def is_taken(path: Path) -> bool:
    """Whether somebody holds the lock at `path` exclusively."""
    try:
        handle = os.open(path, open_flags("O_RDWR"))
    except OSError:
        return False
    try:
        return not LOCKS.acquire(handle, shared=True, wait=False)
    finally:
        _close(handle)


@contextmanager
def _locked(path: Path, timeout_s: float, *, shared: bool) -> Iterator[None]:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, open_flags("O_RDWR", "O_CREAT"), 0o600)
    except OSError as error:
        if shared and error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
            yield  # nobody can write here, so nothing is swept while we read
            return
        raise fault_of(error) from error
    try:
        _acquire(handle, path, timeout_s, shared=shared)
        if not shared:
            _sign(handle, f"{os.getpid()}\n")
        try:
            yield
        finally:
            if not shared:  # whoever waits for shared holders must not blame us
                _sign(handle, "")
    finally:
        _close(handle)


def _close(handle: int) -> None:
    LOCKS.release(handle)
    os.close(handle)


def _sign(handle: int, holder: str) -> None:
    """Say who holds the lock, for messages; it is held without that, also where nothing can be written."""
    with suppress(OSError):
        os.ftruncate(handle, 0)  # a holder that was killed may have left a longer number
        os.lseek(handle, 0, os.SEEK_SET)
        os.write(handle, holder.encode())


def _acquire(handle: int, path: Path, timeout_s: float, *, shared: bool) -> None:
    deadline = time.monotonic() + timeout_s
    while not LOCKS.acquire(handle, shared=shared, wait=False):
        if time.monotonic() >= deadline:
            os.lseek(handle, 0, os.SEEK_SET)
            holder = os.read(handle, 20).partition(b"\n")[0].decode(errors="replace")
            who = f"process {holder}" if holder else "another codenib process"
            raise StateError(
                f"{who} still holds {path} after {timeout_s:g} s", hint="try again when it is done"
            )
        time.sleep(_POLL_S)

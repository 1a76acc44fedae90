"""An open file in, an advisory lock on it out, which the system releases when its holder dies.

POSIX has `flock`. Windows has locks on ranges of bytes that are exclusive, so that a shared holder takes one
byte of a range and an exclusive one takes all of it.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from typing import Protocol, cast

_POLL_S = 0.02
#: Far behind what a lock file holds: Windows lets nobody read bytes that another has locked.
_FIRST = 1 << 30
_SHARED = 64  # holders at once; the next one waits


class FileLocks(Protocol):
    """How this system locks files."""

    def acquire(self, descriptor: int, *, shared: bool, wait: bool) -> bool:
        """Lock the file, alone or with other shared holders; False when that takes waiting."""
        ...

    def release(self, descriptor: int) -> None:
        """Let go of the lock; closing the file does too, but Windows takes its time then."""
        ...


class Msvcrt(Protocol):
    """What we use of the module `msvcrt`."""

    LK_NBLCK: int
    LK_UNLCK: int

    def locking(self, fd: int, mode: int, nbytes: int, /) -> None: ...


class WholeFileLocks:
    """POSIX: `flock`."""

    def acquire(self, descriptor: int, *, shared: bool, wait: bool) -> bool:
        import fcntl

        mode = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
        try:
            fcntl.flock(descriptor, mode if wait else mode | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def release(self, descriptor: int) -> None:
        """Closing the file is enough."""


class ByteRangeLocks:
    """Windows: `msvcrt.locking`, which locks bytes from the file's position on, also behind its end."""

    def __init__(self, msvcrt: Msvcrt) -> None:
        self._msvcrt = msvcrt
        self._taken: dict[int, tuple[int, int]] = {}  # descriptor → first byte and how many

    def acquire(self, descriptor: int, *, shared: bool, wait: bool) -> bool:
        ranges = [(_FIRST + at, 1) for at in range(_SHARED)] if shared else [(_FIRST, _SHARED)]
        while True:
            for first, count in ranges:
                if self._call(descriptor, self._msvcrt.LK_NBLCK, first, count):
                    self._taken[descriptor] = (first, count)
                    return True
            if not wait:
                return False
            time.sleep(_POLL_S)

    def release(self, descriptor: int) -> None:
        taken = self._taken.pop(descriptor, None)
        if taken is not None:
            self._call(descriptor, self._msvcrt.LK_UNLCK, *taken)

    def _call(self, descriptor: int, mode: int, first: int, count: int) -> bool:
        before = os.lseek(descriptor, 0, os.SEEK_CUR)
        try:
            os.lseek(descriptor, first, os.SEEK_SET)
            with suppress(OSError):  # somebody has one of these bytes
                self._msvcrt.locking(descriptor, mode, count)
                return True
            return False
        finally:
            os.lseek(descriptor, before, os.SEEK_SET)


def _of_this_system() -> FileLocks:
    try:
        import fcntl  # noqa: F401 - whether it is there
    except ImportError:
        import msvcrt  # not on the systems that are type-checked

        return ByteRangeLocks(cast(Msvcrt, msvcrt))
    return WholeFileLocks()


LOCKS = _of_this_system()

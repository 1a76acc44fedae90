"""`msvcrt.locking` as Windows has it, for one process: exclusive locks on ranges of bytes."""

from __future__ import annotations

import errno
import os

LK_UNLCK, LK_LOCK, LK_NBLCK = 0, 1, 2
#: (device, inode) → (descriptor, first byte, one past the last) of every lock
_held: dict[tuple[int, int], list[tuple[int, int, int]]] = {}


def locking(fd: int, mode: int, nbytes: int, /) -> None:
    """Lock or unlock bytes from the file's position on; an error where somebody has one of them."""
    state = os.fstat(fd)
    held = _held.setdefault((state.st_dev, state.st_ino), [])
    first = os.lseek(fd, 0, os.SEEK_CUR)
    row = (fd, first, first + nbytes)
    if mode == LK_UNLCK:
        if row not in held:
            raise OSError(errno.EACCES, "not locked")
        held.remove(row)
        return
    assert mode == LK_NBLCK
    if any(first < end and begin < first + nbytes for _, begin, end in held):
        raise OSError(errno.EACCES, "locked")
    held.append(row)

"""A server's process in, one whose memory stays flat out: glibc gives back what was freed.

By itself glibc opens an area for each of the threads, and raises the size from which a block is given back to
the system to 32 MB: arrays of views that were closed after an edit stayed. On other systems nothing is done.
"""

from __future__ import annotations

import ctypes
import sys

_ARENA_MAX, _MMAP_THRESHOLD, _TRIM_THRESHOLD = -8, -3, -1  # of mallopt(3)
_AREAS = 2
_BLOCK_BYTES = 256 * 1024


def settle_allocator() -> None:
    """Tell the allocator; before there are threads."""
    if sys.platform != "linux":
        return
    library = ctypes.CDLL(None)
    if not hasattr(library, "mallopt"):  # another C library
        return
    settings = ((_ARENA_MAX, _AREAS), (_MMAP_THRESHOLD, _BLOCK_BYTES), (_TRIM_THRESHOLD, 4 * _BLOCK_BYTES))
    for name, value in settings:
        library.mallopt(name, value)

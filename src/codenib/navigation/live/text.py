"""Columns as a server counts them in, columns in code points out, and back; the text of files on disk.

A byte order mark is no part of the text, as in editors: columns of the first line do not count it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import OrderedDict
from functools import cached_property
from pathlib import Path
from threading import Lock
from time import time_ns
from typing import Literal, NamedTuple

Encoding = Literal["utf-8", "utf-16", "utf-32"]
ENCODINGS: tuple[Encoding, ...] = ("utf-16", "utf-8", "utf-32")
_LINE_END = re.compile("\r\n|\n|\r")
# Two writes within one tick of the file system's clock (4 or 10 ms on Linux) leave the same time of change.
_TICK_NS = 100_000_000
_CACHED_FILES = 256


class Stamp(NamedTuple):
    """What a stat says of a file's content; equal stamps mean equal content unless the write is recent."""

    mtime_ns: int
    ctime_ns: int
    size: int
    inode: int

    def is_recent(self) -> bool:
        """Whether another write could still leave the same stamp."""
        return time_ns() - self.mtime_ns < _TICK_NS


def stamp_of(path: Path) -> Stamp | None:
    """The stamp of a file, or None where there is none."""
    try:
        info = path.stat()
    except (OSError, ValueError):
        return None
    return Stamp(info.st_mtime_ns, info.st_ctime_ns, info.st_size, info.st_ino)


def units_of(line: str, column: int, encoding: Encoding) -> int:
    """How many units of `encoding` stand before the code point `column`.

    >>> units_of("a𝕏b", 2, "utf-16"), units_of("a𝕏b", 2, "utf-8"), units_of("a𝕏b", 2, "utf-32")
    (3, 5, 2)
    """
    if encoding == "utf-32" or line.isascii():
        return min(column, len(line))
    head = line[:column]
    if encoding == "utf-8":
        return len(head.encode("utf-8", "surrogatepass"))
    return len(head) + sum(char > "\uffff" for char in head)


def column_of(line: str, units: int, encoding: Encoding) -> int:
    """The code point that starts at or holds unit number `units`; the line's length past its end.

    >>> column_of("a𝕏b", 3, "utf-16"), column_of("a𝕏b", 5, "utf-8"), column_of("a𝕏b", 99, "utf-16")
    (2, 2, 3)
    """
    if encoding == "utf-32" or line.isascii():
        return min(units, len(line))
    starts = [0]
    for char in line:
        size = len(char.encode("utf-8", "surrogatepass")) if encoding == "utf-8" else 1 + (char > "\uffff")
        starts.append(starts[-1] + size)
    return bisect_right(starts, units) - 1


class SourceText:
    """A file's text with its lines, cut as the protocol cuts them: at LF, CR LF and CR alone."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.stamp = Stamp(0, 0, 0, 0)

    @cached_property
    def text(self) -> str:
        """The text; bytes that are not UTF-8 are replaced."""
        return self.data.decode("utf-8-sig", "replace")

    @cached_property
    def lines(self) -> list[str]:
        """The lines without their ends; a text that ends with a line end has an empty last line."""
        return _LINE_END.split(self.text)

    def column(self, line: int, units: int, encoding: Encoding) -> int:
        """The column in code points; `line` is 0-based. Past the last line there is only column 0."""
        return column_of(self.lines[line], units, encoding) if line < len(self.lines) else 0


class DiskTexts:
    """The text of files as they are on disk now, read again when they changed. Safe for several threads."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._cache: OrderedDict[str, tuple[SourceText, bool]] = OrderedDict()
        self._lock = Lock()

    def read(self, path: str) -> SourceText | None:
        """The text now; None where there is no such file. The same value while the content is the same."""
        with self._lock:
            found = self._read(path)
            if found is None:
                self._cache.pop(path, None)
                return None
            self._cache[path] = (found, found.stamp.is_recent())
            self._cache.move_to_end(path)
            if len(self._cache) > _CACHED_FILES:
                self._cache.popitem(last=False)
            return found

    def _read(self, path: str) -> SourceText | None:
        file = self._root / path
        stamp = stamp_of(file)  # before the bytes: a write in between shows at the next call
        cached, recent = self._cache.get(path, (None, True))
        if stamp is None or (cached is not None and stamp == cached.stamp and not recent):
            return cached if stamp else None
        try:
            data = file.read_bytes()
        except OSError:
            return None
        found = cached if cached is not None and cached.data == data else SourceText(data)
        found.stamp = stamp
        return found

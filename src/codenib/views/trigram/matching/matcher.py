"""A compiled pattern and a text in, the lines that match out: here, or in a process that can be killed.

Imports the standard library and `regex` alone: run as a program (`python -P matcher.py`) it is the worker of
`workers.py`, which must start fast. The time limit of `regex` itself is looked at every 65,536 steps, which
for a long line are seconds, so that a pattern which may explode is matched in a worker.
"""

from __future__ import annotations

import json
import os
import struct
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from queue import SimpleQueue
from typing import IO, Any, NamedTuple

import regex  # type: ignore[import-untyped]

Span = tuple[int, int]
_SIZE = struct.Struct(">I")
_MEMORY_BYTES = 1_000_000_000  # of a worker's address space
_GRACE_S = 2  # of processor time beyond its limit, should nobody be there to kill it


class Deadline:
    """A point in time; asking what is left after it raises `TimeoutError`."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def left_s(self) -> float:
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left


class MatchedLine(NamedTuple):
    """Where a line stands in its text, without the line break, and all matches in it as columns."""

    start: int
    end: int
    spans: tuple[Span, ...]


class Matcher(NamedTuple):
    """One of four ways to find matching lines.

    `needles` where the pattern is one of a few plain texts; else `scan`, which runs over a whole text and
    takes each line with a hit to its end; else each line is tried alone. `line` decides what matches in a
    line; where `exact`, a hit of `scan` is proof enough. Where `multiline`, a hit of `scan` may end in a
    later line, and all lines from its first to its last are one result.
    """

    line: Any
    needles: tuple[str, ...] = ()
    scan: Any = None
    exact: bool = False
    multiline: bool = False

    def lines(self, text: str, deadline: Deadline) -> Iterator[Span]:
        """Start and end of each line of `text` that matches, in order; an end does not count the "\\n"."""
        if self.multiline:
            yield from self._blocks(text, deadline)
            return
        if self.needles:
            yield from _needle_lines(self.needles, text)
            return
        lines = _all_lines(text) if self.scan is None else self._hit_lines(text, deadline)
        for start, end in lines:
            if self.exact or self._matches(text[start:end], deadline):
                yield start, end

    def spans(self, line: str, deadline: Deadline) -> tuple[Span, ...]:
        """All matches in a line, as columns."""
        return tuple(
            match.span() for match in self.line.finditer(line, timeout=deadline.left_s(), concurrent=True)
        )

    def matched(self, text: str, most: int | None, deadline: Deadline) -> tuple[list[MatchedLine], int]:
        """The first `most` lines that match, and how many there are."""
        rows: list[MatchedLine] = []
        count = 0
        for start, end in self.lines(text, deadline):
            if most is None or count < most:
                rows.append(MatchedLine(start, end, self.spans(text[start:end], deadline)))
            count += 1
        return rows, count

    def _hit_lines(self, text: str, deadline: Deadline) -> Iterator[Span]:
        # One `finditer` a text, not one `search` a hit: setting a time-out up costs 1.8 us.
        line_end = -1
        # `concurrent`: other threads go on meanwhile, however long it takes.
        for match in self.scan.finditer(text, timeout=deadline.left_s(), concurrent=True):
            if match.start() <= line_end:  # an empty match where the last one ended
                continue
            if match.start() == len(text) and (not text or text.endswith("\n")):
                return
            start, line_end = _line_at(text, match.start())
            yield start, line_end

    def _blocks(self, text: str, deadline: Deadline) -> Iterator[Span]:
        """The lines of each match; matches that share a line are one block."""
        start = end = -1
        for match in self.scan.finditer(text, timeout=deadline.left_s(), concurrent=True):
            if match.start() == len(text) and (not text or text.endswith("\n")):
                break
            first = text.rfind("\n", 0, match.start()) + 1
            last = _line_at(text, max(match.end() - 1, match.start()))[1]
            if first <= end:
                end = max(end, last)
                continue
            if end >= 0:
                yield start, end
            start, end = first, last
        if end >= 0:
            yield start, end

    def _matches(self, line: str, deadline: Deadline) -> bool:
        return self.line.search(line, timeout=deadline.left_s(), concurrent=True) is not None


def _needle_lines(needles: tuple[str, ...], text: str) -> Iterator[Span]:
    if len(needles) == 1:
        return _lines_with(needles[0], text)
    return iter(sorted({span for needle in needles for span in _lines_with(needle, text)}))


def _lines_with(needle: str, text: str) -> Iterator[Span]:
    found = text.find(needle)
    while found >= 0:
        start, end = _line_at(text, found)
        yield start, end
        found = text.find(needle, end + 1)


def _all_lines(text: str) -> Iterator[Span]:
    at = 0
    while at < len(text):
        start, end = _line_at(text, at)
        yield start, end
        at = end + 1


def _line_at(text: str, position: int) -> Span:
    start = text.rfind("\n", 0, position) + 1
    end = text.find("\n", position)
    return start, end if end >= 0 else len(text)


# -- the wire between `workers.py` and a worker: frames with their length before them


def write_frame(wire: IO[bytes], data: bytes) -> None:
    """Send one frame."""
    wire.write(_SIZE.pack(len(data)))
    wire.write(data)
    wire.flush()


def read_frame(wire: IO[bytes]) -> bytes:
    """The next frame; `EOFError` when the other side is gone."""
    head = wire.read(_SIZE.size)
    size = _SIZE.unpack(head)[0] if len(head) == _SIZE.size else -1
    data = wire.read(max(size, 0))
    if len(data) != size:
        raise EOFError
    return data


def _main() -> None:
    """Answer tasks until the other side is gone; then end at once, also in the middle of a match."""
    frames: SimpleQueue[bytes] = SimpleQueue()

    def receive() -> None:
        with suppress(EOFError, OSError):
            while True:
                frames.put(read_frame(sys.stdin.buffer))
        os._exit(0)

    _limit_memory()
    threading.Thread(target=receive, daemon=True).start()
    while True:
        task = json.loads(frames.get())
        deadline = Deadline(task["timeout_s"])
        _limit_processor(task["timeout_s"])
        matcher = None
        try:
            scan = regex.compile(task["scan"], task["scan_flags"]) if task["scan"] else None
            matcher = Matcher(
                regex.compile(task["line"], task["flags"]),
                scan=scan,
                exact=task["exact"],
                multiline=task["multiline"],
            )
            answer: dict[str, Any] = {"ready": True}
        except regex.error as error:
            answer = {"error": error.msg, "position": error.pos}
        except (RecursionError, OverflowError, MemoryError) as error:
            answer = {"error": f"too large ({error})", "position": None}
        write_frame(sys.stdout.buffer, json.dumps(answer).encode())
        while matcher is not None and (batch := frames.get()):
            for row in _answers(matcher, batch, deadline):
                write_frame(sys.stdout.buffer, json.dumps(row).encode())


def _answers(matcher: Matcher, batch: bytes, deadline: Deadline) -> Iterator[dict[str, Any]]:
    """The matches in each text of a batch: a line with the wanted number and the sizes, then the texts."""
    head, _, data = batch.partition(b"\n")
    most, sizes = json.loads(head)
    at = 0
    try:
        for size in sizes:
            deadline.left_s()
            lines, count = matcher.matched(data[at : at + size].decode("utf-8"), most, deadline)
            most = None if most is None else most - len(lines)
            at += size
            yield {"lines": lines, "count": count}
    except TimeoutError:
        yield {"stopped": "time"}
    except MemoryError:
        yield {"stopped": "memory"}


def _limit_memory() -> None:
    with suppress(ImportError, ValueError, OSError):  # not on every system
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))


def _limit_processor(seconds: float) -> None:
    """The kernel ends this process when it has worked for so long from now on."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        used = resource.getrusage(resource.RUSAGE_SELF)
        limit = int(used.ru_utime + used.ru_stime + seconds) + _GRACE_S
        resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))


if __name__ == "__main__":
    _main()

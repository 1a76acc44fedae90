"""Give every line to exactly one leaf: an outline in, rows out."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import groupby, pairwise
from typing import NamedTuple

from codenib.core.source import Level, UnitRow
from codenib.units.outline import PIECE_LINES, Definition, Outline

REST_LINES = 60  # about the size of a large function, so that rest units compete fairly with callables
_SLACK = 1.25
Starts = Callable[[Sequence[bytes], int, int], list[int]]
# A unit of a class's last brace would match every search for the class's name.
_TRIVIAL = re.compile(
    rb"\s*(?:(?:[(){}\[\];,]+|end|(?:public|private|protected)\s*:|</\w+>|#\s*(?:endif|else)\b)"
    rb"\s*(?://.*|/\*.*)?)?$"
)
_CLOSERS = (b")", b"]", b"}", b"end", b"#endif", b"#else")
_COMMENTS = (b"//", b"#", b"/*", b"*", b"--", b"@")


def partition(lines: Sequence[bytes], outline: Outline) -> list[UnitRow]:
    """The rows of a file of code: the file, its containers, what is nested, leaves over each line once."""
    rows = [file_row(lines)]
    rows += [
        UnitRow(unit.first, unit.last, Level.L1, unit.kind, unit.symbol, leaf=False)
        for unit in outline.containers
    ]
    rest: list[Definition | None] = [None, *outline.containers]
    for start, end, owner, test in _runs(lines, outline):
        if owner >= len(rest):
            leaf = outline.leaves[owner - len(rest)]
            pieces = cut(start, last_filled(lines, start, end), PIECE_LINES)
            level, kind, symbol = Level.L2, leaf.kind, leaf.symbol
        else:
            container = rest[owner]
            pieces = split(lines, start, last_filled(lines, start, end), statement_starts)
            level, kind = Level.L1, "body" if container else "module"
            symbol = container.symbol if container else ""
        pieces[-1] = (pieces[-1][0], end)
        rows += [UnitRow(first, last, level, kind, symbol, test=test) for first, last in pieces]
    rows += [
        UnitRow(each.first, each.last, Level.L2, each.kind, each.symbol, leaf=False)
        for each in outline.nested
    ]
    return sorted(rows, key=_order)


def file_row(lines: Sequence[bytes]) -> UnitRow:
    """The row of a whole file, around the rows of its parts."""
    return UnitRow(1, len(lines), Level.L0, "file", leaf=False)


def _order(row: UnitRow) -> tuple[int, int, int]:
    return row.start_line, int(row.leaf), -row.end_line


class _Run(NamedTuple):
    """Lines with one owner: 0 is the file, then come the containers, then the leaves; all tests or none."""

    first: int
    last: int
    owner: int
    test: bool


def _runs(lines: Sequence[bytes], outline: Outline) -> list[_Run]:
    """The runs of a file, in order; blank lines go with the line above."""
    total = len(lines)
    owners = [0] * (total + 1)
    for owner, unit in enumerate(outline.containers, 1):
        owners[unit.first : unit.last + 1] = [owner] * (unit.last - unit.first + 1)
    free = 1
    for owner, unit in enumerate(outline.leaves, len(outline.containers) + 1):
        first = max(unit.first, free)  # a line with two definitions is the first one's
        if first <= unit.last:
            owners[first : unit.last + 1] = [owner] * (unit.last - first + 1)
            free = unit.last + 1
    tests = bytearray(total + 1)
    for begin, end in outline.tests:
        tests[begin : end + 1] = b"\1" * (end + 1 - begin)
    owners = [owner * 2 + test for owner, test in zip(owners, tests, strict=True)]
    current = next((owners[number] for number in range(1, total + 1) if lines[number - 1].strip()), 0)
    for number in range(1, total + 1):
        if not lines[number - 1] or lines[number - 1].isspace():
            owners[number] = current
        current = owners[number]
    return _merged(lines, owners, len(outline.containers))


def _merged(lines: Sequence[bytes], owners: Sequence[int], containers: int) -> list[_Run]:
    """Runs of `owners` (doubled, odd for tests); rest lines that only close go with the run above."""
    runs: list[_Run] = []
    start = 1
    for packed, run in groupby(owners[1:]):
        end = start + sum(1 for _ in run) - 1
        owner, test = packed >> 1, bool(packed & 1)
        trivial = owner <= containers and all(map(_TRIVIAL.match, lines[start - 1 : end]))
        if runs and (trivial or (owner, test) == runs[-1][2:]):
            runs[-1] = runs[-1]._replace(last=end)
        else:
            runs.append(_Run(start, end, owner, test))
        start = end + 1
    return runs


def last_filled(lines: Sequence[bytes], start: int, end: int) -> int:
    """The last line of start..end that is not blank; `start` if all are."""
    while end > start and not lines[end - 1].strip():
        end -= 1
    return end


def cut(start: int, end: int, limit: int) -> list[tuple[int, int]]:
    """start..end in equal pieces of at most `limit` lines."""
    total = end - start + 1
    count = max(1, -(-total // limit))
    bounds = [start + total * number // count for number in range(count + 1)]
    return [(first, after - 1) for first, after in pairwise(bounds)]


def split(lines: Sequence[bytes], start: int, end: int, starts: Starts) -> list[tuple[int, int]]:
    """start..end in pieces near `REST_LINES` that begin where `starts` allows, none above `PIECE_LINES`."""
    if end - start + 1 <= REST_LINES * _SLACK:
        return [(start, end)]
    bounds = [start]
    best = start
    for line in [*starts(lines, start, end), end + 1]:
        if line - bounds[-1] > REST_LINES and best > bounds[-1]:
            bounds.append(best)
        best = line
    if len(bounds) > 1 and end - bounds[-1] < REST_LINES // 5:  # no crumb at the end
        bounds.pop()
    pieces: list[tuple[int, int]] = []
    for first, after in zip(bounds, [*bounds[1:], end + 1], strict=True):
        if after - first > REST_LINES * 2 and starts is not paragraph_starts:
            pieces += split(lines, first, after - 1, paragraph_starts)
        else:
            pieces += cut(first, after - 1, PIECE_LINES)
    return pieces


def statement_starts(lines: Sequence[bytes], start: int, end: int) -> list[int]:
    """Lines of start..end that begin a statement: least indented, closing nothing, below no comment."""
    least = min(_indent(lines[number - 1]) for number in range(start, end + 1) if lines[number - 1].strip())
    starts = []
    above = b""
    for number in range(start, end + 1):
        line = lines[number - 1].strip()
        outer = bool(line) and _indent(lines[number - 1]) == least
        if outer and not line.startswith(_CLOSERS) and not above.startswith(_COMMENTS):
            starts.append(number)
        above = line
    return starts


def paragraph_starts(lines: Sequence[bytes], start: int, end: int) -> list[int]:
    """Lines of start..end below a blank line."""
    numbers = range(start + 1, end + 1)
    return [number for number in numbers if lines[number - 1].strip() and not lines[number - 2].strip()]


def _indent(line: bytes) -> int:
    return len(line) - len(line.lstrip())

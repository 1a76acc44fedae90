"""Columns of an engine in (UTF-16 units or bytes), columns in code points out, changed in place."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from codenib.views.graph.facts.rows import Ints, Rows

#: Rows with named columns, and the (line, column) pairs of them.
Table = tuple[Rows, Sequence[tuple[str, str]]]


def to_code_points(text: bytes, encoding: str, *tables: Table) -> None:
    """Rewrite every column on a line that is not ASCII; all others already are code points."""
    if encoding == "utf-32" or text.isascii():
        return
    if encoding not in ("utf-8", "utf-16"):
        raise ValueError(f"unknown encoding of columns: {encoding}")
    maps = {
        number: offsets(line, encoding) for number, line in enumerate(text.split(b"\n")) if not line.isascii()
    }
    wide = np.zeros(text.count(b"\n") + 2, bool)
    wide[list(maps)] = True
    for rows, pairs in tables:
        for line, column in pairs:
            lines, columns = np.minimum(rows[line], len(wide) - 1), rows[column]
            for row in np.flatnonzero(wide[lines]).tolist():
                known = maps[int(lines[row])]
                columns[row] = known[min(int(columns[row]), len(known) - 1)]


def offsets(line: bytes, encoding: str) -> list[int]:
    """For each column of a line in units of `encoding`, the column in code points; one more for its end."""
    found: list[int] = []
    count = 0
    for count, char in enumerate(line.decode("utf-8", "replace"), 1):
        width = len(char.encode()) if encoding == "utf-8" else (2 if ord(char) > 0xFFFF else 1)
        found += [count - 1] * width
    return [*found, count]


def from_code_points(text: bytes, encoding: str, places: Ints) -> list[tuple[int, int]]:
    """Lines and columns in code points as an engine writes them: the other way round."""
    rows = [(int(line), int(column)) for line, column in places.tolist()]
    if encoding in ("utf-32", "") or text.isascii():
        return rows
    lines = text.split(b"\n")
    codec, width = ("utf-8", 1) if encoding == "utf-8" else ("utf-16-le", 2)
    found = []
    for line, column in rows:
        if line < len(lines) and not lines[line].isascii():
            head = lines[line].decode("utf-8", "replace")[:column]
            column = len(head.encode(codec, "replace")) // width
        found.append((line, column))
    return found

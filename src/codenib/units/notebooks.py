"""A Jupyter notebook in, its cells out: only what people wrote into cells is text, at its own lines.

Outputs hold plots in base64 and repeat what the code does; they and the metadata are lines without words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from codenib.core.source import Level, UnitRow
from codenib.units.partition import cut, file_row

NOTEBOOK = "notebook"
OUTPUT = "output"  # the kind of lines that are no cell's source
_CELL_LINES = 300
_TITLE = 60
_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\],:]', re.S)


@dataclass(slots=True)
class Cell:
    """A cell: its lines in the file, whether it is prose, and its text as people wrote it."""

    first: int
    last: int
    prose: bool = False
    text: list[str] = field(default_factory=list)

    @property
    def title(self) -> str:
        """The heading of a cell of prose."""
        heading = re.match(r"\s*#+\s*(.+)", "".join(self.text)) if self.prose else None
        return heading[1].strip()[:_TITLE] if heading else ""


def cells_of(data: bytes) -> list[Cell]:
    """The cells with a source, in order; none where the bytes are no notebook."""
    cells: dict[tuple[str | int, ...], Cell] = {}
    prose: set[tuple[str | int, ...]] = set()
    line, counted = 1, 0
    for path, start, end in strings_in(data):
        place = 2 if path[:1] == ("worksheets",) else 0  # as notebooks were until 2014
        if path[place : place + 1] != ("cells",) or len(path) < place + 3:
            continue
        key, what = path[: place + 2], path[place + 2]
        if what == "cell_type" and data[start:end] != b'"code"':
            prose.add(key)
        elif what in ("source", "input") and len(path) <= place + 4:
            line += data.count(b"\n", counted, start)
            counted = start
            cell = cells.setdefault(key, Cell(line, line))
            cell.last = line
            cell.text.append(_decoded(data[start:end]))
    for key, cell in cells.items():
        cell.prose = key in prose
    return [cell for cell in cells.values() if "".join(cell.text).strip()]


def cell_at(data: bytes, line: int) -> tuple[int, int] | None:
    """The number of the cell that a line of the file is of, and of the line in the cell; all are 1-based.

    None for a line of no cell, and where cells share lines.
    """
    found = [
        (number, line - cell.first + 1)
        for number, cell in enumerate(cells_of(data), 1)
        if cell.first <= line <= cell.last
    ]
    return found[0] if len(found) == 1 else None


def sources_only(data: bytes) -> bytes:
    """The notebook with all lines emptied that hold no source of a cell; as it is when it is none."""
    cells = cells_of(data)
    if not cells:
        return data
    lines = data.split(b"\n")
    kept = [b""] * len(lines)
    for cell in cells:
        kept[cell.first - 1 : cell.last] = lines[cell.first - 1 : cell.last]
    return b"\n".join(kept)


def notebook_rows(data: bytes, lines: Sequence[bytes]) -> list[UnitRow]:
    """A leaf for each cell, called by its number and heading; the lines between are leaves without words."""
    rows = [file_row(lines)]
    free = 1
    for number, cell in enumerate(cells_of(data), 1):
        first = max(cell.first, free)  # a notebook on one line is its first cell's
        if first > cell.last:
            continue
        if first > free:
            rows.append(UnitRow(free, first - 1, Level.L1, OUTPUT))
        symbol = f"cell {number}: {cell.title}" if cell.title else f"cell {number}"
        pieces = cut(first, cell.last, _CELL_LINES)
        rows += [UnitRow(begin, end, Level.L1, "cell", symbol) for begin, end in pieces]
        free = cell.last + 1
    if free <= len(lines):
        rows.append(UnitRow(free, len(lines), Level.L1, OUTPUT))
    return rows


def strings_in(data: bytes) -> Iterator[tuple[tuple[str | int, ...], int, int]]:
    """Each string value with the keys and indexes that lead to it, and its bytes with the quotes."""
    path: list[str | int] = []
    is_key = False
    for token in _TOKEN.finditer(data):
        match token[0]:
            case b"{":
                path.append("")
                is_key = True
            case b"[":
                path.append(0)
                is_key = False
            case b"}" | b"]":
                if not path:
                    return
                path.pop()
                is_key = False
            case b",":
                if not path:
                    return
                last = path[-1]
                is_key = isinstance(last, str)
                if isinstance(last, int):
                    path[-1] = last + 1
            case b":":
                is_key = False
            case text if is_key and path:
                path[-1] = _decoded(text)
            case _:
                yield tuple(path), token.start(), token.end()


def _decoded(string: bytes) -> str:
    try:
        text = str(json.loads(string))
    except ValueError:
        return ""
    return text.encode("utf-8", "replace").decode()  # half of a surrogate pair is no text

"""A place in, ranked units that resemble the one there out: a search for its own text, without itself."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from codenib.core.answers import Answer
from codenib.core.errors import InputError
from codenib.core.requests import SearchRequest
from codenib.core.source import UnitRow
from codenib.serving.navigation.positions import parse_place
from codenib.serving.snapshots.reader import split_lines

if TYPE_CHECKING:
    from codenib.serving.search.searcher import Searcher
    from codenib.serving.snapshots.pool import Snapshots

_LONGEST = 4000  # characters of a unit that are searched for; of a longer one its beginning says most


def search_similar(searcher: Searcher, snapshots: Snapshots, request: SearchRequest) -> Answer:
    """Units like the one at `request.like`; tests count as they are, since a test is like other tests."""
    if request.query:
        raise InputError("give a query or a place, not both", hint="codenib search --like FILE:LINE")
    place = parse_place(request.like)
    pinned, _ = snapshots.pin(None, request.snapshot)
    extracted, text = pinned.units(place.target)
    line = place.line or 1
    row = _unit_at(extracted.rows, line)
    if row is None:
        raise InputError(f"{place.target} has no unit at line {line}", hint=f"codenib units {place.target}")
    lines = split_lines(text)[row.start_line - 1 : row.end_line]
    query = "\n".join([row.symbol, *lines])[:_LONGEST]
    tests = request.tests or "include"
    asked = replace(request, query=query, like="", k=request.k + 1, tests=tests)
    answer = searcher.search(asked)
    others = tuple(
        item
        for item in answer.items
        if item.path != place.target or item.end_line < row.start_line or item.start_line > row.end_line
    )
    own = len(answer.items) - len(others)
    items = others[: request.k]
    total = answer.total - own
    return replace(answer, items=items, total=total, truncated=total > len(items))


def _unit_at(rows: tuple[UnitRow, ...], line: int) -> UnitRow | None:
    """The leaf that holds a line: what a search would list."""
    around = [row for row in rows if row.leaf and row.start_line <= line <= row.end_line]
    return min(around, key=lambda row: row.end_line - row.start_line, default=None)

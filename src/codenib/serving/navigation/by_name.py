"""A name in, places of that name out: the answer when nothing resolves, labelled as such.

Declarations come from the lexical view's units, places from the trigram view.
"""

from __future__ import annotations

import re

from codenib.core.answers import Evidence
from codenib.core.navigation import Location, Position
from codenib.core.requests import NavigationQuestion, RegexRequest, SnapshotRequest
from codenib.core.views import ViewKind
from codenib.serving.navigation.positions import words_of
from codenib.serving.search.evidence import unit_evidence
from codenib.serving.search.names import unit_names
from codenib.serving.search.regex import search_regex
from codenib.serving.snapshots.pool import Snapshots

_SEPARATORS = re.compile(r"::|[.#/:]")


def places_of_name(
    snapshots: Snapshots, question: NavigationQuestion, name: str, request: SnapshotRequest
) -> tuple[Location, ...]:
    """Declarations of a name, or every place with it, in order."""
    if question == "definition":
        places = [(each.path, each.line, each.column) for each in declarations(snapshots, name, request)]
    else:
        pattern = RegexRequest(rf"\b{re.escape(name)}\b", k=None, snapshot=request)
        matches = search_regex(snapshots, pattern).items
        places = [(match.path, match.line, start) for match in matches for start, _ in match.spans]
    return tuple(
        Location(path, line, column, line, column + len(name)) for path, line, column in sorted(places)
    )


def declarations(snapshots: Snapshots, symbol: str, request: SnapshotRequest) -> list[Position]:
    """Where units with this (dotted) name first say it."""
    parts = [part for part in _SEPARATORS.split(symbol) if part]
    if not parts:
        return []
    pinned, _ = snapshots.pin(ViewKind.LEXICAL, request)
    names, view = unit_names(pinned), pinned.lexical
    named = [unit_evidence(view, unit) for unit in names.units(parts[-1]).tolist()]
    named += [each.narrowed(unit_evidence(view, each.unit)) for each in names.nested(parts[-1])]
    positions = set()
    for unit in named:
        if _fits(unit, parts):
            lines = pinned.text(unit.path).split("\n")
            position = _first_mention(lines, unit, parts[-1])
            positions |= {position} if position else set()
    return sorted(positions)


def _first_mention(lines: list[str], unit: Evidence, name: str) -> Position | None:
    for line in range(unit.start_line, min(unit.end_line, len(lines)) + 1):
        for column, word in words_of(lines[line - 1]):
            if word == name:
                return Position(unit.path, line, column)
    return None


def _fits(item: Evidence, parts: list[str]) -> bool:
    full = [part for part in _SEPARATORS.split(f"{item.path.rsplit('.', 1)[0]}/{item.symbol}") if part]
    return bool(item.symbol) and full[-len(parts) :] == parts


def name_at(line: str, column: int) -> str:
    """The name that stands at a column of a line; empty when there is none."""
    return next((word for start, word in words_of(line) if start <= column <= start + len(word)), "")

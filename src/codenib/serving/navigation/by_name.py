"""A name in, every place of that name out: the answer when nothing resolves, labelled as such."""

from __future__ import annotations

import re

from codenib.core.navigation import Location
from codenib.core.requests import RegexRequest, SnapshotRequest
from codenib.core.source import Mark
from codenib.serving.navigation.positions import words_of
from codenib.serving.search.regex import search_regex
from codenib.serving.snapshots.pool import Snapshots
from codenib.units.languages import language_hint
from codenib.units.marks import marks_of


def places_of_name(
    snapshots: Snapshots, name: str, path: str, request: SnapshotRequest
) -> tuple[Location, ...]:
    """Every place with a name, from the trigram view: those in the language of `path` first, prose last."""
    if not name:
        return ()
    pattern = RegexRequest(rf"\b{re.escape(name)}\b", k=None, snapshot=request)
    matches = search_regex(snapshots, pattern).items
    language = language_hint(path)
    order = {
        each: (language_hint(each) != language, bool(marks_of(each) & Mark.PROSE), each)
        for each in {match.path for match in matches}
    }
    return tuple(
        Location(match.path, match.line, start, match.line, start + len(name))
        for match in sorted(matches, key=lambda match: (order[match.path], match.line))
        for start, _ in match.spans
    )


def name_at(line: str, column: int) -> str:
    """The name that stands at a column of a line; empty when there is none."""
    return next((word for start, word in words_of(line) if start <= column <= start + len(word)), "")

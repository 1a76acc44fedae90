"""A name in, every place of that name out: the answer when nothing resolves, labelled as such."""

from __future__ import annotations

import re
from collections.abc import Collection

from codenib.core.facts import BY_NAME
from codenib.core.navigation import Location
from codenib.core.requests import RegexRequest, SnapshotRequest
from codenib.core.source import Mark
from codenib.core.views import ViewKind
from codenib.serving.navigation.positions import words_of
from codenib.serving.search.regex import search_regex
from codenib.serving.snapshots.pool import Snapshots
from codenib.units.languages import language_hint
from codenib.units.marks import marks_of

_TIMEOUT_S = 2.0  # for names in files that no engine resolved: there are few


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
        Location(match.path, match.line, start, match.line, start + len(name), scope=BY_NAME)
        for match in sorted(matches, key=lambda match: (order[match.path], match.line))
        for start, _ in match.spans
    )


def places_in_files(
    snapshots: Snapshots, name: str, paths: Collection[str], request: SnapshotRequest
) -> tuple[Location, ...]:
    """Every place with a name in some files, in order."""
    if not name or not paths:
        return ()
    pinned, _ = snapshots.pin(ViewKind.TRIGRAM, request)
    wanted = frozenset(paths)
    matches = pinned.trigram.search(
        rf"\b{re.escape(name)}\b", paths=wanted.__contains__, limit=None, timeout_s=_TIMEOUT_S
    )
    return tuple(
        Location(match.path, match.line, start, match.line, end, scope=BY_NAME)
        for match in matches.items
        for start, end in match.spans
    )


def name_at(line: str, column: int) -> str:
    """The name that stands at a column of a line; empty when there is none."""
    return next((word for start, word in words_of(line) if start <= column <= start + len(word)), "")

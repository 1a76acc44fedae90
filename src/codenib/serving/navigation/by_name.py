"""A name in, every place of that name out: the answer when nothing resolves, labelled as such."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codenib.core.facts import BY_NAME
from codenib.core.navigation import Location, Position
from codenib.core.requests import RegexRequest, SnapshotRequest
from codenib.core.source import Mark
from codenib.core.views import ViewKind
from codenib.serving.navigation.positions import words_of
from codenib.serving.search.regex import search_regex
from codenib.serving.snapshots.pool import Snapshots
from codenib.units.languages import language_hint
from codenib.units.marks import marks_of

if TYPE_CHECKING:
    from codenib.views.graph.read import GraphView

_SEARCH_S = 2.0  # for places of a name in files that nobody resolved


@dataclass(frozen=True, slots=True)
class NamedPlaces:
    """Places that have a name and that nobody resolved, in order.

    They are not `whole` where the time for searching files was over before the last.
    """

    places: tuple[Location, ...] = ()
    whole: bool = True

    @property
    def unknown(self) -> int:
        """How many places there may be, at least."""
        return len(self.places) + (not self.whole)

    @property
    def note(self) -> str:
        """What was not looked at, in words; empty where everything was."""
        return "" if self.whole else "there was no time to search every file for the name"


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
    snapshots: Snapshots,
    name: str,
    paths: Collection[str],
    request: SnapshotRequest,
    *,
    timeout_s: float = _SEARCH_S,
) -> NamedPlaces:
    """Every place with a name in some files, in order."""
    if not name or not paths:
        return NamedPlaces()
    pinned, _ = snapshots.pin(ViewKind.TRIGRAM, request)
    wanted = frozenset(paths)
    matches = pinned.trigram.search(
        rf"\b{re.escape(name)}\b", paths=wanted.__contains__, limit=None, timeout_s=timeout_s
    )
    places = tuple(
        Location(match.path, match.line, start, match.line, end, scope=BY_NAME)
        for match in matches.items
        for start, end in match.spans
    )
    return NamedPlaces(places, whole=matches.complete)


def unknown_name_at(graph: GraphView, position: Position) -> str:
    """The name in code at a position where its engine does not know what it is; empty where it does."""
    from codenib.views.graph.unresolved import unknown_within

    for each in unknown_within(graph, position.path, position.line, position.line):
        if each.column <= position.column <= each.column + len(each.name):
            return each.name
    return ""


def count_unknown_calls(graph: GraphView, path: str, first: int, last: int) -> int:
    """How many calls on some lines of a file have a name of which the engine does not know what it is."""
    from codenib.views.graph.facts.code_names import Use
    from codenib.views.graph.unresolved import unknown_within

    return sum(each.use is Use.CALL for each in unknown_within(graph, path, first, last))


def name_at(line: str, column: int) -> str:
    """The name that stands at a column of a line; empty when there is none."""
    return next((word for start, word in words_of(line) if start <= column <= start + len(word)), "")

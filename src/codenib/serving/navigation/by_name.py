"""A name in, every place of that name out: the answer when nothing resolves, labelled as such."""

from __future__ import annotations

import re
import time
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codenib.core.facts import BY_NAME
from codenib.core.navigation import Location, Position
from codenib.core.requests import RegexRequest, SnapshotRequest
from codenib.core.source import Mark
from codenib.core.views import ViewKind
from codenib.navigation.cpp.tokens import lex
from codenib.navigation.identifiers import identifiers, identifiers_at
from codenib.serving.navigation.positions import words_of
from codenib.serving.search.regex import search_regex
from codenib.serving.snapshots.pool import Snapshots
from codenib.units.languages import language_hint
from codenib.units.marks import marks_of
from codenib.units.notebook_code import NOTEBOOK_SUFFIX, as_python

if TYPE_CHECKING:
    from codenib.serving.snapshots.pinned import PinnedSnapshot
    from codenib.views.graph.read import GraphView

_READ_AT_ONCE = 20
_CALLED = re.compile(r"\s*\(")
_PLAIN = re.compile(r"\w+")
_OF_NAME = re.compile(r"[\w$]")


@dataclass(frozen=True, slots=True)
class Patience:
    """For how long places of a name are looked for: searching files, then looking at what they have there."""

    search_s: float = 2.0
    look_s: float = 0.2  # of processor time


PATIENCE = Patience()


@dataclass(frozen=True, slots=True)
class NamedPlaces:
    """Places that have a name and that nobody resolved, in order; `left` counts those not looked at.

    They are not `whole` where the time for searching files was over before the last.
    """

    places: tuple[Location, ...] = ()
    left: int = 0
    whole: bool = True

    @property
    def unknown(self) -> int:
        """How many places there may be, at least."""
        return len(self.places) + self.left + (not self.whole)

    @property
    def note(self) -> str:
        """What was not looked at, in words; empty where everything was."""
        left = f"{self.left:,} further places of the name were not looked at" if self.left else ""
        rest = "" if self.whole else "there was no time to search every file for the name"
        return "; ".join(filter(None, (left, rest)))


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
    patience: Patience = PATIENCE,
) -> NamedPlaces:
    """Every place with a name in some files, in order."""
    if not name or not paths:
        return NamedPlaces()
    pinned, _ = snapshots.pin(ViewKind.TRIGRAM, request)
    wanted = frozenset(paths)
    matches = pinned.trigram.search(
        rf"\b{re.escape(name)}\b", paths=wanted.__contains__, limit=None, timeout_s=patience.search_s
    )
    places = tuple(
        Location(match.path, match.line, start, match.line, end, scope=BY_NAME)
        for match in matches.items
        for start, end in match.spans
    )
    return NamedPlaces(places, whole=matches.complete)


def unknown_tokens(
    snapshots: Snapshots,
    graph: GraphView,
    name: str,
    paths: Collection[str],
    request: SnapshotRequest,
    *,
    patience: Patience = PATIENCE,
) -> NamedPlaces:
    """Where code of resolved files has a name and the engine does not know what it is there, in order.

    Such are uses through values whose types are not known.
    """
    from codenib.views.graph.navigate import is_guess, places_without_meaning

    if not name or not paths:
        return NamedPlaces()
    pinned, _ = snapshots.pin(ViewKind.TRIGRAM, request)
    wanted = frozenset(paths)
    # Without looking around, which only another process may do: starting one takes longer than all the rest.
    matches = pinned.trigram.search(
        rf"\b{name}\b" if _PLAIN.fullmatch(name) else re.escape(name),
        paths=wanted.__contains__,
        limit=None,
        timeout_s=patience.search_s,
    )
    deadline = time.thread_time() + patience.look_s  # the view may just have been built
    named: dict[str, list[tuple[int, int]]] = {}
    for match in matches.items:
        whole = [start for start, end in match.spans if _is_whole(match.text, start, end)]
        if whole:
            named.setdefault(match.path, []).extend((match.line, start) for start in whole)
    unknown: dict[str, list[tuple[int, int]]] = {}
    left = 0
    for path, found in named.items():
        if time.thread_time() > deadline:
            left += len(found)
        elif nameless := places_without_meaning(graph, path, found):
            unknown[path] = nameless
    places: list[Location] = []
    files = list(unknown)
    for first in range(0, len(files), _READ_AT_ONCE):
        names = files[first : first + _READ_AT_ONCE]
        if time.thread_time() > deadline:
            left += sum(len(unknown[path]) for path in names)
            continue
        for path, text in zip(names, pinned.texts(names), strict=True):
            tokens = _tokens(path, text, name, unknown[path])
            places += [
                Location(path, line, at, line, at + len(name), scope=BY_NAME)
                for line, at in unknown[path]
                if (line, at) in tokens or is_guess(graph, Position(path, line, at))
            ]
    return NamedPlaces(tuple(places), left, matches.complete)


def _is_whole(line: str, start: int, end: int) -> bool:
    """Whether no name goes on before or behind a part of a line; `$` is a letter of names, too."""
    return not (_OF_NAME.match(line, start - 1) if start else None) and not _OF_NAME.match(line, end)


def unknown_name_at(pinned: PinnedSnapshot, position: Position) -> str:
    """The name in code at a position where its engine does not know what it is; empty where it does."""
    from codenib.views.graph.navigate import has_meaning

    text = pinned.text(position.path)
    words = words_of(text.split("\n")[position.line - 1])
    start, name = next(
        ((start, word) for start, word in words if start <= position.column <= start + len(word)), (0, "")
    )
    if not name or has_meaning(pinned.graph, Position(position.path, position.line, start)):
        return ""
    place = (position.line, start)
    return name if place in _tokens(position.path, text, name, [place]) else ""


def count_unknown_calls(pinned: PinnedSnapshot, path: str, first: int, last: int) -> int:
    """How many calls on some lines of a file have a name of which the engine does not know what it is."""
    from codenib.views.graph.navigate import has_meaning

    text = pinned.text(path)
    lines = text.split("\n")
    return sum(
        1
        for line, at, word in _identifiers(path, text)
        if first <= line <= last
        and _CALLED.match(lines[line - 1], at + len(word))
        and not has_meaning(pinned.graph, Position(path, line, at))
    )


def _tokens(path: str, text: str, name: str, places: Collection[tuple[int, int]]) -> set[tuple[int, int]]:
    """The lines and columns of `places` where code has a name; the bodies of macros are code too."""
    if path.endswith(NOTEBOOK_SUFFIX):
        return identifiers_at(as_python(text.encode()) or b"", "python", places)
    language = language_hint(path)
    found = identifiers_at(text.encode(), language, places)
    if language in ("c", "cpp"):
        tokens = lex(text, is_c=path.endswith(".c"))
        found |= {(each.line + 1, each.column) for each in tokens if each.text == name}
    return found


def _identifiers(path: str, text: str) -> list[tuple[int, int, str]]:
    if path.endswith(NOTEBOOK_SUFFIX):
        return identifiers(as_python(text.encode()) or b"", "python")
    return identifiers(text.encode(), language_hint(path))


def name_at(line: str, column: int) -> str:
    """The name that stands at a column of a line; empty when there is none."""
    return next((word for start, word in words_of(line) if start <= column <= start + len(word)), "")

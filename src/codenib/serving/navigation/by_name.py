"""A name in, every place of that name out: the answer when nothing resolves, labelled as such."""

from __future__ import annotations

import re
import time
from collections.abc import Collection
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

_TIMEOUT_S = 2.0  # for names in files that no engine resolved: there are few
_UNKNOWN_S = 0.2  # of processor time, for names in all others that no engine knows
_READ_AT_ONCE = 20
_CALLED = re.compile(r"\s*\(")


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


def unknown_tokens(
    snapshots: Snapshots, graph: GraphView, name: str, paths: Collection[str], request: SnapshotRequest
) -> tuple[tuple[Location, ...], int]:
    """Where code of resolved files has a name and the engine does not know what it is there, in order.

    Such are uses through values whose types are not known. The second value counts places that were not
    looked at, as there are too many.
    """
    from codenib.views.graph.navigate import has_meaning, is_guess

    if not name or not paths:
        return (), 0
    pinned, _ = snapshots.pin(ViewKind.TRIGRAM, request)
    pattern = rf"(?<![\w$]){re.escape(name)}(?![\w$])"
    wanted = frozenset(paths)
    matches = pinned.trigram.search(pattern, paths=wanted.__contains__, limit=None, timeout_s=_TIMEOUT_S)
    deadline = time.thread_time() + _UNKNOWN_S  # the view may just have been built
    unknown: dict[str, list[tuple[int, int]]] = {}
    guesses: set[tuple[str, int, int]] = set()  # tokens of code for certain
    left = 0
    for match in matches.items:
        for start, _ in match.spans:
            if time.thread_time() > deadline:
                left += 1
                continue
            place = Position(match.path, match.line, start)
            if is_guess(graph, place):
                guesses.add((match.path, match.line, start))
            if (match.path, match.line, start) in guesses or not has_meaning(graph, place):
                unknown.setdefault(match.path, []).append((match.line, start))
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
                if (line, at) in tokens or (path, line, at) in guesses
            ]
    return tuple(places), left


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

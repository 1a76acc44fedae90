"""The last graph of a worktree and the files as they are now in, that graph's answers in today's lines out.

Engines that run bring a graph up to an edit in milliseconds; engines that must start take seconds. A question
does not wait for them: what the graph knew is shifted to the lines as they are now, lines that changed are
looked through by name, and the answer lists the files that the graph is behind.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from codenib.core.navigation import Location, Meaning, Position, SortedLocations
from codenib.core.requests import NeighboursRequest, SnapshotRequest
from codenib.core.source import Mark
from codenib.core.symbols import GraphAnswer, Symbol, SymbolEdge
from codenib.core.views import ViewKind
from codenib.serving.navigation.by_name import name_at
from codenib.serving.navigation.meanings import meanings_by_name, meanings_in_graph
from codenib.serving.navigation.neighbours import neighbours
from codenib.serving.navigation.positions import last_name
from codenib.serving.navigation.resolve import PlaceResolver, resolved_group
from codenib.serving.navigation.syntactic_neighbours import NeighboursByName, append_named
from codenib.units.marks import marks_of
from codenib.views.history.lines import Lines, hunks_between

if TYPE_CHECKING:
    from codenib.serving.snapshots.pinned import PinnedSnapshot
    from codenib.serving.snapshots.pool import Snapshots
_NAMED = 3  # files that a note lists


@dataclass(frozen=True, slots=True)
class LineShift:
    """How the lines of one text became those of another."""

    hunks: Lines  # old start, old count, new start, new count, as git counts them

    def line_now(self, line: int) -> int | None:
        """Where a line is now; None where it was changed or removed.

        >>> shift = LineShift(hunks_between(["a", "b", "c"], ["a", "x", "y", "c"]))
        >>> [shift.line_now(line) for line in (1, 2, 3)]
        [1, None, 4]
        """
        return _moved(line, self.hunks[:, :2], self.hunks[:, 2:])

    def line_before(self, line: int) -> int | None:
        """Where a line was; None where it is new or changed."""
        return _moved(line, self.hunks[:, 2:], self.hunks[:, :2])

    def nearest_now(self, line: int) -> int:
        """Where a line is now, or what stands where it was."""
        return next(
            (each for each in map(self.line_now, range(line, 0, -1)) if each is not None),
            1,
        )


class LaggingGraph:
    """A graph of an earlier snapshot, asked about the files of a later one."""

    def __init__(self, before: PinnedSnapshot, now: PinnedSnapshot) -> None:
        self.before = before
        self.now = now
        self._shifts: dict[str, LineShift] = {}

    @cached_property
    def behind(self) -> tuple[str, ...]:
        """The files that changed, came or went since, and those that the graph itself is behind.

        Prose has no facts.
        """
        old, new = self.before.files.items(), self.now.files.items()
        differing = {path for path, _ in old ^ new if not marks_of(path) & Mark.PROSE}
        return tuple(sorted(differing.union(self.before.graph.about.behind)))

    @property
    def note(self) -> str:
        """One line on what the graph does not know yet."""
        if not self.behind:
            return ""
        files = f"{len(self.behind)} file{'s' * (len(self.behind) > 1)}"
        named = ", ".join(self.behind[:_NAMED]) + ", …" * (len(self.behind) > _NAMED)
        return f"the graph is {files} behind ({named}): lines that changed there are by name; codenib update"

    def position_before(self, position: Position) -> Position | None:
        """The same position in the graph's own text; None where its line is new or changed."""
        line = self._shift(position.path).line_before(position.line) if self._both(position.path) else None
        return replace(position, line=line) if line is not None else None

    def known_before(self, position: Position) -> Position | None:
        """Where the graph knows what stands at a position now: there, or where it declares that name.

        None where no engine resolved the file, or the name means nothing or several things to the graph.
        """
        if resolved_group(self.before, position.path) is None:
            return None
        before = self.position_before(position)
        if before is not None:
            return before
        name = name_at(self.now.text(position.path).split("\n")[position.line - 1], position.column)
        meanings = meanings_in_graph(self.before, name) if name else []
        here = [each for each in meanings if each.place.path == position.path] or meanings
        if len(here) != 1:
            return None
        return Position(here[0].place.path, here[0].place.line, here[0].place.column)

    def where_before(
        self, places: PlaceResolver, where: str | Position, name: str, snapshot: SnapshotRequest
    ) -> str | Position | None:
        """What a caller wrote, as the graph can be asked: a symbol or file as it is, a place where it was."""
        path = places.path_of(where)
        if isinstance(where, str) and (where == path and not name):
            is_known = path in self.before.files or bool(meanings_in_graph(self.before, path))
            return where if is_known else None
        return self.known_before(places.position(self.now, where, name, snapshot))

    def place_now(self, place: Location) -> Location | None:
        """A place of the graph in the text as it is now; None where its line changed or went."""
        if not self._both(place.path):
            return None
        line = self._shift(place.path).line_now(place.line)
        if line is None:
            return None
        return replace(place, line=line, end_line=line + place.end_line - place.line)

    def is_new(self, path: str, line: int) -> bool:
        """Whether the graph does not know a line of the text as it is now."""
        return not self._both(path) or self._shift(path).line_before(line) is None

    def places_now(self, matches: SortedLocations, by_name: Sequence[Location]) -> SortedLocations:
        """The places that are still there, and those of that name on lines that the graph does not know."""
        known = [each for each in map(self.place_now, matches.locations) if each is not None]
        new = [each for each in by_name if each.path in self.behind and self.is_new(each.path, each.line)]
        places = tuple(sorted({*known, *new}))
        return replace(matches, locations=places, total=len(places))

    def answer_now(self, answer: GraphAnswer) -> GraphAnswer:
        """Symbols and edges where they are now; those of files that went are left out."""
        symbols = [
            self._symbol_now(each) for each in answer.symbols if each.path in self.now.files or not each.group
        ]
        listed = {each.id for each in symbols}
        edges = [
            self._edge_now(each)
            for each in answer.edges
            if each.path in self.now.files and {each.source, each.to} <= listed
        ]
        note = "; ".join(filter(None, (answer.note, self.note)))
        gone = len(answer.symbols) - len(symbols)
        return replace(
            answer,
            symbols=tuple(symbols),
            edges=tuple(edges),
            snapshot=self.now.ref,
            total=answer.total - gone,
            note=note,
            behind=self.behind,
        )

    def _symbol_now(self, symbol: Symbol) -> Symbol:
        if not self._both(symbol.path) or not symbol.group:
            return symbol
        shift = self._shift(symbol.path)
        first = shift.nearest_now(symbol.line)
        return replace(symbol, line=first, end_line=max(first, shift.nearest_now(symbol.end_line)))

    def _edge_now(self, edge: SymbolEdge) -> SymbolEdge:
        return (
            replace(edge, line=self._shift(edge.path).nearest_now(edge.line))
            if self._both(edge.path)
            else edge
        )

    def _both(self, path: str) -> bool:
        return path in self.before.files and path in self.now.files

    def _shift(self, path: str) -> LineShift:
        if path not in self._shifts:
            hunks: Lines = np.zeros((0, 4), np.int64)
            if self.before.files[path] != self.now.files[path]:
                old, new = (pinned.text(path).split("\n") for pinned in (self.before, self.now))
                hunks = hunks_between(old, new)
            self._shifts[path] = LineShift(hunks)
        return self._shifts[path]


def _moved(line: int, here: Lines, there: Lines) -> int | None:
    """A line of one side on the other side of the hunks between them."""
    shift = 0
    for (start, count), (_, other) in zip(here.tolist(), there.tolist(), strict=True):
        first = start + (count == 0)  # an empty side is named by the line before it
        if line < first:
            break
        if line < first + count:
            return None
        shift += other - count
    return line + shift


def neighbours_now(
    snapshots: Snapshots, places: PlaceResolver, lag: LaggingGraph, request: NeighboursRequest
) -> GraphAnswer | None:
    """What the last graph knows, and uses of the name on lines new to it; None where it knows nothing."""
    where = lag.where_before(places, request.where, request.name, request.snapshot)
    if where is None:
        return None
    asked = replace(request, where=where, name="")
    nodes, note = places.asked_nodes(lag.before, asked)
    answer = neighbours(lag.before, nodes, asked, note)
    start = answer.symbols[0]
    if resolved_group(lag.before, start.path) is None:
        return None
    now = lag.answer_now(answer)
    if not lag.behind or request.relation in ("callees", "dependencies") or not start.group:
        return now
    lexical, _ = snapshots.pin(ViewKind.LEXICAL, request.snapshot)
    declared = [
        each
        for each in meanings_by_name(lexical, last_name(start.qualified))
        if each.place.path == start.path
    ]
    return append_named(now, _new_uses(snapshots, lag, request, declared), request.k)


def _new_uses(
    snapshots: Snapshots, lag: LaggingGraph, request: NeighboursRequest, declared: Sequence[Meaning]
) -> GraphAnswer | None:
    """Uses by name on the lines that the graph does not know."""
    if not declared:
        return None
    behind = frozenset(lag.behind)

    def is_new(path: str, line: int) -> bool:
        return path in behind and (not line or lag.is_new(path, line))

    lexical, _ = snapshots.pin(ViewKind.LEXICAL, request.snapshot)
    return NeighboursByName(snapshots, lexical, replace(request, depth=1), is_new).of_symbol(declared)

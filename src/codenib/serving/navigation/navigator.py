"""Navigation requests in, places out: static where the graph is fresh, else live, else by name alone.

Live never silently replaces static, nor the reverse: the answer names its provider, and why it was taken.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from codenib.compiler.compiler import IndexCompiler
from codenib.core.errors import CodenibError, InputError, StateError
from codenib.core.history import HistoryAnswer
from codenib.core.navigation import Meaning, Position
from codenib.core.requests import (
    CURRENT,
    HistoryRequest,
    NavigationQuestion,
    NavigationRequest,
    NeighboursRequest,
    SnapshotRequest,
)
from codenib.core.symbols import GraphAnswer, NavigationAnswer, Provider
from codenib.core.views import ViewKind
from codenib.manifest.trust import is_trusted
from codenib.serving.navigation import by_name
from codenib.serving.navigation.completeness import claim_definitions, claim_neighbours, claim_references
from codenib.serving.navigation.meanings import main_meaning, meanings_by_name
from codenib.serving.navigation.positions import last_name
from codenib.serving.navigation.resolve import PlaceResolver, resolved_group
from codenib.serving.search.paths import path_filter
from codenib.serving.snapshots.pool import Snapshots
from codenib.serving.snapshots.reader import SourceReader, link_source

if TYPE_CHECKING:
    from codenib.serving.navigation.compare import NavigationComparison
    from codenib.serving.navigation.live import LiveServers
    from codenib.serving.snapshots.pinned import PinnedSnapshot
    from codenib.views.graph.navigate import SortedLocations

_log = logging.getLogger("codenib")

_BUILD = "codenib index --views graph"
_PATIENCE_S = 3.0  # for the process that maintains the graph; a language server takes longer to start


class Navigator:
    """Answers from the graph and the language servers of one repository."""

    def __init__(self, compiler: IndexCompiler, snapshots: Snapshots, reader: SourceReader) -> None:
        self._compiler = compiler
        self._snapshots = snapshots
        self._reader = reader
        self.places = PlaceResolver(snapshots, reader)

    def close(self) -> None:
        """Stop the servers."""
        if "servers" in self.__dict__:
            self.servers.close()
            del self.servers

    def definition(self, request: NavigationRequest) -> NavigationAnswer:
        """Where what stands at a place is declared."""
        return self._answer("definition", request)

    def references(self, request: NavigationRequest) -> NavigationAnswer:
        """Every place that refers to what stands at a place."""
        return self._answer("references", request)

    def neighbours(self, request: NeighboursRequest) -> GraphAnswer:
        """What a symbol uses (`dependencies`), is used by (`dependents`), its callers, callees, subtypes.

        Without a graph, or where no engine resolved the file, by name: a question never builds a graph.
        """
        from codenib.serving.navigation.neighbours import edge_kinds, neighbours

        edge_kinds(request.kinds)

        def ask(pinned: PinnedSnapshot) -> GraphAnswer:
            if not self._is_resolved(pinned, request):
                return self._neighbours_by_name(pinned, request)
            node = self.places.node(pinned, request.where, request.name, request.snapshot)
            return claim_neighbours(pinned, neighbours(pinned, node, request))

        return self._from_graph(ask, request.snapshot, build=False)

    def _is_resolved(self, pinned: PinnedSnapshot, request: NeighboursRequest) -> bool:
        """Whether an engine resolved what is asked about, or one of the things that a name means."""
        if ViewKind.GRAPH not in pinned.manifest.views:
            return False
        meanings = self.places.meanings(pinned, request.where, request.snapshot)
        if meanings is not None:
            return any(resolved_group(pinned, each.place.path) is not None for each in meanings)
        return resolved_group(pinned, self.places.path_of(request.where)) is not None

    def _neighbours_by_name(self, pinned: PinnedSnapshot, request: NeighboursRequest) -> GraphAnswer:
        from codenib.serving.navigation.syntactic_neighbours import NeighboursByName

        lexical, _ = self._snapshots.pin(ViewKind.LEXICAL, request.snapshot)
        asking = NeighboursByName(self._snapshots, lexical, request)
        meanings = self.places.meanings(pinned, request.where, request.snapshot)
        path = self.places.path_of(request.where)
        if meanings is None and request.where == path and not request.name:
            answer = asking.of_file(path)
        else:
            if meanings is None:
                meanings = self._named_at(lexical, request)
            answer = asking.of_symbol(meanings)
        why = f"by name: {_no_facts(pinned, answer.symbols[0].path)}"
        return replace(answer, note="; ".join(filter(None, (why, answer.note))))

    def _named_at(self, lexical: PinnedSnapshot, request: NeighboursRequest) -> list[Meaning]:
        """What the name at a place may mean, what is declared right there first."""
        at = self.places.position(lexical, request.where, request.name, request.snapshot)
        name = by_name.name_at(lexical.text(at.path).split("\n")[at.line - 1], at.column)
        meanings = meanings_by_name(lexical, name)
        if not meanings:
            raise InputError(f"{at.path}:{at.line} names nothing that is declared", hint=f"codenib refs {at}")
        return sorted(meanings, key=lambda each: (each.place.path, each.place.line) != (at.path, at.line))

    def path(
        self, start: str | Position, goal: str | Position, snapshot: SnapshotRequest = CURRENT
    ) -> GraphAnswer:
        """The shortest chain of uses from one symbol to another; no symbols when there is none."""
        from codenib.serving.navigation.neighbours import shortest_path

        def ask(pinned: PinnedSnapshot) -> GraphAnswer:
            ends = [self.places.node(pinned, where, "", snapshot) for where in (start, goal)]
            return claim_neighbours(pinned, shortest_path(pinned, *ends))

        return self._from_graph(ask, snapshot)

    def symbols(self, query: str, k: int = 20, snapshot: SnapshotRequest = CURRENT) -> GraphAnswer:
        """Declarations whose name holds `query`: exact names first, then the more important."""
        from codenib.serving.navigation.neighbours import find_symbols

        return self._from_graph(lambda pinned: find_symbols(pinned, query, k), snapshot)

    def outline(self, path: str, snapshot: SnapshotRequest = CURRENT) -> GraphAnswer:
        """The declarations of a file, each with its depth."""
        from codenib.serving.navigation.neighbours import outline

        return self._from_graph(lambda pinned: outline(pinned, self._reader.relative(path)), snapshot)

    def history(self, request: HistoryRequest) -> HistoryAnswer:
        """Who changed a file or lines of it, newest first."""
        from codenib.serving.navigation.history import history_of

        started = time.perf_counter()
        repository = self._compiler.repository
        if repository.kind == "folder":
            raise InputError(f"{repository.root} is not in a git repository, so it has no history")
        request = replace(request, path=self._reader.relative(request.path))
        pinned, refreshed = self._snapshots.pin(ViewKind.HISTORY, request.snapshot)
        answer = history_of(pinned, self._compiler.history.log, request)
        return replace(answer, seconds=time.perf_counter() - started, refreshed=refreshed)

    def compare(self, *, n: int = 200, seed: int = 1, paths: Sequence[str] = ()) -> NavigationComparison:
        """Ask the graph and the language servers at `n` sampled positions, and compare."""
        from codenib.serving.navigation.compare import compare

        pinned, _ = self._snapshots.pin(ViewKind.GRAPH, CURRENT)
        accepts = path_filter(paths)
        chosen = [path for path in pinned.graph.paths if accepts(path)] if accepts else []
        progress = self._compiler.progress
        return compare(pinned, self.servers, n=n, seed=seed, paths=chosen, progress=progress)

    @property
    def has_graph(self) -> bool:
        """Whether this worktree has a graph, fresh or not."""
        return ViewKind.GRAPH in self._snapshots.views_of_head()

    @cached_property
    def servers(self) -> LiveServers:
        """The language servers of the worktree."""
        from codenib.serving.navigation.live import LiveServers

        repository, store = self._compiler.repository, self._compiler.store
        folder = store.worktree_state(repository.worktree_key) / "live"
        trusted = is_trusted(store.folder, repository)
        return LiveServers(repository.root, self._compiler.graph.tools, folder, trusted=trusted)

    def _from_graph(
        self, ask: Callable[[PinnedSnapshot], GraphAnswer], snapshot: SnapshotRequest, *, build: bool = True
    ) -> GraphAnswer:
        started = time.perf_counter()
        kind = ViewKind.GRAPH if build or self.has_graph else ViewKind.LEXICAL
        pinned, refreshed = self._snapshots.pin(kind, snapshot)
        answer = ask(pinned)
        link_source(answer.symbols, self._snapshots, pinned.ref.id)
        return replace(answer, seconds=time.perf_counter() - started, refreshed=refreshed)

    def _answer(self, question: NavigationQuestion, request: NavigationRequest) -> NavigationAnswer:
        started = time.perf_counter()
        if request.provider == "live" and request.snapshot.at is not None:
            raise InputError("a live server sees the worktree alone", hint="codenib def … --provider static")
        pinned, refreshed = self._pin(request)
        meanings = None
        if request.provider != "live":  # a server knows places, not names
            meanings = self.places.meanings(pinned, request.where, request.snapshot)
        if meanings is not None and (question == "definition" or main_meaning(meanings) is None):
            answer = self._of_meanings(question, pinned, meanings, request)
        else:
            answer = self._at_position(question, pinned, request)
            if meanings is not None and len(meanings) > 1 and answer.provider != "syntactic":
                more = len(meanings) - 1
                others = f"also declared at {more} other place{'s' * (more > 1)}: codenib def {answer.asked}"
                answer = replace(answer, note="; ".join(filter(None, (answer.note, others))))
        link_source(answer.locations, self._snapshots, pinned.ref.id)
        link_source(answer.meanings, self._snapshots, pinned.ref.id)
        return replace(answer, seconds=time.perf_counter() - started, refreshed=refreshed)

    def _of_meanings(
        self,
        question: NavigationQuestion,
        pinned: PinnedSnapshot,
        meanings: Sequence[Meaning],
        request: NavigationRequest,
    ) -> NavigationAnswer:
        """A name's declarations, or the references of all of them: no server starts for a name."""
        from codenib.views.graph.navigate import SortedLocations

        first = meanings[0].place
        position = Position(first.path, first.line, first.column)
        resolved = all(resolved_group(pinned, each.place.path) is not None for each in meanings)
        if resolved and len(meanings) == 1:
            answer = self._at_position(question, pinned, request)
            alone = [place for place in answer.locations if place != first] == []
            return replace(answer, meanings=tuple(meanings)) if alone else answer
        if request.provider == "static" and not resolved:
            raise StateError(_no_facts(pinned, first.path), hint="codenib tools")
        if question == "definition":
            places = SortedLocations(
                tuple(each.place for each in meanings[: request.limit]),
                len(meanings),
                0,
                "occurrence" if resolved else "name",
                last_name(meanings[0].symbol),
            )
            chosen = tuple(meanings[: request.limit])
            if resolved:
                answer = _navigated(pinned, position, places, "static", _backend_of(pinned, first.path))
                return replace(answer, meanings=chosen)
            answer = _navigated(pinned, position, places, "syntactic", "names")
            return replace(answer, meanings=chosen, note=_no_facts(pinned, first.path))
        note = f"{len(meanings)} declarations have this name"
        if not resolved:
            answer = self._by_name(question, pinned, position, request)
            return replace(answer, note=f"{note}; {_no_facts(pinned, first.path)}")
        answer = replace(_references_of_all(pinned, meanings, request), note=note)
        return self._claimed(question, pinned, answer, request)

    def _at_position(
        self, question: NavigationQuestion, pinned: PinnedSnapshot, request: NavigationRequest
    ) -> NavigationAnswer:
        position = self.places.position(pinned, request.where, request.name, request.snapshot)
        provider, note = self._choose(request, pinned, position)
        _log.debug(
            "%s of %s: %s answers%s", question, position, provider, f", because {note}" if note else ""
        )
        if provider == "live":
            matches, backend = self.servers.ask(question, position, request, pinned.files)
        elif provider == "static":
            matches, backend = _ask_static(question, pinned, position, request)
            note = _unreadable(pinned, [position.path, *(place.path for place in matches.locations)])
        else:
            return replace(self._by_name(question, pinned, position, request), note=note)
        answer = replace(_navigated(pinned, position, matches, provider, backend), note=note)
        return self._claimed(question, pinned, answer, request)

    def _claimed(
        self,
        question: NavigationQuestion,
        pinned: PinnedSnapshot,
        answer: NavigationAnswer,
        request: NavigationRequest,
    ) -> NavigationAnswer:
        """An answer of the graph says what it does not know."""
        if answer.provider != "static":
            return answer
        if question == "definition":
            return claim_definitions(pinned, answer)
        return claim_references(self._snapshots, pinned, answer, request)

    def _pin(self, request: NavigationRequest) -> tuple[PinnedSnapshot, str]:
        """The graph as it must be, or as it is where a server may answer instead.

        An engine that is up brings it there sooner than a server starts: the one that maintains the graph
        answers for edited files too.
        """
        provider, snapshot = request.provider, request.snapshot
        at_hand = provider == "auto" and self._at_hand(snapshot.at)
        if provider == "static" or snapshot.refresh == "never" or at_hand:
            return self._snapshots.pin(ViewKind.GRAPH, snapshot)
        started = "servers" in self.__dict__ and self.servers.running
        patience_s = _PATIENCE_S if provider == "auto" and not started else 0.0
        return self._snapshots.pin_ready(ViewKind.GRAPH, snapshot.at, patience_s), ""

    def _at_hand(self, at: str | None) -> bool:
        """Whether this process has the engines of the worktree's graph, and they were quick last time."""
        return at is None and self.has_graph and self._compiler.graph.at_hand

    def _choose(
        self, request: NavigationRequest, pinned: PinnedSnapshot, position: Position
    ) -> tuple[Provider, str]:
        """Who answers, and why when that is not the graph."""
        if request.provider == "live":
            return "live", ""
        if resolved_group(pinned, position.path) is not None:
            return "static", ""
        why = _no_facts(pinned, position.path)
        if request.provider == "static":
            raise StateError(why, hint="codenib tools")
        if request.snapshot.at is not None or self._compiler.repository.kind == "bare":
            return "syntactic", why
        try:
            self.servers.require(position.path)
        except CodenibError as error:
            return "syntactic", f"{why}; {error.message}"
        return "live", why

    def _by_name(
        self,
        question: NavigationQuestion,
        pinned: PinnedSnapshot,
        position: Position,
        request: NavigationRequest,
    ) -> NavigationAnswer:
        from codenib.views.graph.navigate import SortedLocations

        line = pinned.text(position.path).split("\n")[position.line - 1]
        name = by_name.name_at(line, position.column)
        meanings: Sequence[Meaning] = ()
        if question == "definition" and name:
            lexical, _ = self._snapshots.pin(ViewKind.LEXICAL, request.snapshot)
            meanings = meanings_by_name(lexical, name)
            places = tuple(each.place for each in meanings)
        else:
            places = by_name.places_of_name(self._snapshots, name, position.path, request.snapshot)
        matches = SortedLocations(places[: request.limit], len(places), 0, "name", name)
        answer = _navigated(pinned, position, matches, "syntactic", "names")
        return replace(answer, meanings=tuple(meanings[: request.limit]))


def _navigated(
    pinned: PinnedSnapshot, position: Position, matches: SortedLocations, provider: Provider, backend: str
) -> NavigationAnswer:
    limited = matches.total > len(matches.locations)
    return NavigationAnswer(
        locations=matches.locations,
        snapshot=pinned.ref,
        provider=provider,
        backend=backend,
        granularity=matches.granularity,
        completeness="unknown" if provider == "syntactic" else "limited" if limited else "all",
        total=matches.total,
        outside=matches.outside,
        asked=matches.asked,
        position=position,
        seconds=0.0,
    )


def _references_of_all(
    pinned: PinnedSnapshot, meanings: Sequence[Meaning], request: NavigationRequest
) -> NavigationAnswer:
    """What refers to any of several declarations, each place once."""
    whole = replace(request, limit=None)
    positions = [Position(each.place.path, each.place.line, each.place.column) for each in meanings]
    asked = [_ask_static("references", pinned, position, whole) for position in positions]
    places = sorted({place for matches, _ in asked for place in matches.locations})
    first, backend = asked[0]
    merged = replace(first, locations=tuple(places[: request.limit]), total=len(places))
    return _navigated(pinned, positions[0], merged, "static", backend)


def _ask_static(
    question: NavigationQuestion, pinned: PinnedSnapshot, position: Position, request: NavigationRequest
) -> tuple[SortedLocations, str]:
    from codenib.views.graph.navigate import definitions, references

    view, backend = pinned.graph, _backend_of(pinned, position.path)
    if question == "definition":
        return definitions(view, position, request.limit), backend
    return references(view, position, request.limit, declarations=request.declarations), backend


def _backend_of(pinned: PinnedSnapshot, path: str) -> str:
    view = pinned.graph
    group = view.group(view.file_number(path) or 0)
    return next(each.backend for each in view.about.groups if each.group == group)


def _unreadable(pinned: PinnedSnapshot, paths: Sequence[str]) -> str:
    """What to say when an answer comes from the last readable text of files that do not parse now."""
    if not pinned.graph.about.stale:
        return ""
    from codenib.views.graph.maintenance.stale_syntax import describe

    return describe(sorted(pinned.graph.about.stale.keys() & set(paths)))


def _no_facts(pinned: PinnedSnapshot, path: str) -> str:
    if ViewKind.GRAPH not in pinned.manifest.views:
        return f"no fresh graph ({_BUILD})"
    for each in pinned.graph.about.groups:
        if each.error and path:
            return f"no facts of {path}: {each.group}: {each.error}"
    return f"no facts of {path}: no semantic backend covers it"

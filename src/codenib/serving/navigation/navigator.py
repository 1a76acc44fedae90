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
from codenib.core.errors import CodenibError, InputError, ProviderError, StateError
from codenib.core.navigation import Meaning, Position, SortedLocations
from codenib.core.requests import (
    CURRENT,
    HistoryRequest,
    NavigationQuestion,
    NavigationRequest,
    NeighboursRequest,
    SnapshotRequest,
)
from codenib.core.symbols import GraphAnswer, NavigationAnswer, Provider
from codenib.core.text.globs import path_filter
from codenib.core.views import ViewKind
from codenib.manifest.trust import is_trusted
from codenib.serving.navigation import by_name
from codenib.serving.navigation.completeness import claim, claim_neighbours, claim_users
from codenib.serving.navigation.meanings import main_meaning, meanings_by_name, with_signatures
from codenib.serving.navigation.positions import last_name
from codenib.serving.navigation.resolve import PlaceResolver, also_declared, resolved_group
from codenib.serving.navigation.static import (
    BUILD,
    ask_static,
    backend_of,
    is_home,
    is_known,
    navigated,
    no_facts_note,
    references_of_all,
    unreadable_note,
    why_by_name,
)
from codenib.serving.snapshots.pool import Snapshots
from codenib.serving.snapshots.reader import SourceReader, link_source, with_cells

if TYPE_CHECKING:
    from codenib.core.history import BlameAnswer, HistoryAnswer
    from codenib.core.navigation import Location
    from codenib.serving.navigation.compare import NavigationComparison
    from codenib.serving.navigation.lag import LaggingGraph
    from codenib.serving.navigation.live import LiveServers
    from codenib.serving.snapshots.pinned import PinnedSnapshot

_log = logging.getLogger("codenib")

_PATIENCE_S = 0.3  # for the process that maintains the graph; then an answer says how far that is behind


class Navigator:
    """Answers from the graph and the language servers of one repository."""

    def __init__(self, compiler: IndexCompiler, snapshots: Snapshots, reader: SourceReader) -> None:
        self._compiler = compiler
        self._snapshots = snapshots
        self._reader = reader
        self.places = PlaceResolver(snapshots, reader)
        #: Whether this process stays: then what would answer better is started beside the answer.
        self.resident = False

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
        if request.kinds:
            from codenib.serving.navigation.neighbours import edge_kinds

            edge_kinds(request.kinds)

        def ask(pinned: PinnedSnapshot) -> GraphAnswer:
            from codenib.serving.navigation.neighbours import neighbours

            if not self._is_resolved(pinned, request):
                return self._neighbours_by_name(pinned, request)
            nodes, note = self.places.asked_nodes(pinned, request)
            return claim_users(self._snapshots, pinned, neighbours(pinned, nodes, request, note), request)

        def ask_lagging(lag: LaggingGraph) -> GraphAnswer | None:
            from codenib.serving.navigation.lag import neighbours_now

            return neighbours_now(self._snapshots, self.places, lag, request)

        return self._from_graph(
            ask, request.snapshot, ask_lagging, lambda pinned: self._neighbours_by_name(pinned, request)
        )

    def _is_resolved(self, pinned: PinnedSnapshot, request: NeighboursRequest) -> bool:
        """Whether an engine resolved what is asked about, or one of the things that a name means."""
        if not pinned.has_fresh(ViewKind.GRAPH):
            return False
        meanings = self.places.meanings(pinned, request.where, request.snapshot)
        if meanings is not None:
            return any(is_known(pinned, each) for each in meanings)
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
        why = f"by name: {why_by_name(pinned, answer.symbols[0].path)}"
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
        """The shortest chain of uses from one symbol to another; no symbols when there is none.

        Without a graph it is not known, and the note says so.
        """

        def between(pinned: PinnedSnapshot, ends: Sequence[str | Position]) -> GraphAnswer:
            from codenib.serving.navigation.neighbours import shortest_path

            requests = [NeighboursRequest(where, "dependencies", snapshot=snapshot) for where in ends]
            (starts, note), (goals, other) = (self.places.asked_nodes(pinned, each) for each in requests)
            return shortest_path(pinned, starts, goals, "; ".join(filter(None, (note, other))))

        def ask(pinned: PinnedSnapshot) -> GraphAnswer:
            return claim_neighbours(pinned, between(pinned, (start, goal)))

        def ask_lagging(lag: LaggingGraph) -> GraphAnswer | None:
            ends = [lag.where_before(self.places, where, "", snapshot) for where in (start, goal)]
            known = [where for where in ends if where is not None]
            return lag.answer_now(between(lag.before, known)) if len(known) == 2 else None

        def ask_names(pinned: PinnedSnapshot) -> GraphAnswer:
            from codenib.serving.navigation.neighbours import unknown_path

            return unknown_path(pinned, start, goal, BUILD)

        return self._from_graph(ask, snapshot, ask_lagging, ask_names)

    def symbols(self, query: str, k: int = 20, snapshot: SnapshotRequest = CURRENT) -> GraphAnswer:
        """Declarations whose name holds `query`: exact names first, then the more important."""

        def ask(pinned: PinnedSnapshot) -> GraphAnswer:
            from codenib.serving.navigation.neighbours import find_symbols

            return find_symbols(pinned, query, k)

        def ask_names(pinned: PinnedSnapshot) -> GraphAnswer:
            from codenib.serving.navigation.by_units import symbols_by_name

            return symbols_by_name(pinned, query, k)

        return self._from_graph(ask, snapshot, None, ask_names)

    def outline(self, path: str, snapshot: SnapshotRequest = CURRENT) -> GraphAnswer:
        """The declarations of a file, each with its depth; of a folder, its files and what they declare."""
        from codenib.serving.navigation.by_units import outline_by_units, outline_of_folder
        from codenib.serving.navigation.neighbours import outline

        name = self._reader.relative(path)
        files = self._reader.files(snapshot)
        folder = f"{name.strip('/')}/" if name.strip("/.") else ""
        if name not in files and any(file.startswith(folder) for file in files):
            started = time.perf_counter()
            pinned, refreshed = self._snapshots.pin(ViewKind.LEXICAL, snapshot)
            answer = outline_of_folder(pinned, folder)
            link_source(
                [each for each in answer.symbols if each.path in pinned.files],
                self._snapshots,
                answer.snapshot.id,
            )
            return replace(answer, seconds=time.perf_counter() - started, refreshed=refreshed)
        return self._from_graph(
            lambda pinned: outline(pinned, name),
            snapshot,
            None,
            lambda pinned: outline_by_units(pinned, name),
        )

    def history(self, request: HistoryRequest) -> HistoryAnswer:
        """Who changed a file or lines of it, newest first."""
        from codenib.serving.navigation.history import ask_past, history_of

        asked = replace(request, path=self._reader.relative(request.path))
        return ask_past(self._compiler, self._snapshots, asked, history_of)

    def blame(self, request: HistoryRequest) -> BlameAnswer:
        """Which commit changed each line of a file last."""
        from codenib.serving.navigation.history import ask_past, blame_of

        asked = replace(request, path=self._reader.relative(request.path))
        return ask_past(self._compiler, self._snapshots, asked, blame_of)

    def compare(self, *, n: int = 200, seed: int = 1, paths: Sequence[str] = ()) -> NavigationComparison:
        """Ask the graph and the language servers at `n` sampled positions, and compare."""
        from codenib.serving.navigation.compare import compare

        pinned, _ = self._snapshots.pin(ViewKind.GRAPH, CURRENT)
        accepts, progress = path_filter(paths), self._compiler.progress
        chosen = [path for path in pinned.graph.paths if accepts(path)] if accepts else []
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
        self,
        ask: Callable[[PinnedSnapshot], GraphAnswer],
        snapshot: SnapshotRequest,
        ask_lagging: Callable[[LaggingGraph], GraphAnswer | None] | None,
        ask_names: Callable[[PinnedSnapshot], GraphAnswer],
    ) -> GraphAnswer:
        """From the graph that is fresh, else from the last one, else by name: whichever is there.

        Who waits, or asks for what was published, has the graph alone.
        """
        started = time.perf_counter()
        pinned, refreshed = self._pin_graph(snapshot)
        if pinned.has_fresh(ViewKind.GRAPH):
            answer: GraphAnswer | None = ask(pinned)
        else:
            lag = self._lag(pinned, snapshot) if ask_lagging is not None else None
            answer = ask_lagging(lag) if ask_lagging is not None and lag is not None else None
        if answer is None:
            pinned, refreshed = self._snapshots.pin(ViewKind.LEXICAL, snapshot)
            answer = ask_names(pinned)
        link_source(answer.symbols, self._snapshots, answer.snapshot.id)
        return replace(answer, seconds=time.perf_counter() - started, refreshed=refreshed)

    def _pin_graph(self, snapshot: SnapshotRequest) -> tuple[PinnedSnapshot, str]:
        """The graph as it must be for who waits or has engines up; else the snapshot with what is there.

        The process that maintains the graph has a moment: it answers for edited files too.
        """
        if snapshot.refresh == "never" and not self.has_graph:
            return self._snapshots.pin(ViewKind.LEXICAL, snapshot)
        if snapshot.wait or snapshot.refresh == "never" or self._at_hand(snapshot.at):
            return self._snapshots.pin(ViewKind.GRAPH, snapshot)
        return self._snapshots.pin_ready(ViewKind.GRAPH, snapshot.at, _PATIENCE_S), ""

    def _lag(self, pinned: PinnedSnapshot, snapshot: SnapshotRequest) -> LaggingGraph | None:
        """The last graph of this worktree beside the files as they are now."""
        if snapshot.at is not None or pinned.has_fresh(ViewKind.GRAPH):
            return None
        from codenib.serving.navigation.lag import LaggingGraph

        before = self._snapshots.pin_last(ViewKind.GRAPH)
        return LaggingGraph(before, pinned) if before is not None else None

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
                others = also_declared(len(meanings) - 1, answer.asked)
                answer = replace(answer, note="; ".join(filter(None, (answer.note, others))))
        answer = replace(answer, locations=with_cells(answer.locations, pinned))
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
        first = meanings[0].place
        positions = [Position(each.place.path, each.place.line, each.place.column) for each in meanings]
        position = positions[0]
        resolved = all(resolved_group(pinned, each.place.path) for each in meanings)
        if resolved and len(meanings) == 1 and not (question == "definition" and is_home(pinned, position)):
            answer = self._at_position(question, pinned, request)
            alone = [place for place in answer.locations if place != first] == []
            return replace(answer, meanings=with_signatures(pinned, meanings)) if alone else answer
        if request.provider == "static" and not resolved:
            raise StateError(no_facts_note(pinned, first.path), hint="codenib tools")
        if question == "definition":
            chosen = with_signatures(pinned, meanings[: request.limit])
            shown, asked = tuple(each.place for each in chosen), last_name(meanings[0].symbol)
            places = SortedLocations(shown, len(meanings), 0, "occurrence" if resolved else "name", asked)
            if resolved:
                answer = navigated(pinned, position, places, "static", backend_of(pinned, first.path))
                return claim(self._snapshots, pinned, question, replace(answer, meanings=chosen), request)
            answer = navigated(pinned, position, places, "syntactic", "names")
            return replace(answer, meanings=chosen, note=no_facts_note(pinned, first.path))
        note = f"{len(meanings)} declarations have this name"
        if not any(is_known(pinned, each) for each in meanings):
            lagging = self._lagging_answer(question, pinned, positions, request)
            if lagging is not None:
                return replace(lagging, note="; ".join(filter(None, (note, lagging.note))))
            answer = self._by_name(question, pinned, position, request)
            why = (
                no_facts_note(pinned, first.path) if not resolved else "the engine does not read these lines"
            )
            return replace(answer, note=f"{note}; {why}")
        answer = replace(references_of_all(pinned, meanings, request), note=note)
        # What is not known of the name is told for each group of languages that declares it.
        groups = {resolved_group(pinned, each.path): each for each in reversed(positions)}
        for group, each in sorted(groups.items(), key=lambda item: item[1] != position):
            if group is not None:
                answer = claim(self._snapshots, pinned, question, replace(answer, position=each), request)
        return replace(answer, position=position)

    def _at_position(
        self, question: NavigationQuestion, pinned: PinnedSnapshot, request: NavigationRequest
    ) -> NavigationAnswer:
        position = self.places.position(pinned, request.where, request.name, request.snapshot)
        provider, note = self._choose(request, pinned, position)
        if provider == "syntactic":
            lagging = self._lagging_answer(question, pinned, [position], request)
            if lagging is not None:
                return lagging
        _log.debug(
            "%s of %s: %s answers%s", question, position, provider, f", because {note}" if note else ""
        )
        if provider == "live":
            try:
                matches, backend = self.servers.ask(question, position, request, pinned.files)
                lacks = "" if matches.total or matches.outside else f"{backend} knows nothing there"
            except ProviderError as error:
                if request.provider == "live":
                    raise
                lacks = error.message
            if lacks and request.provider == "auto":
                note = f"{note}; {lacks}"
                return replace(self._by_name(question, pinned, position, request), note=note)
        elif provider == "static":
            matches, backend = ask_static(question, pinned, position, request)
            if request.provider == "auto" and (name := by_name.unknown_name_at(pinned.graph, position)):
                note = f"{backend_of(pinned, position.path)} does not know what {name} is there"
                likely = matches.locations if question == "definition" else ()
                return replace(self._by_name(question, pinned, position, request, likely), note=note)
            note = unreadable_note(pinned, [position.path, *(place.path for place in matches.locations)])
        else:
            return replace(self._by_name(question, pinned, position, request), note=note)
        answer = replace(navigated(pinned, position, matches, provider, backend), note=note)
        return claim(self._snapshots, pinned, question, answer, request)

    def _lagging_answer(
        self,
        question: NavigationQuestion,
        pinned: PinnedSnapshot,
        positions: Sequence[Position],
        request: NavigationRequest,
    ) -> NavigationAnswer | None:
        """What the last graph knows of some positions, in today's lines; None where it does not know them."""
        lag = self._lag(pinned, request.snapshot)
        before = [lag.known_before(each) for each in positions] if lag is not None else []
        if lag is None or any(each is None for each in before):
            return None
        whole = replace(request, limit=None)
        asked = [ask_static(question, lag.before, each, whole) for each in before if each is not None]
        first, backend = asked[0]
        merged = replace(first, locations=tuple({at for each, _ in asked for at in each.locations}))
        named: tuple[Location, ...] = ()
        if question == "references" and lag.behind:
            named = by_name.places_of_name(self._snapshots, first.asked, positions[0].path, request.snapshot)
        places = lag.places_now(merged, named)
        if question == "definition" and len(places.locations) < len(merged.locations):
            return None  # what declares it changed: the units know the file as it is
        limited = replace(places, locations=places.locations[: request.limit])
        answer = navigated(pinned, positions[0], limited, "static", backend)
        if not lag.behind:  # the same files: what that graph does not know is what it did not know then
            return claim(self._snapshots, lag.before, question, answer, request)
        return replace(answer, completeness="partial", note=lag.note, behind=lag.behind)

    def _pin(self, request: NavigationRequest) -> tuple[PinnedSnapshot, str]:
        """The graph as it must be, or what is there where something else may answer instead."""
        if request.provider == "static":
            return self._snapshots.pin(ViewKind.GRAPH, request.snapshot)
        if request.provider == "live":
            return self._snapshots.pin_ready(ViewKind.GRAPH, request.snapshot.at), ""
        return self._pin_graph(request.snapshot)

    def _at_hand(self, at: str | None) -> bool:
        """Whether this process has the engines of the worktree's graph, and they were quick last time."""
        return at is None and self.has_graph and self._compiler.graph.at_hand

    def _choose(
        self, request: NavigationRequest, pinned: PinnedSnapshot, position: Position
    ) -> tuple[Provider, str]:
        """Who answers, and why when that is not the graph."""
        if request.provider == "live":
            return "live", ""
        why = no_facts_note(pinned, position.path)
        if resolved_group(pinned, position.path) is not None:
            from codenib.views.graph.unresolved import is_undefined_at

            if not is_undefined_at(pinned.graph, position):
                return "static", ""
            why = "the engine could not resolve this name"
        if request.provider == "static":
            raise StateError(why, hint="codenib tools")
        if request.snapshot.at is not None or self._compiler.repository.kind == "bare":
            return "syntactic", why
        waits = request.snapshot.wait
        if not (waits or self.resident or "servers" in self.__dict__):
            return "syntactic", why
        try:
            self.servers.require(position.path)
        except CodenibError as error:
            return "syntactic", f"{why}; {error.message}"
        if waits or self.servers.is_ready(position.path):
            return "live", why
        if self.resident and not self.has_graph:
            self.servers.start_beside(position)
        return "syntactic", why

    def _by_name(
        self,
        question: NavigationQuestion,
        pinned: PinnedSnapshot,
        position: Position,
        request: NavigationRequest,
        likely: Sequence[Location] = (),
    ) -> NavigationAnswer:
        """By the name alone; of its declarations the `likely` come first."""
        line = pinned.text(position.path).split("\n")[position.line - 1]
        name = by_name.name_at(line, position.column)
        meanings: Sequence[Meaning] = ()
        if question == "definition" and name:
            lexical, _ = self._snapshots.pin(ViewKind.LEXICAL, request.snapshot)
            first = {(each.path, each.line) for each in likely}
            meanings = sorted(
                meanings_by_name(lexical, name),
                key=lambda each: (each.place.path, each.place.line) not in first,
            )
            places = tuple(each.place for each in meanings)
        else:
            places = by_name.places_of_name(self._snapshots, name, position.path, request.snapshot)
        matches = SortedLocations(places[: request.limit], len(places), 0, "name", name)
        answer = navigated(pinned, position, matches, "syntactic", "names")
        return replace(answer, meanings=tuple(meanings[: request.limit]))

"""Positions and symbols in, places out: static where the graph is fresh, else live, else by name alone.

Live never silently replaces static, nor the reverse: the answer names its provider, and why it was taken.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from codenib.compiler.compiler import IndexCompiler
from codenib.core.errors import CodenibError, InputError, StateError
from codenib.core.navigation import Position
from codenib.core.symbols import NavigationAnswer, Provider
from codenib.core.views import ViewKind
from codenib.serving.navigation.by_name import ByName, name_at
from codenib.serving.navigation.positions import ambiguous, parse_place, position_in
from codenib.serving.snapshots.pool import Pins, Refresh

if TYPE_CHECKING:
    from codenib.serving.navigation.live import LiveServers
    from codenib.serving.snapshots.pinned import Pinned
    from codenib.views.graph.navigate import Found

Asked = Literal["auto", "static", "live"]
Question = Literal["definition", "references"]
_BUILD = "codenib index --views graph"
_PATIENCE_S = 3.0  # for the process that keeps the graph; a language server takes longer to start


class Navigator:
    """Navigation of one repository."""

    def __init__(self, compiler: IndexCompiler, pins: Pins, names: ByName) -> None:
        self._compiler = compiler
        self._pins = pins
        self._names = names
        self._live: LiveServers | None = None

    def close(self) -> None:
        """Stop the servers."""
        if self._live is not None:
            self._live.close()
            self._live = None

    def ask(
        self,
        question: Question,
        where: str | Position,
        *,
        name: str,
        provider: Asked,
        limit: int | None,
        declarations: bool,
        at: str | None,
        refresh: Refresh,
    ) -> NavigationAnswer:
        """Where what stands at a place is declared, or everything that refers to it."""
        started = time.perf_counter()
        if provider == "live" and at is not None:
            raise InputError("a live server sees the worktree alone", hint="codenib def … --provider static")
        pinned, refreshed = self._pin(provider, at, refresh)
        position = where if isinstance(where, Position) else self.position(pinned, where, name)
        chosen, why = self._choose(provider, pinned, position, at)
        if chosen == "live":
            found, backend = self.servers.ask(question, position, limit, declarations, pinned.files)
        elif chosen == "static":
            found, backend = _ask_static(question, pinned, position, limit, declarations)
        else:
            found, backend = self._by_names(question, pinned, position, limit), "names"
        if chosen == "static":
            why = _unreadable(pinned, [position.path, *(place.path for place in found.locations)])
        limited = found.total > len(found.locations)
        return NavigationAnswer(
            found.locations,
            pinned.ref,
            chosen,
            backend,
            found.granularity,
            "unknown" if chosen == "syntactic" else "limited" if limited else "all",
            found.total,
            found.outside,
            found.asked,
            position,
            time.perf_counter() - started,
            refreshed,
            why,
        )

    def position(self, pinned: Pinned, written: str, name: str) -> Position:
        """The position that a person means; raises with the choices when it is ambiguous."""
        place = parse_place(written)
        if place.symbol and place.symbol not in pinned.files:
            return self._of_symbol(pinned, place.symbol)
        path = place.path or place.symbol
        text = pinned.text(path)
        found = position_in(path, place.line or 1, place.column, name, text) if place.line or name else None
        if found is not None:
            return found
        return _of_line(pinned, path, place.line or 1)

    def graph(self, at: str | None, refresh: Refresh) -> tuple[Pinned, str]:
        """The opened graph, built when it is not there."""
        return self._pins.pin(ViewKind.GRAPH, at, refresh)

    def _pin(self, provider: Asked, at: str | None, refresh: Refresh) -> tuple[Pinned, str]:
        """The graph as it must be, or as it is where a server may answer instead.

        An engine that is up brings it there sooner than a server starts: the one that maintains the graph
        answers for edited files too.
        """
        if provider == "static" or refresh == "never" or (provider == "auto" and self._at_hand(at)):
            return self._pins.pin(ViewKind.GRAPH, at, refresh)
        waits = provider == "auto" and (self._live is None or not self._live.running)
        patience_s = _PATIENCE_S if waits else 0.0
        return self._pins.pin_ready(ViewKind.GRAPH, at, patience_s), ""

    def _at_hand(self, at: str | None) -> bool:
        """Whether this process has the engines of the worktree's graph, and they were quick last time."""
        return at is None and ViewKind.GRAPH in self._pins.views_of_head() and self._compiler.graph.at_hand

    def _choose(
        self, provider: Asked, pinned: Pinned, position: Position, at: str | None
    ) -> tuple[Provider, str]:
        group = resolved_group(pinned, position.path)
        if provider == "static":
            if group is None:
                raise StateError(_no_facts(pinned, position.path), hint="codenib tools")
            return "static", ""
        if provider == "live":
            return "live", ""
        if group is not None:
            return "static", ""
        why = _no_facts(pinned, position.path)
        if at is None and self._compiler.repository.kind != "bare":
            try:
                self.servers.require(position.path)
            except CodenibError as error:
                return "syntactic", f"{why}; {error.message}"
            return "live", why
        return "syntactic", why

    @property
    def servers(self) -> LiveServers:
        """The language servers of the worktree."""
        if self._live is None:
            from codenib.serving.navigation.live import LiveServers

            store = self._compiler.store
            state = store.worktree_state(self._compiler.repository.worktree_key)
            self._live = LiveServers(
                self._compiler.repository.root,
                self._compiler.graph.tools,
                state / "live",
                trusted=store.trusted,
            )
        return self._live

    def _of_symbol(self, pinned: Pinned, symbol: str) -> Position:
        if ViewKind.GRAPH in pinned.manifest.views:
            from codenib.views.graph.navigate import location_of
            from codenib.views.graph.symbols import resolve

            locations = [location_of(pinned.graph, node) for node in resolve(pinned.graph, symbol)]
            found = [Position(each.path, each.line, each.column) for each in locations]
        else:
            found = self._names.declarations(symbol)
        if not found:
            raise InputError(f"nothing is called {symbol!r}", hint=f"codenib symbols {symbol.split('.')[-1]}")
        if len(found) > 1:
            raise ambiguous(symbol, [_shown(each) for each in found], lambda first: f"codenib def {first}")
        return found[0]

    def _by_names(self, question: Question, pinned: Pinned, position: Position, limit: int | None) -> Found:
        from codenib.views.graph.navigate import Found

        line = pinned.text(position.path).split("\n")[position.line - 1]
        name = name_at(line, position.column)
        found = self._names.find(question, name) if name else ()
        return Found(found[:limit], len(found), 0, "name", name)


def resolved_group(pinned: Pinned, path: str) -> str | None:
    """The group of a file whose facts a semantic backend made; None when there are none."""
    if ViewKind.GRAPH not in pinned.manifest.views:
        return None
    view = pinned.graph
    file = view.file_number(path)
    if file is None:
        return None
    group = view.group(file)
    return group if any(each.group == group and each.resolved for each in view.about.groups) else None


def _ask_static(
    question: Question, pinned: Pinned, position: Position, limit: int | None, declarations: bool
) -> tuple[Found, str]:
    from codenib.views.graph.navigate import definitions, references

    view = pinned.graph
    group = view.group(view.file_number(position.path) or 0)
    backend = next(each.backend for each in view.about.groups if each.group == group)
    if question == "definition":
        return definitions(view, position, limit), backend
    return references(view, position, limit, declarations=declarations), backend


def _unreadable(pinned: Pinned, paths: Sequence[str]) -> str:
    """What to say when an answer comes from the last readable text of files that do not parse now."""
    if not pinned.graph.about.held:
        return ""
    from codenib.views.graph.maintenance.broken import describe

    return describe(sorted(pinned.graph.about.held.keys() & set(paths)))


def _of_line(pinned: Pinned, path: str, line: int) -> Position:
    """The one declaration of a line, or its one name."""
    text = pinned.text(path)
    if resolved_group(pinned, path) is not None:
        from codenib.core.facts import Role
        from codenib.views.graph.navigate import on_line

        view = pinned.graph
        declared = [
            at
            for at in on_line(view, path, line)
            if view.occurrence_roles[at] & Role.DECLARATION
            and not any(key < view.count and view.is_local(key) for key in view.keys_of(at))
        ]
        if declared:
            return Position(path, line, int(view.occurrence_column[declared[0]]))
    from codenib.serving.navigation.positions import words_of

    words = words_of(text.split("\n")[line - 1]) if line <= text.count("\n") + 1 else []
    if len({word for _, word in words}) == 1:
        return Position(path, line, words[0][0])
    choices = [f"{path}:{line}:{column + 1}  {word}" for column, word in words]
    if not choices:
        raise InputError(f"{path}:{line} holds no name", hint=f"codenib read {path}:{line}")
    raise ambiguous(f"{path}:{line}", choices, lambda first: f"codenib def {first.split()[0]}")


def _no_facts(pinned: Pinned, path: str) -> str:
    if ViewKind.GRAPH not in pinned.manifest.views:
        return f"no fresh graph ({_BUILD})"
    for each in pinned.graph.about.groups:
        if each.error and path:
            return f"no facts of {path}: {each.group}: {each.error}"
    return f"no facts of {path}: no semantic backend covers it"


def _shown(position: Position) -> str:
    return f"{position.path}:{position.line}:{position.column + 1}"

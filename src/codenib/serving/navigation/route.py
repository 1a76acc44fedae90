"""A question or symbols in, an ordered list of places to look at and why out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from codenib.core.answers import SnapshotRef
from codenib.core.errors import CodenibError
from codenib.core.requests import NavigationRequest, NeighbourRelation, NeighboursRequest, SearchRequest
from codenib.core.symbols import Symbol
from codenib.serving.navigation.navigator import Navigator
from codenib.serving.search.searcher import Searcher

_EXPANDED = 3  # results whose callers and callees follow
_NEIGHBOURS = 5
_REASONS: dict[NeighbourRelation, str] = {"callers": "calls", "callees": "called by"}


@dataclass(frozen=True, slots=True)
class RouteAnchor:
    """A place to look at."""

    path: str
    line: int
    symbol: str
    why: str


@dataclass(frozen=True, slots=True)
class RouteAnswer:
    """Anchors in the order to look at them, each place once; `total` counts what led to them."""

    anchors: tuple[RouteAnchor, ...]
    how: str
    total: int
    snapshot: SnapshotRef
    refreshed: str = ""


def route_for_query(searcher: Searcher, navigator: Navigator, query: str, k: int) -> RouteAnswer:
    """What a search ranks best, then what calls the best of it and what they call, where there is a graph."""
    answer = searcher.search(SearchRequest(query, k=k))
    anchors = [
        RouteAnchor(
            item.path, item.start_line, item.symbol, f"matches {', '.join(item.matched) or 'its meaning'}"
        )
        for item in answer.items
    ]
    if navigator.has_graph:
        for item in answer.items[:_EXPANDED]:
            where, name = f"{item.path}:{item.start_line}", item.symbol.rpartition(".")[2]
            anchors += _around(navigator, where, name)
    how, best = str(answer.plan.route), _distinct(anchors, k)
    return RouteAnswer(best, how, max(answer.total, len(best)), answer.snapshot, answer.refreshed)


def route_for_symbols(navigator: Navigator, symbols: Sequence[str], k: int) -> RouteAnswer:
    """The chain of uses between two symbols; else where each is declared, and its callers and callees."""
    if len(symbols) == 2:
        forth = navigator.path(symbols[0], symbols[1])
        chain = forth if forth.symbols else navigator.path(symbols[1], symbols[0])
        if chain.symbols:
            names = {symbol.id: symbol.qualified for symbol in chain.symbols}
            why = {
                edge.to: f"{edge.kind} from {names[edge.source]} at line {edge.line}" for edge in chain.edges
            }
            steps = _distinct([_anchor(each, why.get(each.id, "start")) for each in chain.symbols], k)
            return RouteAnswer(steps, "shortest path", len(chain.symbols), chain.snapshot, chain.refreshed)
    anchors: list[RouteAnchor] = []
    for symbol in symbols:
        answer = navigator.definition(NavigationRequest(symbol))
        anchors += [
            RouteAnchor(place.path, place.line, symbol, "declared here") for place in answer.locations
        ]
        anchors += _around(navigator, symbol, "")
    how = "no path between them" if len(symbols) == 2 else ""
    return RouteAnswer(_distinct(anchors, k), how, len(anchors), answer.snapshot, answer.refreshed)


def _around(navigator: Navigator, where: str, name: str) -> Iterator[RouteAnchor]:
    """The callers and callees of an anchor; none when the graph does not know it."""
    for relation, why in _REASONS.items():
        try:
            answer = navigator.neighbours(NeighboursRequest(where, relation, name, k=_NEIGHBOURS))
        except CodenibError:
            continue  # a section of prose, or a name that the graph does not have
        yield from (_anchor(each, f"{why} {answer.asked}") for each in answer.symbols if each.depth)


def _anchor(symbol: Symbol, why: str) -> RouteAnchor:
    return RouteAnchor(symbol.path, symbol.line, symbol.qualified, why)


def _distinct(anchors: Sequence[RouteAnchor], k: int) -> tuple[RouteAnchor, ...]:
    first: dict[tuple[str, int], RouteAnchor] = {}
    for anchor in anchors:
        first.setdefault((anchor.path, anchor.line), anchor)
    return tuple(first.values())[:k]

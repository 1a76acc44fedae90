"""Symbols in, their neighbours out, from the pinned graph: what `deps`, `callers` and the others ask."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from codenib.core.errors import InputError
from codenib.core.facts import BY_NAME, EdgeKind
from codenib.core.navigation import Position
from codenib.core.requests import NeighbourRelation, NeighboursRequest
from codenib.core.symbols import GraphAnswer, Symbol, SymbolEdge
from codenib.views.graph.facts.code_names import Use
from codenib.views.graph.maintenance.stale_syntax import describe as describe_stale
from codenib.views.graph.navigate import (
    declared_at,
    enclosing_node,
    extent_of,
    locate,
    location_of,
    occurrence_at,
    related,
)
from codenib.views.graph.read import GraphView
from codenib.views.graph.symbols import search
from codenib.views.graph.walk import (
    Direction,
    Edge,
    children,
    edges_of,
    members,
    overrides,
    shortest,
    walk,
)

if TYPE_CHECKING:
    from codenib.serving.snapshots.pinned import PinnedSnapshot
    from codenib.views.graph.unresolved import UnknownName


_KINDS: dict[NeighbourRelation, list[EdgeKind]] = {
    "callers": [EdgeKind.CALL],
    "callees": [EdgeKind.CALL],
    "subtypes": [EdgeKind.INHERIT],
}


def node_at(view: GraphView, position: Position) -> int:
    """What a position means to the graph: what is declared or used there, else what is around."""
    occurrence = occurrence_at(view, position)
    if occurrence is not None:
        for column in (view.occurrence_keys, view.occurrence_defs):
            for key in view.list_at(int(column[occurrence])):
                if key < view.count and not view.is_local(key):
                    return key
    if view.file_number(position.path) is None:
        raise InputError(f"the graph does not have {position.path}", hint=f"codenib read {position.path}")
    return enclosing_node(view, position)


def neighbours(pinned: PinnedSnapshot, node: int, request: NeighboursRequest) -> GraphAnswer:
    """What a node uses or is used by, its callers, callees or subtypes."""
    view, relation = pinned.graph, request.relation
    direction: Direction = "out" if relation in ("dependencies", "callees") else "in"
    starts = list(members(view, node)) if relation != "subtypes" else [node]
    if relation == "callers":
        starts = [node, *overrides(view, node)]
    overriding = []
    if relation == "affected":  # who calls what it overrides may reach it, what overrides it must follow it
        overriding = [other for at in starts for other in overrides(view, at)]
        starts += [base for at in list(starts) for base in related(view, "override", at) if base < view.count]
    kinds = _KINDS.get(relation) or edge_kinds(request.kinds)
    graph = walk(view, starts, direction, kinds=kinds, depth=request.depth, limit=request.k)
    # A thing's own parts are where it starts from, not what it depends on.
    own = set(starts) - {node}
    # A method that overrides the asked one and calls it is one of its callers.
    calling = {edge.source for edge in graph.edges if edge.source in own and relation == "callers"}
    others = [at for at in graph.nodes if at not in own - calling]
    edges = [
        edge for edge in graph.edges if edge.source in calling or not {edge.source, edge.to} <= set(starts)
    ]
    symbols = [describe(view, at, graph.depth_of[at] or (at in calling)) for at in others]
    symbols += [describe(view, at, 1) for at in overriding if at not in graph.depth_of]
    answer = _answer(pinned, symbols, [_lift(edge, own, calling, node) for edge in edges], node)
    note, unknown = _through_bases(view, node) if relation == "callers" else ("", 0)
    return replace(
        answer,
        total=len(symbols) - 1,
        truncated=graph.truncated,
        note="; ".join(filter(None, (answer.note, note))),
        unknown=unknown,
    )


def _through_bases(view: GraphView, node: int) -> tuple[str, int]:
    """That methods are called which a node overrides, and how often: such a call may be one of the node."""
    bases = [base for base in related(view, "override", node) if base < view.count]
    calls = {
        base: sum(edge.often for edge in edges_of(view, base, "in", [EdgeKind.CALL]) if edge.source != node)
        for base in bases
    }
    called = next((base for base in bases if calls[base]), None)
    if called is None:
        return "", 0
    place, name = location_of(view, called), view.qualified(called)
    note = f"calls of {name}, which it overrides, may reach it too: codenib callers {place.path}:{place.line}"
    return note, sum(calls.values())


def users_of_unknown(
    pinned: PinnedSnapshot, start: Symbol, places: Iterable[UnknownName], request: NeighboursRequest
) -> GraphAnswer:
    """The declarations around some places, each with how often it has one; of callers, calls alone count."""
    view = pinned.graph
    edges: dict[tuple[int, Use], SymbolEdge] = {}
    for each in places:
        position = Position(each.path, each.line, each.column)
        is_wanted = each.use is Use.CALL or request.relation != "callers"
        if not is_wanted or (request.kinds and each.use.label not in request.kinds):
            continue
        if declared_at(view, position):  # it declares another thing of this name
            continue
        node = enclosing_node(view, position)
        edge = edges.get((node, each.use)) or SymbolEdge(
            source=node, to=start.id, kind=each.use.label, path=each.path, line=each.line, often=0
        )
        edges[node, each.use] = replace(edge, often=edge.often + 1)
    around = dict.fromkeys(node for node, _ in edges if node != start.id)
    symbols = [replace(describe(view, node, 1), scope=BY_NAME) for node in around]
    return GraphAnswer(
        symbols=(start, *symbols),
        edges=tuple(edges.values()),
        snapshot=pinned.ref,
        total=len(symbols),
        truncated=False,
        seconds=0.0,
        asked=start.qualified,
    )


def shortest_path(pinned: PinnedSnapshot, start: int, goal: int) -> GraphAnswer:
    """The shortest chain of uses from one symbol to another; no symbols when there is no such chain."""
    view = pinned.graph
    chain = shortest(view, start, goal)
    if chain is None:
        return _answer(pinned, [], [], start)
    nodes = [chain[0].source if chain else start, *(edge.to for edge in chain)]
    return _answer(pinned, [describe(view, node, step) for step, node in enumerate(nodes)], chain, start)


def unknown_path(
    pinned: PinnedSnapshot, start: str | Position, goal: str | Position, build: str
) -> GraphAnswer:
    """That nobody knows whether there is a chain: names alone do not tell what uses what."""
    return GraphAnswer(
        symbols=(),
        edges=(),
        snapshot=pinned.ref,
        total=0,
        truncated=False,
        seconds=0.0,
        asked=str(start),
        note=f"whether {start} reaches {goal} is not known without a graph ({build})",
    )


def find_symbols(pinned: PinnedSnapshot, query: str, limit: int) -> GraphAnswer:
    """Declarations by name."""
    nodes, total = search(pinned.graph, query, limit)
    answer = _answer(pinned, [describe(pinned.graph, node) for node in nodes], [], None)
    return replace(answer, asked=query, total=total, truncated=total > len(nodes))


def outline(pinned: PinnedSnapshot, path: str) -> GraphAnswer:
    """The declarations of a file, outermost first, each with its depth."""
    view = pinned.graph
    file = view.file_number(path)
    if file is None:
        raise InputError(f"{path} has no facts in the graph", hint=f"codenib units {path}")
    symbols: list[Symbol] = []
    waiting = [(child, 0) for child in reversed(children(view, view.files_at + file))]
    while waiting:
        node, depth = waiting.pop()
        symbols.append(describe(view, node, depth))
        waiting += [(child, depth + 1) for child in reversed(children(view, node))]
    return _answer(pinned, symbols, [], view.files_at + file)


def describe(view: GraphView, node: int, depth: int = 0) -> Symbol:
    """A node as people see it; `depth` counts steps from what was asked."""
    if node < view.nodes_at:
        path, first, last = view.names[node], 1, 1
        file = node - view.files_at if node >= view.files_at else None
    else:
        place = extent_of(view, node)
        path, first, last = place.path, place.line, place.end_line
        file = int(view.file_of[node])
    return Symbol(
        id=node,
        name=view.names[node],
        qualified=view.qualified(node) if node >= view.nodes_at else path,
        kind=view.kind(node).label,
        path=path,
        line=first,
        end_line=last,
        group=view.group(file) if file is not None else "",
        importance=_importance(view, node),
        depth=depth,
        scope=view.scope(file) if file is not None else "",
    )


def _importance(view: GraphView, node: int) -> float:
    return round(float(view.importance[node]) * view.count, 3)


def _lift(edge: Edge, own: set[int], calling: set[int], node: int) -> Edge:
    """An edge of a part as the whole's."""
    source = node if edge.source in own - calling else edge.source
    to = node if edge.to in own else edge.to
    return Edge(source, to, edge.kind, edge.anchor, edge.often)


def _place(view: GraphView, edge: Edge) -> tuple[str, int]:
    """Where an edge's use stands; without an anchor, where its source is declared."""
    if edge.anchor >= 0:
        location = next(locate(view, np.array([edge.anchor], np.int32)))
        return location.path, location.line
    source = describe(view, edge.source)
    return source.path, source.line


def _answer(
    pinned: PinnedSnapshot, symbols: Sequence[Symbol], edges: Sequence[Edge], asked: int | None
) -> GraphAnswer:
    """All of these symbols, and their edges: those with the same ends and kind as one, at its first place."""
    view = pinned.graph
    merged: dict[tuple[int, int, EdgeKind], SymbolEdge] = {}
    for edge in edges:
        key = edge.source, edge.to, edge.kind
        if key in merged:
            merged[key] = replace(merged[key], often=merged[key].often + edge.often)
        else:
            path, line = _place(view, edge)
            merged[key] = SymbolEdge(
                source=edge.source, to=edge.to, kind=edge.kind.label, path=path, line=line, often=edge.often
            )
    notes = [f"{each.group}: {each.error}" for each in view.about.groups if each.error]
    notes += [describe_stale(sorted(view.about.stale))] if view.about.stale else []
    return GraphAnswer(
        symbols=tuple(symbols),
        edges=tuple(merged.values()),
        snapshot=pinned.ref,
        total=len(symbols),
        truncated=False,
        seconds=0.0,
        asked=view.qualified(asked) if asked is not None else "",
        backends={each.group: each.label for each in view.about.groups if each.resolved},
        note="; ".join(notes),
    )


def edge_kinds(names: Iterable[str]) -> list[EdgeKind]:
    """Kinds of edges by their labels; all when none is named."""
    known = {kind.label: kind for kind in EdgeKind}
    wanted = list(names)
    wrong = [name for name in wanted if name not in known]
    if wrong:
        raise InputError(f"unknown kind of edge: {', '.join(wrong)}", hint=f"--kind {'|'.join(known)}")
    return [known[name] for name in wanted] or list(EdgeKind)

"""Symbols in, their neighbours out, from the pinned graph: what `deps`, `callers` and the others ask."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
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


def neighbours(
    pinned: PinnedSnapshot, nodes: Sequence[int], request: NeighboursRequest, note: str = ""
) -> GraphAnswer:
    """What some nodes use or are used by, their callers, callees or subtypes; the nodes come first.

    `note` is said before what the graph has to say.
    """
    view, relation = pinned.graph, request.relation
    direction: Direction = "out" if relation in ("dependencies", "callees") else "in"
    # A thing's own parts are where it starts from, not what it depends on.
    whole_of = {part: node for node in nodes for part in _parts(view, node, relation)}
    whole_of |= {node: node for node in nodes}
    overriding = []
    if relation == "affected":  # who calls what it overrides may reach it, what overrides it must follow it
        overriding = [other for at in whole_of for other in overrides(view, at)]
        bases = [(base, at) for at in whole_of for base in related(view, "override", at) if base < view.count]
        whole_of |= {base: whole_of[at] for base, at in bases if base not in whole_of}
    kinds = _KINDS.get(relation) or edge_kinds(request.kinds)
    starts = [*nodes, *(at for at in whole_of if at not in nodes)]
    graph = walk(view, starts, direction, kinds=kinds, depth=request.depth, limit=request.k)
    # One of the asked may be a neighbour of another; a method that overrides one and calls it is a caller.
    calling = {edge.source for edge in graph.edges if relation == "callers" and edge.source in whole_of}
    calling -= {*nodes}
    edges = []
    near = []
    for edge in graph.edges:
        source = edge.source if edge.source in calling else whole_of.get(edge.source, edge.source)
        to = whole_of.get(edge.to, edge.to)
        if {edge.source, edge.to} <= whole_of.keys():
            if source == to:
                continue
            near.append(to if direction == "out" else source)
        edges.append(Edge(source, to, edge.kind, edge.anchor, edge.often))
    symbols = [describe(view, at, 1) for at in dict.fromkeys(near)]
    symbols += [describe(view, at, graph.depth_of[at]) for at in graph.nodes if at not in whole_of]
    symbols += [describe(view, at, 1) for at in overriding if at not in graph.depth_of]
    shown = {*nodes, *(each.id for each in symbols[: request.k])}
    edges = [edge for edge in edges if {edge.source, edge.to} <= shown]
    answer = _answer(pinned, [*map(partial(describe, view), nodes), *symbols[: request.k]], edges, nodes[0])
    through = [_through_bases(view, node) for node in nodes if relation == "callers"]
    return replace(
        answer,
        total=len(symbols),
        truncated=graph.truncated or len(symbols) > request.k,
        note="; ".join(filter(None, (note, answer.note, *(said for said, _ in through)))),
        unknown=sum(count for _, count in through),
    )


def _parts(view: GraphView, node: int, relation: NeighbourRelation) -> Iterable[int]:
    """What counts as a node where its neighbours are looked for: its parts; of callers, what overrides it."""
    if relation == "subtypes":
        return [node]
    return [node, *overrides(view, node)] if relation == "callers" else members(view, node)


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


def shortest_path(
    pinned: PinnedSnapshot, starts: Sequence[int], goals: Sequence[int], note: str = ""
) -> GraphAnswer:
    """The shortest chain of uses from one of some symbols to one of others; no symbols when there is none."""
    view = pinned.graph
    chain = shortest(view, starts, goals)
    nodes = []
    if chain is not None:
        nodes = [chain[0].source if chain else starts[0], *(edge.to for edge in chain)]
    symbols = [describe(view, node, step) for step, node in enumerate(nodes)]
    answer = _answer(pinned, symbols, chain or [], starts[0])
    return replace(answer, note="; ".join(filter(None, (note, answer.note))))


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

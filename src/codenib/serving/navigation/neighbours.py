"""Symbols in, their neighbours out, from the pinned graph: what `deps`, `callers` and the others ask."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from codenib.core.errors import InputError
from codenib.core.facts import EdgeKind
from codenib.core.navigation import Position
from codenib.core.symbols import GraphAnswer, Symbol, SymbolEdge
from codenib.views.graph.maintenance.broken import describe as describe_held
from codenib.views.graph.navigate import enclosing_node, extent_of, locate, occurrence_at
from codenib.views.graph.read import GraphView
from codenib.views.graph.symbols import search
from codenib.views.graph.walk import Edge, children, members, overrides, shortest, walk

if TYPE_CHECKING:
    from codenib.serving.snapshots.pinned import Pinned

Neighbours = Literal["dependencies", "dependents", "callers", "callees", "subtypes"]


def node_at(view: GraphView, position: Position) -> int:
    """What a position means to the graph: what is declared or used there, else what is around."""
    occurrence = occurrence_at(view, position)
    if occurrence is not None:
        for column in (view.occurrence_keys, view.occurrence_defs):
            for key in view.list_at(int(column[occurrence])):
                if key < view.count and not view.is_local(key):
                    return key
    return enclosing_node(view, position)


def neighbours(
    pinned: Pinned, node: int, which: Neighbours, *, depth: int, limit: int, kinds: Sequence[EdgeKind]
) -> GraphAnswer:
    """What a symbol uses or is used by, its callers, callees or subtypes, up to `depth` steps."""
    view = pinned.graph
    direction: Literal["in", "out"] = "out" if which in ("dependencies", "callees") else "in"
    if which in ("callers", "callees"):
        kinds = [EdgeKind.CALL]
    if which == "subtypes":
        kinds = [EdgeKind.INHERIT]
    starts = list(members(view, node)) if which != "subtypes" else [node]
    if which == "callers":
        starts = [node, *overrides(view, node)]
    graph = walk(view, starts, direction, kinds=kinds, depth=depth, limit=limit)
    # A thing's own parts are where it starts from, not what it depends on.
    own = set(starts) - {node}
    shown = [at for at in graph.nodes if at not in own]
    edges = [edge for edge in graph.edges if not {edge.source, edge.to} <= set(starts)]
    symbols = tuple(describe(view, at, graph.depth_of[at]) for at in shown)
    total = len(symbols) - 1
    lifted = (_edge(view, _lift(edge, own, node)) for edge in edges)
    return _answer(pinned, symbols, lifted, total, graph.truncated, node)


def shortest_path(pinned: Pinned, start: int, goal: int) -> GraphAnswer:
    """The shortest chain of uses from one symbol to another; none when there is no such chain."""
    view = pinned.graph
    found = shortest(view, start, goal)
    if found is None:
        return _answer(pinned, (), (), 0, False, start)
    nodes = [found[0].source, *(edge.to for edge in found)] if found else [start]
    symbols = tuple(describe(view, node, step) for step, node in enumerate(nodes))
    return _answer(pinned, symbols, (_edge(view, edge) for edge in found), len(symbols), False, start)


def find_symbols(pinned: Pinned, query: str, limit: int) -> GraphAnswer:
    """Declarations by name."""
    view = pinned.graph
    nodes, total = search(view, query, limit)
    return _answer(pinned, tuple(describe(view, node) for node in nodes), (), total, total > len(nodes), None)


def outline(pinned: Pinned, path: str) -> GraphAnswer:
    """The declarations of a file, outermost first, each with its depth."""
    view = pinned.graph
    file = view.file_number(path)
    if file is None:
        raise InputError(f"{path} has no facts in the graph", hint=f"codenib units {path}")
    found: list[Symbol] = []

    def visit(node: int, depth: int) -> None:
        for child in children(view, node):
            found.append(describe(view, child, depth))
            visit(child, depth + 1)

    visit(view.files_at + file, 0)
    return _answer(pinned, tuple(found), (), len(found), False, view.files_at + file)


def describe(view: GraphView, node: int, depth: int = 0) -> Symbol:
    """A node as people see it."""
    if node < view.nodes_at:
        group = view.group(node - view.files_at) if node >= view.files_at else ""
        path = view.names[node]
        return Symbol(node, path, path, view.kind(node).label, path, 1, 1, group, _rank(view, node), depth)
    place = extent_of(view, node)
    return Symbol(
        node,
        view.names[node],
        view.qualified(node),
        view.kind(node).label,
        place.path,
        place.line,
        place.end_line,
        view.group(int(view.file_of[node])),
        _rank(view, node),
        depth,
    )


def _rank(view: GraphView, node: int) -> float:
    return round(float(view.importance[node]) * view.count, 3)


def _lift(edge: Edge, own: set[int], node: int) -> Edge:
    """An edge of a part as the whole's."""
    source = node if edge.source in own else edge.source
    to = node if edge.to in own else edge.to
    return Edge(source, to, edge.kind, edge.anchor, edge.often)


def _edge(view: GraphView, edge: Edge) -> SymbolEdge:
    if edge.anchor >= 0:
        place = next(locate(view, np.array([edge.anchor], np.int32)))
        path, line = place.path, place.line
    else:
        where = describe(view, edge.source)
        path, line = where.path, where.line
    return SymbolEdge(edge.source, edge.to, edge.kind.label, path, line, edge.often)


def _answer(
    pinned: Pinned,
    symbols: tuple[Symbol, ...],
    edges: Iterable[SymbolEdge],
    total: int,
    truncated: bool,
    asked: int | None,
) -> GraphAnswer:
    view = pinned.graph
    backends = {each.group: each.backend for each in view.about.groups if each.resolved}
    notes = [f"{each.group}: {each.error}" for each in view.about.groups if each.error]
    notes += [describe_held(sorted(view.about.held))] if view.about.held else []
    note = "; ".join(notes)
    name = view.qualified(asked) if asked is not None else ""
    merged: dict[tuple[int, int, str], SymbolEdge] = {}
    for edge in edges:
        known = merged.get((edge.source, edge.to, edge.kind))
        often = edge.often + (known.often if known else 0)
        first = known or edge
        merged[edge.source, edge.to, edge.kind] = SymbolEdge(
            edge.source, edge.to, edge.kind, first.path, first.line, often
        )
    return GraphAnswer(
        symbols, tuple(merged.values()), pinned.ref, total, truncated, 0.0, name, backends, note=note
    )


def edge_kinds(names: Iterable[str]) -> list[EdgeKind]:
    """Kinds of edges by their labels; all when none is named."""
    known = {kind.label: kind for kind in EdgeKind}
    wanted = list(names)
    wrong = [name for name in wanted if name not in known]
    if wrong:
        raise InputError(f"unknown kind of edge: {', '.join(wrong)}", hint=f"--kind {'|'.join(known)}")
    return [known[name] for name in wanted] or list(EdgeKind)

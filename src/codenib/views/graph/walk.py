"""Nodes in, their neighbours out: dependencies with bounds, callers, callees, subtypes, shortest paths."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from codenib.core.facts import EdgeKind, NodeKind
from codenib.views.graph.navigate import relation_bounds
from codenib.views.graph.read import GraphView

Direction = Literal["out", "in"]
ALL_EDGES = frozenset(EdgeKind)


@dataclass(frozen=True, slots=True)
class Edge:
    """A use of one node by another; `anchor` is its first occurrence, -1 when only the backend knows."""

    source: int
    to: int
    kind: EdgeKind
    anchor: int
    often: int


@dataclass(frozen=True, slots=True)
class Subgraph:
    """What a bounded walk reached, nearest first; `truncated` says that there is more."""

    nodes: tuple[int, ...]
    depth_of: dict[int, int]
    edges: tuple[Edge, ...]
    truncated: bool


def edges_of(
    view: GraphView, node: int, direction: Direction, kinds: Iterable[EdgeKind] = ALL_EDGES
) -> Iterator[Edge]:
    """The edges out of a node, or into it."""
    wanted = frozenset(kinds)
    if direction == "out":
        numbers = range(int(view.out_ptr[node]), int(view.out_ptr[node + 1]))
    else:
        numbers = view.in_edges[view.in_ptr[node] : view.in_ptr[node + 1]].tolist()
    for at in numbers:
        kind = EdgeKind(int(view.edge_kind[at]))
        if kind in wanted:
            yield Edge(
                int(view.edge_source[at]), int(view.edge_to[at]), kind,
                int(view.edge_anchor[at]), int(view.edge_often[at]),
            )  # fmt: skip


def members(view: GraphView, node: int) -> Iterator[int]:
    """A node and every declaration inside it."""
    yield node
    if node < view.files_at:
        files = [at for at in range(view.files_at, view.nodes_at) if _under(view.names[at], view.names[node])]
        for file in files:
            yield from members(view, file)
        return
    file = int(view.file_of[node])
    first, last = int(view.first_node[file]), int(view.first_node[file + 1])
    if node < view.nodes_at:
        yield from range(first, last)
        return
    inside = {node}
    for at in range(node + 1, last):
        if int(view.parents[at]) in inside:
            inside.add(at)
            yield at


def walk(
    view: GraphView,
    starts: Iterable[int],
    direction: Direction,
    *,
    kinds: Iterable[EdgeKind] = ALL_EDGES,
    depth: int = 1,
    limit: int = 100,
) -> Subgraph:
    """Breadth first from `starts`: at most `depth` steps and `limit` nodes besides them.

    At each step the more important neighbour comes first, so that a limit keeps what matters.
    """
    wanted = frozenset(kinds)
    depth_of = dict.fromkeys(starts, 0)
    edges: list[Edge] = []
    level = list(depth_of)
    truncated = False
    room = limit + len(level)
    for step in range(1, depth + 1):
        reached: dict[int, None] = {}
        for node in level:
            for edge in edges_of(view, node, direction, wanted):
                other = edge.to if direction == "out" else edge.source
                edges.append(edge)
                if other not in depth_of:
                    reached[other] = None
        best = sorted(reached, key=lambda node: (-float(view.importance[node]), node))
        level = best[: max(room - len(depth_of), 0)]
        truncated |= len(level) < len(best)
        depth_of.update(dict.fromkeys(level, step))
        if not level:  # all there is, or all that fits: a depth of a billion takes no longer
            break
    inside = tuple(edge for edge in edges if edge.source in depth_of and edge.to in depth_of)
    return Subgraph(tuple(depth_of), depth_of, inside, truncated)


def shortest(
    view: GraphView, starts: Iterable[int], goals: Iterable[int], kinds: Iterable[EdgeKind] = ALL_EDGES
) -> list[Edge] | None:
    """The fewest edges from one of some nodes (or anything inside it) to one of others (likewise)."""
    wanted = frozenset(kinds)
    ends = {at for goal in goals for at in members(view, goal)}
    came: dict[int, Edge | None] = {at: None for start in starts for at in members(view, start)}
    queue = deque(came)
    while queue:
        node = queue.popleft()
        if node in ends:
            return _back(came, node)
        for edge in edges_of(view, node, "out", wanted):
            if edge.to not in came:
                came[edge.to] = edge
                queue.append(edge.to)
    return None


def subtypes(view: GraphView, node: int) -> list[int]:
    """Types that inherit from or implement a type."""
    return sorted({edge.source for edge in edges_of(view, node, "in", [EdgeKind.INHERIT])})


def supertypes(view: GraphView, node: int) -> list[int]:
    """What a type inherits from or implements."""
    return sorted({edge.to for edge in edges_of(view, node, "out", [EdgeKind.INHERIT])})


def overrides(view: GraphView, node: int) -> list[int]:
    """Methods that override or implement a method."""
    low, high = relation_bounds(view, "override")
    sources = view.relation_source[low:high][view.relation_to[low:high] == node]
    found: list[int] = sources[sources < view.count].tolist()
    return found


def children(view: GraphView, node: int) -> list[int]:
    """What a node directly holds, in source order; locals left out."""
    if node < view.files_at:
        found = np.flatnonzero(view.parents[: view.nodes_at] == node).tolist()
    else:
        file = int(view.file_of[node])
        first, last = int(view.first_node[file]), int(view.first_node[file + 1])
        found = (first + np.flatnonzero(view.parents[first:last] == node)).tolist()
    return [at for at in found if not view.is_local(at) and view.kind(at) is not NodeKind.IMPORT]


def _back(came: dict[int, Edge | None], node: int) -> list[Edge]:
    path: list[Edge] = []
    edge = came[node]
    while edge is not None:
        path.append(edge)
        edge = came[edge.source]
    return path[::-1]


def _under(path: str, folder: str) -> bool:
    return folder == "." or path.startswith(f"{folder}/")

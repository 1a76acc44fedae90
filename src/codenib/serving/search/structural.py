"""Ranked units and the graph in, units one reference away out: the structural route and the paper's fusion.

The paper's frozen parameters: a pool of 300, the first ten seed, at most ten unique neighbours a seed,
incoming and outgoing references, weights 1 and 0.5.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from codenib.core.answers import Evidence
from codenib.core.facts import EdgeKind
from codenib.core.navigation import Position
from codenib.planner.signals import Structural
from codenib.serving.search.evidence import unit_evidence
from codenib.serving.search.fusion import UnitKey, reciprocal_ranks
from codenib.serving.search.names import unit_names
from codenib.views.graph.navigate import enclosing_node, extent_of
from codenib.views.graph.symbols import resolve
from codenib.views.graph.walk import Direction, edges_of, members, overrides

if TYPE_CHECKING:
    from codenib.serving.snapshots.pinned import PinnedSnapshot

POOL = 300
SEEDS = 10
NEIGHBOURS = 10
DENSE_WEIGHT = 1.0
GRAPH_WEIGHT = 0.5
_REFERENCES = (EdgeKind.REFERENCE, EdgeKind.CALL, EdgeKind.TYPE_USE, EdgeKind.INHERIT)
_ASKED: dict[str, tuple[Direction, tuple[EdgeKind, ...]]] = {
    "callers": ("in", (EdgeKind.CALL,)),
    "callees": ("out", (EdgeKind.CALL,)),
    "references": ("in", _REFERENCES),
    "subtypes": ("in", (EdgeKind.INHERIT,)),
}


def expand(pinned: PinnedSnapshot, pool: Sequence[Evidence], asked: Structural | None) -> list[Evidence]:
    """Route D: what the question asks of its subject, then each seed followed by what is new around it."""
    units: dict[tuple[str, int], Evidence] = {}
    for item in _answering(pinned, asked):
        units.setdefault((item.path, item.start_line), item)
    for seed in pool[:SEEDS]:
        units.setdefault((seed.path, seed.start_line), seed)
        for item in neighbours_of(pinned, seed):
            units.setdefault((item.path, item.start_line), item)
    for item in pool[SEEDS:]:
        units.setdefault((item.path, item.start_line), item)
    return list(units.values())


def fuse_neighbours(
    pinned: PinnedSnapshot, pool: Sequence[Evidence], weight: float = GRAPH_WEIGHT
) -> list[Evidence]:
    """The paper's experimental fusion of a dense pool and its neighbours, by weighted reciprocal ranks."""
    items = {(item.path, item.start_line): item for item in pool}
    dense = {key: rank for rank, key in enumerate(items, 1)}
    neighbours: dict[UnitKey, None] = {}
    for seed in pool[:SEEDS]:
        for item in neighbours_of(pinned, seed):
            items.setdefault((item.path, item.start_line), item)
            neighbours[item.path, item.start_line] = None
    scores = reciprocal_ranks([(DENSE_WEIGHT, dense), (weight, neighbours)])
    order = sorted(items, key=lambda key: (-scores[key], dense.get(key, len(items) + 1), key))
    return [replace(items[key], score=round(scores[key], 6)) for key in order]


def neighbours_of(pinned: PinnedSnapshot, seed: Evidence) -> list[Evidence]:
    """Units that a unit refers to or that refer to it, at most ten, the more often the earlier."""
    view = pinned.graph
    if view.file_number(seed.path) is None:
        return []
    node = _declared_in(pinned, seed)
    if node is None:
        return []
    often: dict[int, int] = {}
    ways: tuple[Direction, ...] = ("in", "out")
    for direction in ways:
        for edge in edges_of(view, node, direction, _REFERENCES):
            other = edge.source if direction == "in" else edge.to
            if other >= view.nodes_at and other != node:
                often[other] = often.get(other, 0) + edge.often
    units: dict[tuple[str, int], Evidence] = {}
    for other in sorted(often, key=lambda each: (-often[each], -float(view.importance[each]), each)):
        item = _unit_of(pinned, other)
        if item is not None and (item.path, item.start_line) != (seed.path, seed.start_line):
            units.setdefault((item.path, item.start_line), item)
            if len(units) == NEIGHBOURS:
                break
    return list(units.values())


def _answering(pinned: PinnedSnapshot, asked: Structural | None) -> Iterator[Evidence]:
    """The units that a structural question asks for, and its subject."""
    if asked is None:
        return
    view = pinned.graph
    for node in resolve(view, asked.subject):
        if node < view.nodes_at:
            continue
        subject = _unit_of(pinned, node)
        if asked.verb in _ASKED:
            direction, kinds = _ASKED[asked.verb]
            starts = [node, *overrides(view, node)] if asked.verb == "callers" else list(members(view, node))
            for start in starts:
                for edge in edges_of(view, start, direction, kinds):
                    other = edge.source if direction == "in" else edge.to
                    item = _unit_of(pinned, other) if other >= view.nodes_at else None
                    if item is not None:
                        yield item
        if subject is not None:
            yield subject


def _declared_in(pinned: PinnedSnapshot, seed: Evidence) -> int | None:
    """The node that a unit declares, by its name, else what is around its last line."""
    view = pinned.graph
    name = seed.symbol.rpartition(".")[2]
    for node in resolve(view, seed.symbol) if seed.symbol else []:
        if node >= view.nodes_at and view.names[node] == name:
            place = extent_of(view, node)
            if place.path == seed.path and seed.start_line <= place.line <= seed.end_line:
                return node
    node = enclosing_node(view, Position(seed.path, seed.end_line, 0))
    return node if node >= view.nodes_at else None


def _unit_of(pinned: PinnedSnapshot, node: int) -> Evidence | None:
    """The unit of the lexical view that a node is declared in."""
    place = extent_of(pinned.graph, node)
    unit = unit_names(pinned).unit_at(place.path, place.line)
    return None if unit is None else unit_evidence(pinned.lexical, unit)

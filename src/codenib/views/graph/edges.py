"""Occurrences and enclosing nodes in, typed edges with their anchors out, and how central each node is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from codenib.core.facts import RELATIONS, SCOPES, EdgeKind, NodeFlag, Role
from codenib.views.graph.tables import Ints, Tables, expand

# PageRank's usual damping; thirty rounds bring Django's ranks to five digits.
_DAMPING = 0.85
_ROUNDS = 30


def derive_edges(tables: Tables, relations: Ints, count: int) -> Ints:
    """Rows of source, destination, kind, anchor (an occurrence, or -1) and how often; sorted, each once."""
    rows = tables.occurrences
    uses = np.flatnonzero((rows[:, 6] >= 0) & ((rows[:, 4] & Role.DECLARATION) == 0)).astype(np.int32)
    sources = enclosing(tables, uses)
    lists = rows[uses, 6]
    sizes = tables.list_ptr[lists + 1] - tables.list_ptr[lists]
    to = tables.list_items[expand(tables.list_ptr[lists], sizes)]
    uses, sources = np.repeat(uses, sizes), np.repeat(sources, sizes)
    inside = to < count
    uses, sources, to = uses[inside], sources[inside], to[inside]
    keep = (sources != to) & ((tables.flags[to] & NodeFlag.LOCAL) == 0)
    uses, sources, to = uses[keep], sources[keep], to[keep]
    kinds = edge_kinds(rows[uses, 4])
    bases = relations[
        (relations[:, 0] != RELATIONS.index("also")) & (relations[:, 0] != RELATIONS.index("override"))
    ]
    bases = bases[(bases[:, 1] < count) & (bases[:, 2] < count)]
    table = np.concatenate(
        [
            np.stack([sources, to, kinds, uses], axis=1),
            np.column_stack([bases[:, 1:], np.full((len(bases), 2), (EdgeKind.INHERIT, -1))]),
        ]
    ).astype(np.int32)  # fmt: skip
    # Anchors are ascending, so the first of equal edges is the first in the source; -1 gives way to a place.
    table = table[np.lexsort((table[:, 3].astype(np.uint32), table[:, 2], table[:, 1], table[:, 0]))]
    if not len(table):
        return np.zeros((0, 5), np.int32)
    new = np.concatenate([[True], np.any(table[1:, :3] != table[:-1, :3], axis=1)])
    starts = np.flatnonzero(new)
    often = np.diff([*starts, len(table)])
    return np.column_stack([table[starts], often]).astype(np.int32)


def edge_kinds(roles: Ints) -> Ints:
    """The kind of edge that a use with these roles is."""
    return np.select(
        [(roles & role) != 0 for role in (Role.INHERIT, Role.IMPORT, Role.CALL, Role.TYPE)],
        [EdgeKind.INHERIT, EdgeKind.IMPORT, EdgeKind.CALL, EdgeKind.TYPE_USE],
        EdgeKind.REFERENCE,
    ).astype(np.int32)


def enclosing(tables: Tables, occurrences: Ints) -> Ints:
    """For each occurrence the innermost scope that holds it and that others can name; else the file."""
    files = np.searchsorted(tables.first_occurrence, occurrences, side="right").astype(np.int64) - 1
    where = tables.occurrences[occurrences]
    place = _order(files, where[:, 0], where[:, 1])
    held = np.zeros(len(tables.kinds), bool)
    held[tables.nodes_at :] = np.isin(tables.kinds[tables.nodes_at :], [int(kind) for kind in SCOPES])
    held &= (tables.flags & NodeFlag.LOCAL) == 0
    scopes = np.flatnonzero(held)
    if not len(scopes):
        return (files + tables.files_at).astype(np.int32)
    owner = tables.file_of[scopes].astype(np.int64)
    begins = _order(owner, tables.ranges[scopes, 0], tables.ranges[scopes, 1])
    ends = _order(owner, tables.ranges[scopes, 2], tables.ranges[scopes, 3])
    sorting = np.argsort(begins, kind="stable")
    scopes, begins, ends, owner = scopes[sorting], begins[sorting], ends[sorting], owner[sorting]
    outer = _outer(begins, ends, owner)
    at = np.searchsorted(begins, place, side="right") - 1
    left = np.flatnonzero(at >= 0)
    while len(left):
        held = at[left]
        left = left[(ends[held] < place[left]) | (owner[held] != files[left])]
        at[left] = outer[at[left]]
        left = left[at[left] >= 0]
    return np.where(at >= 0, scopes[at], files + tables.files_at).astype(np.int32)


def _outer(begins: NDArray[np.int64], ends: NDArray[np.int64], owner: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each scope, in order of their begins, the next one around it; -1 for none."""
    found = np.full(len(begins), -1, np.int64)
    stack: list[int] = []
    last = -1
    for at, (end, file) in enumerate(zip(ends.tolist(), owner.tolist(), strict=True)):
        if file != last:
            stack, last = [], file
        begin = begins[at]
        while stack and ends[stack[-1]] < begin:
            stack.pop()
        found[at] = stack[-1] if stack else -1
        if not stack or end <= ends[stack[-1]]:
            stack.append(at)
    return found


def _order(files: NDArray[np.int64], lines: Ints, columns: Ints) -> NDArray[np.int64]:
    """A number that orders places of the whole repository; columns past the last bit count as the last."""
    return (files << 40) + (lines.astype(np.int64) << 16) + np.minimum(columns, 0xFFFF)


def write_edges(edges: Ints, count: int, out: Path) -> None:
    """The edges by source, and their order by destination."""
    names = ("source", "to", "kind", "anchor", "often")
    for column, name in enumerate(names):
        kind = np.uint8 if name == "kind" else np.int32
        np.save(out / f"edge_{name}.npy", np.ascontiguousarray(edges[:, column].astype(kind)))
    np.save(out / "out_ptr.npy", _pointers(edges[:, 0], count))
    np.save(out / "in_ptr.npy", _pointers(edges[:, 1], count))
    np.save(out / "in_edges.npy", np.lexsort((edges[:, 2], edges[:, 0], edges[:, 1])).astype(np.int32))


def _pointers(nodes: Ints, count: int) -> Ints:
    return np.concatenate([[0], np.cumsum(np.bincount(nodes, minlength=count))]).astype(np.int32)


def importance(edges: Ints, count: int) -> NDArray[np.float32]:
    """PageRank over the edges; sums to one."""
    if not count:
        return np.zeros(0, np.float32)
    sources, to = edges[:, 0], edges[:, 1]
    degree = np.bincount(sources, minlength=count)
    share = 1.0 / np.maximum(degree, 1)
    rank = np.full(count, 1.0 / count)
    for _ in range(_ROUNDS):
        flow = np.bincount(to, weights=rank[sources] * share[sources], minlength=count)
        loose = rank[degree == 0].sum() / count
        rank = (1 - _DAMPING) / count + _DAMPING * (flow + loose)
    return rank.astype(np.float32)

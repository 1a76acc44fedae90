"""Occurrences and enclosing nodes in, typed edges with their anchors out, and how central each node is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from codenib.core.facts import NO_REFERENCE, RELATIONS, SCOPES, EdgeKind, NodeFlag, Role
from codenib.views.arrays import save_array
from codenib.views.graph.assembly.tables import Tables, distinct
from codenib.views.graph.facts.rows import Ints, Rows

#: `anchor` is the first occurrence of an edge (-1: only the backend knows of it), `often` how many there are.
EDGE = np.dtype([(name, "<i4") for name in ("source", "to", "kind", "anchor", "often")])

# PageRank's usual damping; thirty rounds bring Django's ranks to five digits.
_DAMPING = 0.85
_ROUNDS = 30


def derive_edges(tables: Tables, relations: Rows, count: int) -> Rows:
    """The edges between the first `count` nodes; sorted, each once."""
    rows = tables.occurrences
    uses, to = _uses(tables, count)
    sources = enclosing(tables, uses)
    keep = (sources != to) & ((tables.flags[to] & NodeFlag.LOCAL) == 0)
    uses, sources, to = uses[keep], sources[keep], to[keep]
    bases = _bases(relations, count)
    table = np.zeros(len(uses) + len(bases), EDGE)
    table["source"] = np.concatenate([sources, bases["source"]])
    table["to"] = np.concatenate([to, bases["to"]])
    table["kind"][: len(uses)] = edge_kinds(rows["roles"][uses])
    table["kind"][len(uses) :] = EdgeKind.INHERIT
    table["anchor"] = np.concatenate([uses, np.full(len(bases), -1)])
    return _counted(table)


def _uses(tables: Tables, count: int) -> tuple[Ints, Ints]:
    """Each use with each of the first `count` nodes that it is an occurrence of or is defined by.

    A token that names neither what it is defined by nor anything else is no use: an engine leads from the
    keyword of an argument to the function where no parameter has its name, and from `this` to a class.
    """
    rows = tables.occurrences
    uses = np.flatnonzero((rows["roles"] & Role.DECLARATION) == 0).astype(np.int32)
    known = (rows["keys"][uses] >= 0) | ((rows["roles"][uses] & Role.INEXACT) == 0)
    named = uses[known & ((rows["roles"][uses] & NO_REFERENCE) == 0)]
    found = [tables.targets_of(uses, "keys"), tables.targets_of(named, "defs")]
    to = np.concatenate([targets for _, targets in found]).astype(np.int64)
    uses = np.concatenate([having for having, _ in found])
    pairs = distinct((uses[to < count].astype(np.int64) << 32) | to[to < count])
    return (pairs >> 32).astype(np.int32), (pairs & 0xFFFFFFFF).astype(np.int32)


def _bases(relations: Rows, count: int) -> Rows:
    """The relations from a type to what it inherits from or implements, both in the repository."""
    kinds = [RELATIONS.index("inherit"), RELATIONS.index("implement")]
    inside = (relations["source"] < count) & (relations["to"] < count)
    return relations[np.isin(relations["kind"], kinds) & inside]


def _counted(table: Rows) -> Rows:
    """Equal edges as one, with its first anchor and how often it stands in the table; sorted."""
    if not len(table):
        return table
    # Anchors are ascending, so the first of equal edges is the first in the source; -1 gives way to a place.
    anchors = table["anchor"].astype(np.uint32)
    table = table[np.lexsort((anchors, table["kind"], table["to"], table["source"]))]
    new = np.ones(len(table), bool)
    new[1:] = np.any([np.diff(table[name]) != 0 for name in ("source", "to", "kind")], axis=0)
    starts = np.flatnonzero(new)
    edges = table[starts]
    edges["often"] = np.diff([*starts, len(table)])
    return edges


def edge_kinds(roles: Ints) -> Ints:
    """The kind of edge that a use with these roles is."""
    return np.select(
        [(roles & role) != 0 for role in (Role.INHERIT, Role.IMPORT, Role.CALL, Role.TYPE)],
        [EdgeKind.INHERIT, EdgeKind.IMPORT, EdgeKind.CALL, EdgeKind.TYPE_USE],
        EdgeKind.REFERENCE,
    ).astype(np.int32)


def enclosing(tables: Tables, occurrences: Ints) -> Ints:
    """For each occurrence the innermost scope around it that other files can name; else its file."""
    files = np.searchsorted(tables.first_occurrence, occurrences, side="right").astype(np.int64) - 1
    where = tables.occurrences[occurrences]
    place = _order(files, where["line"], where["column"])
    is_scope = np.zeros(len(tables.kinds), bool)
    is_scope[tables.nodes_at :] = np.isin(tables.kinds[tables.nodes_at :], [int(kind) for kind in SCOPES])
    is_scope &= (tables.flags & NodeFlag.LOCAL) == 0
    scopes = np.flatnonzero(is_scope)
    if not len(scopes):
        return (files + tables.files_at).astype(np.int32)
    owner = tables.file_of[scopes].astype(np.int64)
    ranges = tables.ranges[scopes]
    begins = _order(owner, ranges["line"], ranges["column"])
    ends = _order(owner, ranges["end_line"], ranges["end_column"])
    sorting = np.argsort(begins, kind="stable")
    scopes, begins, ends, owner = scopes[sorting], begins[sorting], ends[sorting], owner[sorting]
    outer = _outer(begins, ends, owner)
    at = np.searchsorted(begins, place, side="right") - 1
    left = np.flatnonzero(at >= 0)
    while len(left):
        scope = at[left]
        left = left[(ends[scope] < place[left]) | (owner[scope] != files[left])]
        at[left] = outer[at[left]]
        left = left[at[left] >= 0]
    return np.where(at >= 0, scopes[at], files + tables.files_at).astype(np.int32)


def _outer(begins: NDArray[np.int64], ends: NDArray[np.int64], owner: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each scope, in order of their begins, the next one around it; -1 for none."""
    stack: list[int] = []
    last = -1
    around = [-1] * len(begins)
    last_at = ends.tolist()
    for at, (begin, end, file) in enumerate(zip(begins.tolist(), last_at, owner.tolist(), strict=True)):
        if file != last:
            stack, last = [], file
        while stack and last_at[stack[-1]] < begin:
            stack.pop()
        around[at] = stack[-1] if stack else -1
        if not stack or end <= last_at[stack[-1]]:
            stack.append(at)
    return np.array(around, np.int64)


def _order(files: NDArray[np.int64], lines: Ints, columns: Ints) -> NDArray[np.int64]:
    """A number that orders places of the whole repository; columns past the last bit count as the last."""
    return (files << 40) + (lines.astype(np.int64) << 16) + np.minimum(columns, 0xFFFF)


def write_edges(edges: Rows, count: int, out: Path) -> None:
    """The edges by source, and their order by destination."""
    for name in EDGE.names or ():
        save_array(out / f"edge_{name}.npy", edges[name].astype(np.uint8 if name == "kind" else np.int32))
    save_array(out / "out_ptr.npy", _pointers(edges["source"], count))
    save_array(out / "in_ptr.npy", _pointers(edges["to"], count))
    by_destination = np.lexsort((edges["kind"], edges["source"], edges["to"]))
    save_array(out / "in_edges.npy", by_destination.astype(np.int32))


def _pointers(nodes: Ints, count: int) -> Ints:
    return np.concatenate([[0], np.cumsum(np.bincount(nodes, minlength=count))]).astype(np.int32)


def importance(edges: Rows, count: int) -> NDArray[np.float32]:
    """PageRank over the edges; sums to one."""
    if not count:
        return np.zeros(0, np.float32)
    sources, to = edges["source"], edges["to"]
    degree = np.bincount(sources, minlength=count)
    share = 1.0 / np.maximum(degree, 1)
    rank = np.full(count, 1.0 / count)
    for _ in range(_ROUNDS):
        flow = np.bincount(to, weights=rank[sources] * share[sources], minlength=count)
        loose = rank[degree == 0].sum() / count
        rank = (1 - _DAMPING) / count + _DAMPING * (flow + loose)
    return rank.astype(np.float32)

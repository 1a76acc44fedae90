"""A file's declarations and an edit of its text in, the declarations that the edit reaches out. Pure.

A *body* is the lines of a function or method that is not inside another; the other lines are loose. A body
without a hunk only moves. A *chain* is the dotted names from the file down to a declaration.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from codenib.core.facts import NodeFlag, NodeKind
from codenib.views.graph.facts.file import FileFacts
from codenib.views.graph.maintenance.text_edit import TextEdit

_BODIES = (NodeKind.FUNCTION, NodeKind.METHOD, NodeKind.PROPERTY)


@dataclass(frozen=True)
class Body:
    """The lines of one function that others can name."""

    chain: str
    first: int
    last: int


def bodies(facts: FileFacts) -> list[Body]:
    """The bodies of a file, in order; one inside another is part of it."""
    found: list[Body] = []
    nodes = facts.nodes
    chosen = np.flatnonzero(((nodes["flags"] & NodeFlag.LOCAL) == 0) & np.isin(nodes["kind"], _BODIES))
    rows = sorted((int(nodes["line"][at]), -int(nodes["end_line"][at]), int(at)) for at in chosen)
    for first, last, at in rows:
        if not found or first > found[-1].last:
            found.append(Body(facts.chain(at), first, -last))
    return found


def bodies_of_lines(lines: set[int], candidates: Sequence[Body]) -> list[Body] | None:
    """The bodies that these lines stand in; None when some line is loose."""
    touched: dict[Body, None] = {}
    firsts = np.array([body.first for body in candidates], np.int64)
    for line in lines:
        at = int(np.searchsorted(firsts, line, side="right")) - 1
        if at < 0 or line > candidates[at].last:
            return None
        touched[candidates[at]] = None
    return sorted(touched, key=lambda body: body.first)


def chains_in(facts: FileFacts, chosen: Sequence[Body]) -> list[str]:
    """What is declared for others inside these bodies: they themselves, and fields that they set."""
    lines, flags = facts.nodes["name_line"], facts.nodes["flags"]
    found = {body.chain for body in chosen}
    for body in chosen:
        here = (lines >= body.first) & (lines <= body.last) & ((flags & NodeFlag.LOCAL) == 0)
        found.update(facts.chain(int(at)) for at in np.flatnonzero(here))
    return sorted(found)


def chains_of_edit(old: FileFacts, new: FileFacts, edit: TextEdit) -> list[str] | None:
    """The declarations whose types an edit changes by itself; None when that may be any of the file's.

    All changed lines are in bodies, and every other body is as it was: then it is what these bodies declare.
    """
    sides = [bodies(old), bodies(new)]
    chains: set[str] = set()
    for side, facts in enumerate((old, new)):
        chosen = bodies_of_lines(edit.written(side), sides[side])
        if chosen is None:
            return None
        near = (bodies_of_lines({line}, sides[side]) for line in edit.neighbours(side))
        chains.update(chains_in(facts, [*chosen, *(body for found in near for body in found or ())]))
    others = [[body for body in candidates if body.chain not in chains] for candidates in sides]
    if [body.chain for body in others[0]] != [body.chain for body in others[1]]:
        return None
    if not all(only_moved(was, now, edit) for was, now in zip(*others, strict=True)):
        return None
    return sorted(chains | {owner for chain in chains for owner in owners(chain)})


def only_moved(was: Body, now: Body, edit: TextEdit) -> bool:
    """Whether an edit leaves every line of a body as it was."""
    lines = edit.line_map[was.first : was.last + 1]
    return np.array_equal(lines, np.arange(now.first, now.last + 1))


def owners(chain: str) -> Iterator[str]:
    """The chains of what a declaration stands in."""
    while "." in chain:
        chain = chain.rpartition(".")[0]
        yield chain


def chains_at(facts: FileFacts, lines: set[int]) -> list[str]:
    """The declarations whose types may depend on these lines; a loose line counts for all that are loose."""
    candidates = bodies(facts)
    touched: dict[Body, None] = {}
    loose = False
    for line in sorted(lines):
        chosen = bodies_of_lines({line}, candidates)
        loose = loose or chosen is None
        touched.update(dict.fromkeys(chosen or ()))
    chains = set(chains_in(facts, list(touched)))
    if loose:
        apart = np.flatnonzero((facts.nodes["flags"] & NodeFlag.LOCAL) == 0)
        rows = zip(apart.tolist(), facts.nodes["name_line"][apart].tolist(), strict=True)
        chains.update(facts.chain(at) for at, line in rows if bodies_of_lines({line}, candidates) is None)
    return sorted(chains | {owner for chain in chains for owner in owners(chain)})

"""Two texts of a file and its declarations in, what the edit did to each declaration out. Pure.

Hunks without context, as `git diff -U0` has them, say which lines changed. A *body* is the lines of a
function or method that is not inside another; the other lines are loose. A body without a hunk only moves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from itertools import groupby, islice

import numpy as np
from numpy.typing import NDArray

from codenib.core.facts import NodeFlag, NodeKind
from codenib.views.graph.facts.file import FileFacts
from codenib.views.graph.maintenance.update import SymbolChange

_BODIES = (NodeKind.FUNCTION, NodeKind.METHOD, NodeKind.PROPERTY)
_MOST_LINES = 4000  # between the first and the last changed line; more count as one hunk

Hunk = tuple[int, int, int, int]  # old lines from, to; new lines from, to: 0-based, the ends exclusive


class Edit:
    """What turns one text into another, by lines."""

    def __init__(self, old: bytes, new: bytes) -> None:
        self.old = old.split(b"\n")
        self.new = new.split(b"\n")

    @cached_property
    def hunks(self) -> list[Hunk]:
        """The changed stretches, in order."""
        old, new = self.old, self.new
        most = min(len(old), len(new))
        head = next((at for at in range(most) if old[at] != new[at]), most)
        most -= head
        tail = next((at for at in range(most) if old[-1 - at] != new[-1 - at]), most)
        middle = (old[head : len(old) - tail], new[head : len(new) - tail])
        if max(map(len, middle)) > _MOST_LINES:
            return [(head, len(old) - tail, head, len(new) - tail)]
        codes = SequenceMatcher(None, *middle, autojunk=False).get_opcodes()
        return [(a + head, b + head, c + head, d + head) for tag, a, b, c, d in codes if tag != "equal"]

    @cached_property
    def line_map(self) -> NDArray[np.int32]:
        """The new line of each old line; -1 where it changed or went."""
        found = np.full(len(self.old), -1, np.int32)
        at, shift = 0, 0
        for begin, end, _, new_end in self.hunks:
            found[at:begin] = np.arange(at, begin) + shift
            at, shift = end, new_end - end
        found[at:] = np.arange(at, len(self.old)) + shift
        return found

    def written(self, side: int) -> set[int]:
        """The changed lines of the old (0) or new (1) text that are not blank."""
        text = (self.old, self.new)[side]
        changed = (range(hunk[2 * side], hunk[2 * side + 1]) for hunk in self.hunks)
        return {line for lines in changed for line in lines if text[line].strip()}

    def neighbours(self, side: int) -> set[int]:
        """The lines that are not blank before and after each hunk."""
        text = (self.old, self.new)[side]
        found: set[int] = set()
        for hunk in self.hunks:
            above = range(hunk[2 * side] - 1, -1, -1)
            below = range(hunk[2 * side + 1], len(text))
            for lines in (above, below):
                found.update(islice((line for line in lines if text[line].strip()), 1))
        return found

    def reaches(self, side: int, first: int, last: int) -> bool:
        """Whether a hunk changes one of these lines, or puts or takes some between them."""
        for hunk in self.hunks:
            begin, end = hunk[2 * side], hunk[2 * side + 1]
            if (begin <= last and end > first) if end > begin else first < begin <= last:
                return True
        return False


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


def inside(lines: set[int], found: Sequence[Body]) -> list[Body] | None:
    """The bodies that hold all these lines; None when some line is loose."""
    hit: dict[Body, None] = {}
    firsts = np.array([body.first for body in found], np.int64)
    for line in lines:
        at = int(np.searchsorted(firsts, line, side="right")) - 1
        if at < 0 or line > found[at].last:
            return None
        hit[found[at]] = None
    return sorted(hit, key=lambda body: body.first)


def chains_in(facts: FileFacts, chosen: Sequence[Body]) -> list[str]:
    """What is declared for others inside these bodies: they themselves, and fields that they set."""
    lines, flags = facts.nodes["name_line"], facts.nodes["flags"]
    found = {body.chain for body in chosen}
    for body in chosen:
        here = (lines >= body.first) & (lines <= body.last) & ((flags & NodeFlag.LOCAL) == 0)
        found.update(facts.chain(int(at)) for at in np.flatnonzero(here))
    return sorted(found)


def chains_of_edit(old: FileFacts, new: FileFacts, edit: Edit) -> list[str] | None:
    """The declarations whose types an edit changes by itself; None when that may be any of the file's.

    All changed lines are in bodies, and every other body is as it was: then it is what these bodies declare.
    """
    sides = [bodies(old), bodies(new)]
    chains: set[str] = set()
    for side, facts in enumerate((old, new)):
        chosen = inside(edit.written(side), sides[side])
        if chosen is None:
            return None
        near = (inside({line}, sides[side]) for line in edit.neighbours(side))
        chains.update(chains_in(facts, [*chosen, *(body for found in near for body in found or ())]))
    kept = [[body for body in found if body.chain not in chains] for found in sides]
    if [body.chain for body in kept[0]] != [body.chain for body in kept[1]]:
        return None
    for was, now in zip(*kept, strict=True):
        lines = edit.line_map[was.first : was.last + 1]
        if not np.array_equal(lines, np.arange(now.first, now.last + 1)):
            return None
    return sorted(chains | {owner for chain in chains for owner in owners(chain)})


def owners(chain: str) -> Iterator[str]:
    """The chains of what a declaration stands in."""
    while "." in chain:
        chain = chain.rpartition(".")[0]
        yield chain


def chains_at(facts: FileFacts, lines: set[int]) -> list[str]:
    """The declarations whose types may depend on these lines; a loose line counts for all that are loose."""
    found = bodies(facts)
    hit: dict[Body, None] = {}
    loose = False
    for line in sorted(lines):
        chosen = inside({line}, found)
        loose = loose or chosen is None
        hit.update(dict.fromkeys(chosen or ()))
    chains = set(chains_in(facts, list(hit)))
    if loose:
        apart = np.flatnonzero((facts.nodes["flags"] & NodeFlag.LOCAL) == 0)
        rows = zip(apart.tolist(), facts.nodes["name_line"][apart].tolist(), strict=True)
        chains.update(facts.chain(at) for at, line in rows if inside({line}, found) is None)
    return sorted(chains | {owner for chain in chains for owner in owners(chain)})


def symbol_changes(old: FileFacts, new: FileFacts, edit: Edit) -> Iterator[SymbolChange]:
    """What the edit did to each declaration that others can name, in the order of the new text."""
    names = ({name: at for at, name in enumerate(facts.identities)} for facts in (old, new))
    before, after = names
    for name, at in after.items():
        node = new.nodes[at]
        if node["flags"] & NodeFlag.LOCAL or node["kind"] == NodeKind.IMPORT:
            continue
        line, end = int(node["line"]), int(node["end_line"])
        if name not in before:
            yield _change(new, at, "added")
            continue
        was = old.nodes[before[name]]
        by = line - int(was["line"])
        hit = edit.reaches(1, line, end) or edit.reaches(0, int(was["line"]), int(was["end_line"]))
        yield _change(new, at, "affected" if hit else "shifted" if by else "unchanged", by)
    for name, at in before.items():
        if name not in after and not old.nodes["flags"][at] & NodeFlag.LOCAL:
            yield _change(old, at, "deleted")


def _change(facts: FileFacts, at: int, change: str, by: int = 0) -> SymbolChange:
    node = facts.nodes[at]
    kind = NodeKind(int(node["kind"])).label
    return SymbolChange(
        path=facts.path,
        symbol=facts.chain(at),
        kind=kind,
        change=change,
        line=int(node["name_line"]) + 1,
        by=by,
    )


def ranges(lines: Sequence[int]) -> list[tuple[int, int]]:
    """Sorted lines as first and last of each unbroken run."""
    found = []
    for _, run in groupby(enumerate(lines), lambda pair: pair[1] - pair[0]):
        numbers = [line for _, line in run]
        found.append((numbers[0], numbers[-1]))
    return found

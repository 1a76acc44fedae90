"""Two texts of a file in, what turns one into the other by lines out. Pure.

Hunks without context, as `git diff -U0` has them, say which lines changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import cached_property
from itertools import groupby, islice

import numpy as np

from codenib.views.graph.facts.rows import Ints

_MOST_LINES = 4000  # between the first and the last changed line; more count as one hunk

Hunk = tuple[int, int, int, int]  # old lines from, to; new lines from, to: 0-based, the ends exclusive


class TextEdit:
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
    def line_map(self) -> Ints:
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


def ranges(lines: Sequence[int]) -> list[tuple[int, int]]:
    """Sorted lines as first and last of each unbroken run."""
    found = []
    for _, run in groupby(enumerate(lines), lambda pair: pair[1] - pair[0]):
        numbers = [line for _, line in run]
        found.append((numbers[0], numbers[-1]))
    return found

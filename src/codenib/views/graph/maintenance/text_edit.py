"""Two texts of a file in, what turns one into the other by lines out. Pure.

Hunks without context, as `git diff -U0` has them, say which lines changed.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
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
        return [(a + head, b + head, c + head, d + head) for a, b, c, d in _differences(*middle)]

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


def _differences(old: Sequence[bytes], new: Sequence[bytes]) -> Iterator[Hunk]:
    """The hunks between two texts. Lines that are once in both are aligned first, as `git diff --patience`
    does: a quadratic match of all lines took half of the time that explaining an update did.
    """
    at, other = 0, 0
    for left, right in (*_anchors(old, new), (len(old), len(new))):
        if at < left and other < right:
            codes = SequenceMatcher(None, old[at:left], new[other:right], autojunk=False).get_opcodes()
            for tag, a, b, c, d in codes:
                if tag != "equal":
                    yield a + at, b + at, c + other, d + other
        elif at < left or other < right:
            yield at, left, other, right
        at, other = left + 1, right + 1


def _anchors(old: Sequence[bytes], new: Sequence[bytes]) -> list[tuple[int, int]]:
    """Lines that are once in each text: as many pairs as ascend on both sides."""
    times = (Counter(old), Counter(new))
    places = {line: at for at, line in enumerate(new) if times[0][line] == times[1][line] == 1}
    ends: list[int] = []  # the least place at which a run of each length ends
    runs: list[tuple[int, int, int]] = []  # a line's two places, and the line before it in its run
    last: list[int] = []
    for at, line in enumerate(old):
        place = places.get(line, -1)
        if place < 0:
            continue
        length = bisect_left(ends, place)
        ends[length : length + 1] = [place]
        runs.append((at, place, last[length - 1] if length else -1))
        last[length : length + 1] = [len(runs) - 1]
    found = []
    run = last[-1] if last else -1
    while run >= 0:
        at, place, run = runs[run]
        found.append((at, place))
    return found[::-1]


def ranges(lines: Sequence[int]) -> list[tuple[int, int]]:
    """Sorted lines as first and last of each unbroken run."""
    found = []
    for _, run in groupby(enumerate(lines), lambda pair: pair[1] - pair[0]):
        numbers = [line for _, line in run]
        found.append((numbers[0], numbers[-1]))
    return found

"""Line ranges after a change in, where they were before it and whether it touched them out. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

import numpy as np
from numpy.typing import NDArray

from codenib.core.history import Hunk

Lines = NDArray[np.int64]
Flags = NDArray[np.bool_]
EMPTY = (1, 0)  # a range that does not exist yet
_MAX_PAIRS = 4_000_000  # of lines compared; about a second


def step_back(starts: Lines, ends: Lines, hunks: NDArray[np.integer]) -> tuple[Lines, Lines, Flags]:
    """Each range before the change, empty where the change created it; and which ranges it touched.

    A range that begins or ends inside a hunk takes that hunk's old lines with it, as `git log -L` does. A
    pure deletion touches a range when it lies between two lines of it.

    >>> one = np.array([5]), np.array([8])
    >>> [part.tolist() for part in step_back(*one, np.array([[2, 0, 3, 2]]))]
    [[3], [6], [False]]
    >>> [part.tolist() for part in step_back(*one, np.array([[6, 3, 6, 1]]))]
    [[5], [10], [True]]
    """
    rows = np.asarray(hunks, np.int64).reshape(-1, 4)
    if not len(rows):
        return starts, ends, np.zeros(len(starts), bool)
    old_start, old_count, new_start, new_count = rows.T
    old_first = old_start + (old_count == 0)  # an empty side is named by the line before it
    new_first = new_start + (new_count == 0)
    old_last, new_last = old_first + old_count - 1, new_first + new_count - 1
    shift = np.concatenate(([0], np.cumsum(new_count - old_count)))
    before = np.searchsorted(new_last, starts, side="left")  # hunks that end before the range
    within = np.searchsorted(new_first, ends, side="right")  # hunks that do not begin after it
    at = np.minimum(before, len(rows) - 1)
    opens = (before < len(rows)) & (new_first[at] <= starts) & (new_count[at] > 0)
    last = np.maximum(within - 1, 0)
    closes = (within > 0) & (new_last[last] >= ends) & (new_count[last] > 0)
    first = np.where(opens, old_first[at], starts - shift[before])
    end = np.where(closes, old_last[last], ends - shift[within])
    gone = (first > end) | (starts > ends)
    touched = (before < within) & (starts <= ends)
    return np.where(gone, EMPTY[0], first), np.where(gone, EMPTY[1], end), touched


def join(starts: Lines, ends: Lines, more_starts: Lines, more_ends: Lines) -> tuple[Lines, Lines]:
    """The ranges that hold both; an empty one adds nothing."""
    none, no_more = starts > ends, more_starts > more_ends
    first = np.where(none, more_starts, np.where(no_more, starts, np.minimum(starts, more_starts)))
    last = np.where(none, more_ends, np.where(no_more, ends, np.maximum(ends, more_ends)))
    return first, last


def hunks_between(old: Sequence[str], new: Sequence[str]) -> NDArray[np.int64]:
    """Hunks that turn some lines into others, as git would print them; one for all where that is too slow.

    >>> hunks_between(["a", "b", "c"], ["a", "x", "y", "c"]).tolist()
    [[2, 1, 2, 2]]
    """
    head = _shared(old, new)
    tail = _shared(old[head:][::-1], new[head:][::-1])
    left, right = old[head : len(old) - tail], new[head : len(new) - tail]
    blocks = [("replace", 0, len(left), 0, len(right))]
    if len(left) * len(right) <= _MAX_PAIRS:
        blocks = list(SequenceMatcher(None, left, right, autojunk=False).get_opcodes())
    hunks = [
        Hunk(head + a + (b > a), b - a, head + c + (d > c), d - c)
        for tag, a, b, c, d in blocks
        if tag != "equal" and (b > a or d > c)
    ]
    return np.array(hunks, np.int64).reshape(-1, 4)


def _shared(left: Sequence[str], right: Sequence[str]) -> int:
    """How many first lines are equal."""
    pairs = enumerate(zip(left, right, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(left), len(right)))

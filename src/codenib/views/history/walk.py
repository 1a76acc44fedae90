"""A file's blob and line ranges in, the changes that touched each range out: from version to version, back.

A version of a file is its path and its blob. Its maker is the newest older change that left just that there;
what the maker found there before is the next version. A merge that made a file of its own leads to a version
for each parent, or to that of the one parent that has a range just so. Each step is between contents that git
recorded, whatever branches lie between.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from codenib.views.history.lines import EMPTY, Flags, Lines, join, step_back
from codenib.views.history.segment import CommitSegment
from codenib.views.history.window import Aged


@dataclass(frozen=True, slots=True)
class Step:
    """A change on the way back, which of the ranges it touched, and where they stand after it."""

    segment: CommitSegment
    change: int
    touched: Flags
    starts: Lines
    ends: Lines
    merge: bool


@dataclass(frozen=True, slots=True)
class LineTrace:
    """The changes, newest first; and the ranges whose beginning was not found."""

    steps: list[Step]
    cut: Flags


class Versions:
    """Finds the makers of versions."""

    def __init__(self, segments: Sequence[CommitSegment]) -> None:
        self._segments = segments
        #: path → blob → (age, segment, changes of that commit), newest first
        self._known: dict[str, dict[int, list[tuple[Aged, CommitSegment, list[int]]]]] = {}

    def maker(
        self, path: str, blob: int, before: Aged | None
    ) -> tuple[Aged, CommitSegment, list[int]] | None:
        """The newest commit older than `before` that left this blob at this path, with its changes there."""
        for made in self._of(path).get(blob, ()):
            if before is None or made[0] < before:
                return made
        return None

    def _of(self, path: str) -> dict[int, list[tuple[Aged, CommitSegment, list[int]]]]:
        if path not in self._known:
            found: dict[tuple[int, Aged], tuple[CommitSegment, list[int]]] = {}
            for segment in self._segments:
                rows = segment.changes_of(path)
                commits = segment.changes["commit"][rows].tolist()
                blobs = segment.changes["new"][rows].tolist()
                for row, commit, blob in zip(rows, commits, blobs, strict=True):
                    found.setdefault((blob, segment.aged[commit]), (segment, []))[1].append(row)
            by_blob: dict[int, list[tuple[Aged, CommitSegment, list[int]]]] = {}
            for (blob, aged), (segment, rows) in sorted(
                found.items(), key=lambda item: item[0], reverse=True
            ):
                by_blob.setdefault(blob, []).append((aged, segment, rows))
            self._known[path] = by_blob
        return self._known[path]


def walk(versions: Versions, path: str, blob: int, starts: Lines, ends: Lines) -> LineTrace:
    """Every change on the way from this version back to where its ranges begin."""
    steps: list[Step] = []
    cut = np.zeros(len(starts), bool)
    waiting: dict[tuple[Aged, str], tuple[CommitSegment, list[int], Lines, Lines]] = {}
    heap: list[tuple[tuple[int, int], str, Aged]] = []

    def wait(path: str, blob: int, before: Aged | None, starts: Lines, ends: Lines) -> None:
        maker = versions.maker(path, blob, before)
        if maker is None:
            cut[starts <= ends] = True
            return
        aged, segment, changes = maker
        key = (aged, path)
        if key in waiting:
            starts, ends = join(*waiting[key][2:], starts, ends)
        else:
            heapq.heappush(heap, ((-aged[0], -int(aged[1], 16)), path, aged))
        waiting[key] = (segment, changes, starts, ends)

    wait(path, blob, None, starts, ends)
    while heap:
        _, path, aged = heapq.heappop(heap)
        segment, changes, starts, ends = waiting.pop((aged, path))
        before = [_before(segment, change, starts, ends) for change in changes]
        merge = len(changes) > 1
        touched = before[0][2]
        if merge:  # counts only for what none of its parents has
            touched = (starts <= ends) & np.all([first > last for first, last, _ in before], axis=0)
            before = _one_side(before)
        steps.append(Step(segment, changes[0], touched, starts, ends, merge))
        for change, (first, last, _) in zip(changes, before, strict=True):
            if (first <= last).any():
                _, _, old_path, _, old, _ = segment.changes[change].tolist()
                wait(segment.paths[old_path], old, aged, first, last)
    return LineTrace(steps, cut)


def _one_side(before: Sequence[tuple[Lines, Lines, Flags]]) -> list[tuple[Lines, Lines, Flags]]:
    """A range that one parent of a merge has just so comes from there: the other sides have no say in it."""
    settled = np.zeros(len(before[0][0]), bool)
    found = []
    for at, (first, last, touched) in enumerate(before):
        elsewhere = np.any([~other for n, (_, _, other) in enumerate(before) if n != at], axis=0)
        drop = settled | (touched & elsewhere)
        found.append((np.where(drop, EMPTY[0], first), np.where(drop, EMPTY[1], last), touched))
        settled |= ~touched
    return found


def _before(segment: CommitSegment, change: int, starts: Lines, ends: Lines) -> tuple[Lines, Lines, Flags]:
    """The ranges before a change, and which it touched."""
    _, _, _, _, old, new = segment.changes[change].tolist()
    hunks = segment.hunks_of(change)
    if not old:
        return np.full_like(starts, EMPTY[0]), np.full_like(ends, EMPTY[1]), starts <= ends
    if old != new and not len(hunks):
        return starts, ends, starts <= ends
    return step_back(starts, ends, hunks)

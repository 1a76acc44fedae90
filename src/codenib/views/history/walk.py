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
class Ranges:
    """Line ranges, by number: their first and last lines. Empty where the last is before the first."""

    starts: Lines
    ends: Lines

    @property
    def exist(self) -> Flags:
        flags: Flags = self.starts <= self.ends
        return flags

    def without(self, drop: Flags) -> Ranges:
        """The same ranges, but for those of `drop`, which are empty."""
        return Ranges(np.where(drop, EMPTY[0], self.starts), np.where(drop, EMPTY[1], self.ends))


@dataclass(frozen=True, slots=True)
class Step:
    """A change on the way back, which of the ranges it touched, and where they stand after it."""

    segment: CommitSegment
    change: int
    touched: Flags
    ranges: Ranges
    merge: bool


@dataclass(frozen=True, slots=True)
class LineTrace:
    """The changes, newest first; and the ranges whose beginning was not found."""

    steps: list[Step]
    cut: Flags


@dataclass(frozen=True, slots=True)
class Maker:
    """The commit that left a version, with its changes there: one, or one for each parent of a merge."""

    aged: Aged
    segment: CommitSegment
    changes: list[int]


class Versions:
    """Finds the makers of versions."""

    def __init__(self, segments: Sequence[CommitSegment]) -> None:
        self._segments = segments
        self._makers: dict[str, dict[int, list[Maker]]] = {}  # by path and blob, newest first

    def maker(self, path: str, blob: int, before: Aged | None) -> Maker | None:
        """The newest commit older than `before` that left this blob at this path."""
        makers = self._makers_at(path).get(blob, ())
        return next((maker for maker in makers if before is None or maker.aged < before), None)

    def _makers_at(self, path: str) -> dict[int, list[Maker]]:
        if path not in self._makers:
            makers: dict[tuple[int, Aged], Maker] = {}
            for segment in self._segments:
                rows = segment.changes_of(path)
                commits = segment.changes["commit"][rows].tolist()
                blobs = segment.changes["new"][rows].tolist()
                for row, commit, blob in zip(rows, commits, blobs, strict=True):
                    aged = segment.aged[commit]
                    makers.setdefault((blob, aged), Maker(aged, segment, [])).changes.append(row)
            by_blob: dict[int, list[Maker]] = {}
            for (blob, _), maker in sorted(makers.items(), key=lambda item: item[0], reverse=True):
                by_blob.setdefault(blob, []).append(maker)
            self._makers[path] = by_blob
        return self._makers[path]


def walk(versions: Versions, path: str, blob: int, starts: Lines, ends: Lines) -> LineTrace:
    """Every change on the way from this version back to where its ranges begin."""
    steps: list[Step] = []
    cut = np.zeros(len(starts), bool)
    waiting = _Waiting()
    first = versions.maker(path, blob, None)
    if first is None:
        cut[starts <= ends] = True
    else:
        waiting.add(path, first, Ranges(starts, ends))
    while waiting:
        maker, ranges = waiting.pop()
        before = [_before(maker.segment, change, ranges) for change in maker.changes]
        merge = len(maker.changes) > 1
        touched = before[0][1]
        if merge:  # counts only for what none of its parents has
            touched = ranges.exist & np.all([~each.exist for each, _ in before], axis=0)
            before = _one_side(before)
        steps.append(Step(maker.segment, maker.changes[0], touched, ranges, merge))
        for change, (earlier, _) in zip(maker.changes, before, strict=True):
            if not earlier.exist.any():
                continue
            row = maker.segment.change_row(change)
            old_path = maker.segment.paths[row.old_path]
            older = versions.maker(old_path, row.old, maker.aged)
            if older is None:
                cut[earlier.exist] = True
            else:
                waiting.add(old_path, older, earlier)
    return LineTrace(steps, cut)


class _Waiting:
    """Versions still to walk through, with their ranges: the newest comes first, each once."""

    def __init__(self) -> None:
        self._versions: dict[tuple[Aged, str], tuple[Maker, Ranges]] = {}
        self._heap: list[tuple[tuple[int, int], str, Aged]] = []

    def __bool__(self) -> bool:
        return bool(self._heap)

    def add(self, path: str, maker: Maker, ranges: Ranges) -> None:
        key = (maker.aged, path)
        if key in self._versions:
            known = self._versions[key][1]
            ranges = Ranges(*join(known.starts, known.ends, ranges.starts, ranges.ends))
        else:
            newest_first = (-maker.aged.key, -int(maker.aged.id, 16))
            heapq.heappush(self._heap, (newest_first, path, maker.aged))
        self._versions[key] = (maker, ranges)

    def pop(self) -> tuple[Maker, Ranges]:
        _, path, aged = heapq.heappop(self._heap)
        return self._versions.pop((aged, path))


def _one_side(before: Sequence[tuple[Ranges, Flags]]) -> list[tuple[Ranges, Flags]]:
    """A range that one parent of a merge has just so comes from there: the other sides have no say in it."""
    settled = np.zeros(len(before[0][1]), bool)
    sides = []
    for at, (ranges, touched) in enumerate(before):
        elsewhere = np.any([~other for number, (_, other) in enumerate(before) if number != at], axis=0)
        sides.append((ranges.without(settled | (touched & elsewhere)), touched))
        settled |= ~touched
    return sides


def _before(segment: CommitSegment, change: int, ranges: Ranges) -> tuple[Ranges, Flags]:
    """The ranges before a change, and which it touched."""
    row, hunks = segment.change_row(change), segment.hunks_of(change)
    if not row.old:
        return ranges.without(np.ones(len(ranges.starts), bool)), ranges.exist
    if row.old != row.new and not len(hunks):
        return ranges, ranges.exist
    starts, ends, touched = step_back(ranges.starts, ranges.ends, hunks)
    return Ranges(starts, ends), touched

"""All changes in, what each file's past says about ranking out: how often, how lately, together with what.

A file keeps its past through renames: from new to old, a rename hands the new name's past to the old name.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from codenib.core.history import Companion
from codenib.views.history.segment import CommitSegment

# A commit that touches more files says nothing of any two of them: a release, a renamed folder, a new format.
MAX_TOGETHER = 30
MIN_TOGETHER = 2


@dataclass(frozen=True, slots=True)
class FileActivity:
    """How much a file was worked on: commits that are no merges, authors, the first and last commit time."""

    commits: int
    authors: int
    first: int
    last: int


class Pasts:
    """For each file, by its newest name, the commits that touched it."""

    def __init__(self, segments: Sequence[CommitSegment]) -> None:
        self._segments = segments
        order = [
            (segment.aged[row], index, row)
            for index, segment in enumerate(segments)
            for row in segment.live()
        ]
        order.sort(reverse=True)
        self._commits = [(index, row) for _, index, row in order]
        self.names: dict[str, int] = {}
        pairs = _pairs([(segments[index], row) for index, row in self._commits], self.names)
        commits, files = np.array(pairs, np.int64).reshape(-1, 2).T
        self._of_commit = files
        self._first_of_commit = np.searchsorted(commits, np.arange(len(order) + 1))
        by_file = np.argsort(files, kind="stable")
        self._of_file = commits[by_file]
        count = int(files.max()) + 1 if len(files) else 0
        self._first_of_file = np.searchsorted(files[by_file], np.arange(count + 1))
        sizes = np.diff(self._first_of_commit)
        self._telling = (sizes > 0) & (sizes <= MAX_TOGETHER)
        counted = self._telling[commits] if len(commits) else np.zeros(0, bool)
        self._telling_of_file = np.bincount(files[counted], minlength=count)

    def commits_of(self, path: str) -> NDArray[np.int64]:
        """The commits of a file, newest first, by their place among all."""
        file = self.names.get(path)
        if file is None:
            return np.zeros(0, np.int64)
        places: NDArray[np.int64] = self._of_file[self._first_of_file[file] : self._first_of_file[file + 1]]
        return places

    def activity(self, path: str) -> FileActivity:
        rows = [self._commits[each] for each in self.commits_of(path).tolist()]
        if not rows:
            return FileActivity(commits=0, authors=0, first=0, last=0)
        times = [int(self._segments[index].commits["committed"][row]) for index, row in rows]
        authors = {
            self._segments[index].authors[int(self._segments[index].commits["author"][row])]
            for index, row in rows
        }
        return FileActivity(len(rows), len(authors), min(times), max(times))

    def companions(self, path: str, k: int, files: Collection[str]) -> list[Companion]:
        """The files among `files` that change with `path` more than chance would have it, most so first."""
        mine = [each for each in self.commits_of(path).tolist() if self._telling[each]]
        if not mine:
            return []
        parts = [
            self._of_commit[self._first_of_commit[each] : self._first_of_commit[each + 1]] for each in mine
        ]
        others, counts = np.unique(np.concatenate(parts), return_counts=True)
        own, total = len(mine), int(self._telling.sum())
        by_number = {self.names[name]: name for name in files if name in self.names and name != path}
        ranked: list[tuple[float, str, Companion]] = []
        for other, count in zip(others.tolist(), counts.tolist(), strict=True):
            name = by_number.get(other)
            if name is None or count < MIN_TOGETHER:
                continue
            theirs = int(self._telling_of_file[other])
            lift = count * total / (own * theirs)
            if lift > 1:
                score = surprise(count, own, theirs, total)
                ranked.append((-score, name, Companion(name, count, count / own, lift)))
        return [companion for _, _, companion in heapq.nsmallest(k, ranked, key=lambda row: row[:2])]


def _pairs(commits: Sequence[tuple[CommitSegment, int]], names: dict[str, int]) -> list[tuple[int, int]]:
    """Each commit, by its place from new to old, with each file that it touched; `names` are filled in."""
    numbers: dict[str, int] = {}  # what a path means at this point of the past
    count = 0
    pairs: list[tuple[int, int]] = []
    parts = {segment.name: segment for segment, _ in commits}
    tables = {name: part.changes[["path", "old_path"]].tolist() for name, part in parts.items()}
    ends = {name: [*part.commits["change_end"].tolist(), 0] for name, part in parts.items()}
    parents = {name: part.commits["parents"].tolist() for name, part in parts.items()}
    for place, (segment, row) in enumerate(commits):
        if parents[segment.name][row] > 1:
            continue
        end = ends[segment.name]
        touched: dict[int, None] = {}
        moved: list[tuple[str, str, int]] = []
        for path_number, old_number in tables[segment.name][end[row - 1] : end[row]]:
            path = segment.paths[path_number]
            file = numbers.get(path)
            if file is None:
                file = numbers[path] = count
                names.setdefault(path, file)
                count += 1
            touched[file] = None
            if old_number != path_number:
                moved.append((path, segment.paths[old_number], file))
        for path, _, _ in moved:  # all at once: two files may have changed places
            numbers.pop(path, None)
        numbers.update({old: file for _, old, file in moved})
        pairs += [(place, file) for file in touched]
    return pairs


def surprise(together: int, own: int, theirs: int, total: int) -> float:
    """How unlikely this is by chance: the log-likelihood ratio of the two files' commits.

    >>> surprise(10, 10, 10, 1000) > surprise(10, 10, 500, 1000) > surprise(5, 10, 500, 1000)
    True
    """
    table = (together, own - together, theirs - together, total - own - theirs + together)
    rows, columns = (own, total - own), (theirs, total - theirs)
    expected = [row * column / total for row, column in ((r, c) for r in rows for c in columns)]
    return 2 * sum(o * math.log(o / e) for o, e in zip(table, expected, strict=True) if o > 0 and e > 0)

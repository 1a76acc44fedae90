"""The assembled arrays of the graph, between facts and files on disk."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from codenib.views.graph.facts.rows import Ints, Rows


@dataclass(frozen=True, slots=True)
class Tables:
    """The assembled arrays that edges are derived from."""

    kinds: NDArray[np.uint8]
    parents: Ints
    ranges: Rows  # RANGE
    flags: NDArray[np.uint8]
    file_of: Ints
    first_node: Ints  # per file: its first declaration, and one more
    occurrences: Rows
    first_occurrence: Ints
    list_ptr: Ints
    list_items: Ints
    files_at: int  # number of the first file
    nodes_at: int  # number of the first declaration

    def targets_of(self, occurrences: Ints, column: str) -> tuple[Ints, Ints]:
        """What the lists of a column hold: each occurrence as often as it has targets, and the targets."""
        lists = self.occurrences[column][occurrences]
        occurrences, lists = occurrences[lists >= 0], lists[lists >= 0]
        sizes = self.list_ptr[lists + 1] - self.list_ptr[lists]
        return np.repeat(occurrences, sizes), self.list_items[expand(self.list_ptr[lists], sizes)]


def distinct(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """The numbers, sorted, each once. numpy's own hashes them before it sorts, at four times the cost."""
    numbers = np.sort(numbers)
    first = np.ones(len(numbers), bool)
    np.not_equal(numbers[1:], numbers[:-1], out=first[1:])
    found: NDArray[np.int64] = numbers[first]
    return found


def expand(starts: Ints, sizes: Ints) -> NDArray[np.int64]:
    """The numbers start, start + 1, … of each run, one run after the other."""
    total = int(sizes.sum())
    ends = np.cumsum(sizes, dtype=np.int64)
    shift: NDArray[np.int64] = np.repeat(starts.astype(np.int64) - (ends - sizes), sizes)
    shift += np.arange(total, dtype=np.int64)
    return shift

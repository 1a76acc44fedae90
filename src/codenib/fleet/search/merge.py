"""Comparable scores of several repositories in, the repository of each place of one answer out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import merge


@dataclass(frozen=True, slots=True)
class Slot:
    """A place of the answer: whose it is, and the score that earned it."""

    repository: str
    score: float


def share_places(scores: Mapping[str, Sequence[float]], k: int) -> list[Slot]:
    """The `k` best scores of all, each descending; the repository that comes first in `scores` wins a tie.

    Which of its results a repository puts into its places is its own order's to say.

    >>> [slot.repository for slot in share_places({"a": [9.0, 2.0], "b": [5.0, 4.0]}, 3)]
    ['a', 'b', 'b']
    """
    rows = (
        [(-score, place, name) for score in values] for place, (name, values) in enumerate(scores.items())
    )
    return [Slot(name, -score) for score, _, name in list(merge(*rows))[:k]]

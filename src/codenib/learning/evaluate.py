"""Recall of two orders on the same questions in, the gain with its interval and a verdict out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
TOP = 10  # recall is of the first ten
_DRAWS = 2000
_SEED = 7
_MAY_COST = 0.005  # half a point of either recall, as a mean


@dataclass(frozen=True, slots=True)
class Gain:
    """The mean difference of a recall, and where 95 of 100 redrawn samples have it."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """What an order gains over the shipped one on the same questions; `both` is the mean of the two."""

    files: Gain
    functions: Gain
    both: Gain

    @property
    def is_better(self) -> bool:
        """Better beyond chance on the whole, and not worse than half a point in either."""
        costs = min(self.files.mean, self.functions.mean)
        return self.both.low > 0 and costs > -_MAY_COST


def compare_recalls(shipped: Array, learnt: Array) -> Comparison:
    """Compare two tables of recall: a row for each question; files, functions."""
    difference = np.asarray(learnt, np.float64) - np.asarray(shipped, np.float64)
    both = difference.mean(axis=1)
    draws = np.random.default_rng(_SEED).integers(0, len(both), (_DRAWS, len(both)))
    return Comparison(*(_gain(values, draws) for values in (difference[:, 0], difference[:, 1], both)))


def gain_over(other: Array, learnt: Array) -> Gain:
    """The gain of the mean of files and functions over another table of recall."""
    return compare_recalls(other, learnt).both


def _gain(values: Array, draws: Array) -> Gain:
    """
    >>> _gain(np.array([1.0, 1.0]), np.zeros((10, 2), int))
    Gain(mean=1.0, low=1.0, high=1.0)
    """
    low, high = np.percentile(values[draws].mean(axis=1), [2.5, 97.5])
    return Gain(float(values.mean()), float(low), float(high))

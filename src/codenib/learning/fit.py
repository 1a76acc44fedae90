"""Candidates with signals and labels in, the weights of the signals out: a listwise softmax, pulled to zero.

A weight of zero is the shipped order, so what the rows do not speak for stays as it was shipped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
STRENGTH = 0.03  # of the pull; .01 to .3 were within half a point of each other on seven repositories
_STEPS = 30


@dataclass(frozen=True, slots=True)
class LabelledList:
    """The candidates of one question: the shipped scores, a row of signals each, and which are right.

    `weights` says how much each right one counts; without it all of them together count 1.
    """

    scores: Array
    signals: Array
    right: NDArray[np.bool_]
    weights: Array | None = None

    def targets(self) -> Array:
        """The weight of each candidate as the right one."""
        return self.right / self.right.sum() if self.weights is None else self.weights


def fit_weights(lists: Sequence[LabelledList], columns: Sequence[int], strength: float = STRENGTH) -> Array:
    """Weights of all signals, zero but for `columns`.

    >>> one = LabelledList(np.zeros(2), np.array([[1.0], [0.0]]), np.array([True, False]))
    >>> bool(fit_weights([one], [0])[0] > 0), fit_weights([], [0], 1.0).tolist()
    (True, [0.0])
    """
    telling = [each for each in lists if 0 < int(each.right.sum()) < len(each.right)]
    weights = np.zeros(lists[0].signals.shape[1] if lists else max(columns, default=-1) + 1)
    if not telling or not columns:
        return weights
    chosen = list(columns)
    pull = 2 * strength * np.eye(len(chosen))
    found = np.zeros(len(chosen))
    for _ in range(_STEPS):  # Newton's: the loss is convex and has a few weights
        slope, curve = pull @ found, pull.copy()
        for each in telling:
            values = each.signals[:, chosen]
            powers = np.exp(each.scores + values @ found - (each.scores + values @ found).max())
            share = powers / powers.sum()
            mean, targets = share @ values, each.targets()
            whole = float(targets.sum())
            slope += (whole * mean - targets @ values) / len(telling)
            curve += whole * ((values * share[:, None]).T @ values - np.outer(mean, mean)) / len(telling)
        step = np.linalg.solve(curve, slope)
        found = found - step
        if float(np.abs(step).max()) < 1e-5:
            break
    weights[chosen] = found
    return weights

"""Features, actions taken and their outcomes in, a linear model of every action's outcome out.

All actions share one ridge regression; each then has its own, fitted to what the shared one leaves and pulled
to zero. So an action that was taken ten times is predicted like the others, not from ten rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SHARED = 1.0  # ridge penalty of the shared regression, in rows
OWN = 10.0  # of an action's own: ten rows move it half of the way


@dataclass(frozen=True, slots=True)
class RewardModel:
    """Linear in standardized features: `weights` has a row for each action, the intercept first."""

    means: Floats
    scales: Floats
    weights: Floats

    def predict(self, features: Floats) -> Floats:
        """The predicted outcome of every action for each row."""
        predicted: Floats = _design(features, self.means, self.scales) @ self.weights.T
        return predicted


def fit_rewards(features: Floats, actions: Ints, outcomes: Floats, arms: int) -> RewardModel:
    """Fit every action's outcome; without rows it is zero everywhere."""
    width = features.shape[1]
    if not len(outcomes):
        return RewardModel(np.zeros(width), np.ones(width), np.zeros((arms, width + 1)))
    means, scales = features.mean(axis=0), features.std(axis=0)
    scales = np.where(scales > 1e-9, scales, 1.0)
    design = _design(features, means, scales)
    shared = _ridge(design, outcomes, SHARED, free_intercept=True)
    rest = outcomes - design @ shared
    weights = np.tile(shared, (arms, 1))
    for action in range(arms):
        mine = actions == action
        if mine.any():
            weights[action] += _ridge(design[mine], rest[mine], OWN, free_intercept=False)
    return RewardModel(means, scales, weights)


def _design(features: Floats, means: Floats, scales: Floats) -> Floats:
    return np.column_stack([np.ones(len(features)), (features - means) / scales])


def _ridge(design: Floats, outcomes: Floats, penalty: float, *, free_intercept: bool) -> Floats:
    penalties = np.full(design.shape[1], penalty)
    if free_intercept:
        penalties[0] = 1e-9
    return np.asarray(
        np.linalg.solve(design.T @ design + np.diag(penalties), design.T @ outcomes), np.float64
    )

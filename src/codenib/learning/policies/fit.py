"""Logged decisions with outcomes and costs in, a `DecisionModel` that may leave the rules' action out.

How far a model must be ahead of the rules before it decides (its margin) is chosen on the log itself, by the
lower end of the doubly robust estimate of its gain. Where none is above zero, the rules stay.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from codenib.learning.policies.offpolicy import (
    Floats,
    Ints,
    LoggedDecisions,
    PolicyEstimate,
    cross_fitted,
    doubly_robust,
)
from codenib.learning.policies.rewards import fit_rewards
from codenib.planner.model import ActionWeights, DecisionModel, ModelKind

#: Points of recall that the whole cost of the rules' action is worth: half of the cost for one point.
PRICE = 0.02
MARGINS = (0.0, 0.005, 0.01, 0.02, 0.05)
NEVER = 1e9
LEAST_ROWS = 30  # a log with fewer decisions fits nothing


@dataclass(frozen=True, slots=True)
class LoggedDecision:
    """One decision: what was known, what the rules would do, what was done and its chance, what it gave."""

    features: Mapping[str, float]
    default: str
    action: str
    propensity: float
    reward: float
    cost: float
    cluster: str


@dataclass(frozen=True, slots=True)
class FittedPolicy:
    """A model, and what the log says that it gains over the rules; None where the rules stay."""

    model: DecisionModel
    gain: PolicyEstimate | None


def fit_policy(
    kind: ModelKind,
    rows: Sequence[LoggedDecision],
    actions: Sequence[str],
    *,
    price: float = PRICE,
    seed: int = 1,
) -> FittedPolicy:
    """Fit every action's value and cost, then choose the margin. Same rows and seed, same model."""
    features = sorted({name for row in rows for name in row.features})
    table = _table(rows, features)
    taken = np.array([actions.index(row.action) for row in rows], dtype=np.int64)
    defaults = np.array([actions.index(row.default) for row in rows], dtype=np.int64)
    rewards, costs = np.array([row.reward for row in rows]), np.array([row.cost for row in rows])
    unit = _usual_cost(rows, costs)
    log = LoggedDecisions(
        features=table,
        actions=taken,
        propensities=np.array([row.propensity for row in rows]),
        rewards=rewards - price * costs / unit,
        arms=len(actions),
        clusters=tuple(row.cluster for row in rows),
    )
    margin, gain = _choose_margin(log, defaults, seed) if len(rows) >= LEAST_ROWS else (NEVER, None)
    values = fit_rewards(table, taken, rewards, len(actions))
    prices = fit_rewards(table, taken, costs / unit, len(actions))
    card: dict[str, Any] = {
        "decisions": len(rows),
        "clusters": len(set(log.clusters)),
        "usual_cost": round(unit, 3),
        "gain_on_log": gain.rounded() if gain else None,
    }
    weights = {
        action: ActionWeights(_rounded(values.weights[at]), _rounded(prices.weights[at]))
        for at, action in enumerate(actions)
        if (taken == at).any()
    }
    model = DecisionModel(
        kind=kind,
        features=tuple(features),
        means=_rounded(values.means),
        scales=_rounded(values.scales),
        actions=weights,
        price=price,
        margin=margin,
        card=card,
    )
    return FittedPolicy(model, gain)


def _choose_margin(log: LoggedDecisions, defaults: Ints, seed: int) -> tuple[float, PolicyEstimate | None]:
    """The margin whose gain over the rules has the best lower end, by models that did not see the row."""
    scores = cross_fitted(log, seed)
    each = np.arange(len(log))
    scores[:, np.bincount(log.actions, minlength=log.arms) == 0] = -np.inf  # never taken: nothing is known
    estimated = cross_fitted(log, seed + 1)  # by other folds, so that one lucky split does not decide both
    base = np.eye(log.arms)[defaults]
    best: tuple[float, PolicyEstimate | None] = NEVER, None
    for margin in MARGINS:
        first = scores.argmax(axis=1)
        ahead = scores[each, first] - scores[each, defaults] > margin
        policy = np.eye(log.arms)[np.where(ahead, first, defaults)]
        gain = doubly_robust(log, policy - base, rewards=estimated)
        if gain.low > (best[1].low if best[1] else 0.0):
            best = margin, gain
    return best


def _usual_cost(rows: Sequence[LoggedDecision], costs: Floats) -> float:
    """What the rules' actions cost on average: where they were taken, else all."""
    usual = [cost for row, cost in zip(rows, costs.tolist(), strict=True) if row.action == row.default]
    return float(np.mean(usual or costs)) or 1.0


def _table(rows: Sequence[LoggedDecision], features: Sequence[str]) -> Floats:
    return np.array([[row.features.get(name, 0.0) for name in features] for row in rows], dtype=np.float64)


def _rounded(values: Floats) -> tuple[float, ...]:
    return tuple(round(value, 6) for value in values.tolist())

"""A seed in, a simulated world out: situations with signals, actions with true rewards, two policies.

Everything is known in a world, so it says whether an estimator's intervals hold what they claim. Three kinds:
`plain`; `misfit`, where rewards follow products and thresholds of signals that no linear model has; and
`skewed`, where the log takes some actions once in fifty decisions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from codenib.learning.policies.offpolicy import (
    Floats,
    LoggedDecisions,
    PolicyEstimate,
    doubly_robust,
    importance,
    self_normalized,
)

Kind = Literal["plain", "misfit", "skewed"]
KINDS: tuple[Kind, ...] = ("plain", "misfit", "skewed")
ROWS = 600  # of a log: what a repository's fixes and a few weeks of questions give
_SITUATIONS = 4_000
_TARGETS = 3  # a recall is a share of a few targets
_FLOORS = {"plain": 0.3, "misfit": 0.3, "skewed": 0.06}  # share of decisions that the log takes by chance

#: The estimators by name.
ESTIMATORS: Mapping[str, Callable[[LoggedDecisions, Floats], PolicyEstimate]] = {
    "IPS": importance,
    "SNIPS": self_normalized,
    "DR": doubly_robust,
}


@dataclass(frozen=True, slots=True)
class World:
    """All situations of a world, equally likely: signals, true mean rewards, the two policies."""

    signals: Floats
    rewards: Floats
    logging: Floats
    target: Floats

    @property
    def arms(self) -> int:
        return int(self.rewards.shape[1])

    def value(self, policy: Floats) -> float:
        """The true value of a policy."""
        return float((policy * self.rewards).sum(axis=1).mean())

    def draw(self, rows: int, seed: int) -> tuple[LoggedDecisions, Floats]:
        """A log of the logging policy, and the target policy in the same situations."""
        random = np.random.default_rng(seed)
        at = random.integers(0, len(self.signals), rows)
        chances = self.logging[at]
        actions = (chances.cumsum(axis=1) < random.random((rows, 1))).sum(axis=1).clip(max=self.arms - 1)
        each = np.arange(rows)
        rewards = random.binomial(_TARGETS, self.rewards[at, actions]) / _TARGETS
        log = LoggedDecisions(self.signals[at], actions, chances[each, actions], rewards, self.arms)
        return log, self.target[at]


def make_world(seed: int, kind: Kind = "plain", *, situations: int = _SITUATIONS) -> World:
    """The world of a seed: two to five actions, three to eight signals."""
    random = np.random.default_rng([seed, KINDS.index(kind)])
    arms, width = int(random.integers(2, 6)), int(random.integers(3, 9))
    signals = random.normal(size=(situations, width))
    signals[:, 0] = signals[:, 0] > 0.5  # one is a yes or no, as half of the planner's signals are
    seen = signals if kind != "misfit" else _bent(signals, random)
    rewards = _logistic(seen @ random.normal(0, 0.8, (seen.shape[1], arms)) + random.normal(0, 0.7, arms))
    floor = _FLOORS[kind]
    logging = (1 - floor) * _soft(signals @ random.normal(0, 0.8, (width, arms))) + floor / arms
    if kind == "skewed":
        logging = (1 - floor) * _greedy(signals @ random.normal(size=(width, arms))) + floor / arms
    target = 0.9 * _greedy(signals @ random.normal(size=(width, arms))) + 0.1 / arms
    return World(signals, rewards, logging, target)


@dataclass(frozen=True, slots=True)
class CoverageReport:
    """How often an estimator's interval held the true value, its mean width and its mean absolute error."""

    worlds: int
    inside: int
    width: float
    error: float


def coverage(seeds: Iterable[int], kind: Kind = "plain", *, rows: int = ROWS) -> dict[str, CoverageReport]:
    """Every estimator on one log of each seeded world."""
    inside: dict[str, list[bool]] = {name: [] for name in ESTIMATORS}
    widths: dict[str, list[float]] = {name: [] for name in ESTIMATORS}
    errors: dict[str, list[float]] = {name: [] for name in ESTIMATORS}
    for seed in seeds:
        world = make_world(seed, kind)
        log, target = world.draw(rows, seed)
        truth = world.value(world.target)
        for name, estimate in ESTIMATORS.items():
            given = estimate(log, target)
            inside[name].append(given.contains(truth))
            widths[name].append(given.high - given.low)
            errors[name].append(abs(given.value - truth))
    return {
        name: CoverageReport(
            len(inside[name]), sum(inside[name]), float(np.mean(widths[name])), float(np.mean(errors[name]))
        )
        for name in ESTIMATORS
    }


def _bent(signals: Floats, random: np.random.Generator) -> Floats:
    """Products, thresholds and waves of signals, which no linear model of the signals has."""
    partner = signals[:, random.permutation(signals.shape[1])]
    return np.column_stack([signals * partner, np.sin(3 * signals), (signals > 0.3) * 2.0 - 1.0])


def _logistic(values: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-values)))


def _soft(values: Floats) -> Floats:
    powers = np.exp(values - values.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def _greedy(values: Floats) -> Floats:
    return np.asarray(np.eye(values.shape[1])[values.argmax(axis=1)])

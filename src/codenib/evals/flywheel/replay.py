"""What every action gave on rows that nothing was learned from in, what a model is worth there out.

The replay knows what each action gives, so a model's value is counted, not estimated. A log is drawn from it
as well, and the doubly robust estimate from that log stands beside the count: it shows what estimates are
worth.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from codenib.evals.metrics.bootstrap import Estimate, clustered_mean, paired_difference, ratio_of_sums
from codenib.evals.runs import Record
from codenib.learning.policies.offpolicy import LoggedDecisions, PolicyEstimate, doubly_robust
from codenib.planner.model import DecisionModel, ModelKind

RESAMPLES = 10_000
#: A gain or loss of recall below this is none: half of a point.
MARGIN = 0.005


@dataclass(frozen=True, slots=True)
class Situation:
    """A row of the replay: what was known, what the rules do, and what each action gave and cost."""

    row: str
    repo: str
    features: Mapping[str, float]
    default: str
    rewards: Mapping[str, float]
    costs: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class ReplayResult:
    """A model on the replay beside the rules. `changed` is the share of rows where it leaves them.

    `reward` and `cost` are its own means, `gain` and `ratio` compare them with the rules'; `estimated` is the
    reward again, by the doubly robust estimate.
    """

    reward: Estimate
    cost: Estimate
    gain: Estimate
    ratio: Estimate
    changed: float
    estimated: PolicyEstimate

    @property
    def wins(self) -> bool:
        return beats_rules(self.changed, self.gain.low, self.ratio.high)


def beats_rules(changed: float, gain_low: float, ratio_high: float) -> bool:
    """No loss of recall and less cost, or more recall at no more cost: by the ends of both intervals."""
    same, better = gain_low >= -MARGIN, gain_low > 0
    cheaper, no_dearer = ratio_high < 1, ratio_high <= 1
    return changed > 0 and ((same and cheaper) or (better and no_dearer))


def situations_of(kind: ModelKind, records: Iterable[Record], actions: Sequence[str]) -> list[Situation]:
    """The rows for which every one of a decision's actions was recorded."""
    by_row: dict[str, dict[str, Record]] = {}
    for each in records:
        if each["decision"] == kind and "error" not in each:
            by_row.setdefault(each["row"], {})[each["action"]] = each
    return [
        Situation(
            row=row,
            repo=mine[actions[0]]["repo"],
            features=mine[actions[0]]["features"],
            default=mine[actions[0]]["default"],
            rewards={action: mine[action]["reward"] for action in actions},
            costs={action: mine[action]["cost"] for action in actions},
        )
        for row, mine in sorted(by_row.items())
        if set(mine) == set(actions)
    ]


def replay(model: DecisionModel | None, situations: Sequence[Situation], seed: int) -> ReplayResult:
    """The value of a model, or without one of the rules, on every situation."""
    actions = tuple(situations[0].rewards)
    chosen = [
        model.choose(each.features, actions, each.default).action if model else each.default
        for each in situations
    ]
    clusters = [each.repo for each in situations]
    if len(set(clusters)) == 1:  # one repository: its rows are what is redrawn
        clusters = [each.row for each in situations]
    pairs = list(zip(situations, chosen, strict=True))
    rewards, costs = [each.rewards[a] for each, a in pairs], [each.costs[a] for each, a in pairs]
    base_rewards = [each.rewards[each.default] for each in situations]
    base_costs = [each.costs[each.default] for each in situations]
    draws = {"seed": seed, "resamples": RESAMPLES}
    return ReplayResult(
        reward=clustered_mean(rewards, clusters, **draws),
        cost=clustered_mean(costs, clusters, **draws),
        gain=paired_difference(rewards, base_rewards, clusters, **draws),
        ratio=ratio_of_sums(costs, base_costs, clusters, **draws),
        changed=sum(a != each.default for each, a in pairs) / len(pairs),
        estimated=_estimated(pairs, actions, seed),
    )


def _estimated(pairs: Sequence[tuple[Situation, str]], actions: Sequence[str], seed: int) -> PolicyEstimate:
    """The value by the doubly robust estimate, from a log that takes one action of each row by chance."""
    random = np.random.default_rng(seed)
    names = sorted({name for each, _ in pairs for name in each.features})
    taken = random.integers(0, len(actions), len(pairs))
    log = LoggedDecisions(
        np.array([[each.features.get(name, 0.0) for name in names] for each, _ in pairs]),
        taken,
        np.full(len(pairs), 1 / len(actions)),
        np.array([each.rewards[actions[at]] for (each, _), at in zip(pairs, taken, strict=True)]),
        len(actions),
    )
    policy = np.array([[float(action == a) for action in actions] for _, a in pairs])
    return doubly_robust(log, policy, seed=seed)

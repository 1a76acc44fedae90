"""Estimates of a policy from the log of another one: exact where they must be, honest where they cannot."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codenib.learning.policies.offpolicy import (
    Floats,
    LoggedDecisions,
    PolicyEstimate,
    doubly_robust,
    folds_of,
    importance,
    self_normalized,
    t_quantile,
)

_TENTHS = 10
shares = st.tuples(st.integers(1, 4), st.integers(1, 4)).map(lambda two: (*two, _TENTHS - sum(two)))
numbers = st.floats(0, 1, allow_nan=False)
rows_of_three = st.lists(numbers, min_size=3, max_size=3)


@st.composite
def small_worlds(draw: st.DrawFn) -> tuple[LoggedDecisions, Floats, Floats, float]:
    """A log whose frequencies are its propensities, a policy, any reward model, the policy's true value."""
    situations = draw(st.integers(1, 4))
    logging = np.array([draw(shares) for _ in range(situations)]) / _TENTHS
    rewards = np.array([draw(rows_of_three) for _ in range(situations)])
    policy = np.array([draw(rows_of_three) for _ in range(situations)]) + 0.01
    policy /= policy.sum(axis=1, keepdims=True)
    wrong = np.array([draw(rows_of_three) for _ in range(situations)])
    at, actions = [], []
    for situation in range(situations):
        for action in range(3):
            times = round(logging[situation, action] * _TENTHS)
            at += [situation] * times
            actions += [action] * times
    log = LoggedDecisions(
        np.array(at, float)[:, None],
        np.array(actions),
        logging[at, actions],
        rewards[at, actions],
        3,
    )
    return log, policy[at], wrong[at], float((policy * rewards).sum(axis=1).mean())


@settings(max_examples=40, deadline=None)
@given(small_worlds())
def test_with_true_propensities_ips_and_dr_are_right_whatever_the_reward_model_says(
    world: tuple[LoggedDecisions, Floats, Floats, float],
) -> None:
    log, policy, wrong, truth = world
    assert importance(log, policy).value == pytest.approx(truth)
    assert doubly_robust(log, policy, rewards=wrong).value == pytest.approx(truth)
    assert self_normalized(log, policy).value == pytest.approx(truth)


@settings(max_examples=40, deadline=None)
@given(small_worlds(), st.integers(0, 1_000))
def test_with_a_true_reward_model_dr_is_right_whatever_the_propensities_say(
    world: tuple[LoggedDecisions, Floats, Floats, float], seed: int
) -> None:
    log, policy, true_rewards, _ = world
    random = np.random.default_rng(seed)
    each = np.arange(len(log))
    wrong = LoggedDecisions(
        log.features, log.actions, random.uniform(0.05, 1, len(log)), true_rewards[each, log.actions], 3
    )
    expected = float((policy * true_rewards).sum(axis=1).mean())
    assert doubly_robust(wrong, policy, rewards=true_rewards).value == pytest.approx(expected)


def test_a_policy_that_is_the_log_s_own_has_the_mean_reward() -> None:
    log = _log(actions=[0, 1, 0, 1], rewards=[1, 0, 0.5, 0.5])
    own = np.full((4, 2), 0.5)
    assert importance(log, own).value == self_normalized(log, own).value == 0.5
    assert importance(log, own).effective == 4


def test_the_difference_of_two_policies_is_estimated_as_one() -> None:
    log = _log(actions=[0, 1] * 20, rewards=[1, 0] * 20)
    first, second = np.tile([1.0, 0.0], (40, 1)), np.tile([0.0, 1.0], (40, 1))
    gain = doubly_robust(log, first - second)
    assert gain.value == pytest.approx(doubly_robust(log, first).value - doubly_robust(log, second).value)
    assert gain.low > 0


def test_an_action_that_the_log_never_took_is_unknown_not_zero() -> None:
    log = _log(actions=[0, 0, 0], rewards=[1, 1, 0], arms=2)
    estimate = self_normalized(log, np.tile([0.0, 1.0], (3, 1)))
    assert np.isnan(estimate.value)
    assert estimate.contains(-1e9)
    assert estimate.effective == 0


def test_rows_of_one_repository_are_not_independent() -> None:
    rewards = [1.0] * 30 + [0.0] * 30
    alone = _log(actions=[0] * 60, rewards=rewards, arms=1)
    shared = LoggedDecisions(
        alone.features, alone.actions, alone.propensities, alone.rewards, 1, ("a",) * 30 + ("b",) * 30
    )
    own = np.ones((60, 1))
    assert _width(importance(shared, own)) > 3 * _width(importance(alone, own))


def test_one_row_has_no_interval() -> None:
    estimate = importance(_log(actions=[0], rewards=[1.0], arms=1), np.ones((1, 1)))
    assert estimate.high == float("inf")


def test_columns_that_do_not_fit_and_impossible_propensities_are_refused() -> None:
    with pytest.raises(ValueError, match="one length"):
        LoggedDecisions(np.zeros((2, 1)), np.zeros(1, int), np.ones(2), np.ones(2), 1)
    with pytest.raises(ValueError, match="never taken"):
        LoggedDecisions(np.zeros((1, 1)), np.zeros(1, int), np.zeros(1), np.ones(1), 1)
    with pytest.raises(ValueError, match="the policy has"):
        importance(_log(actions=[0], rewards=[1.0]), np.ones((1, 1)))


def test_clusters_are_never_split_between_folds() -> None:
    clusters = [f"r{at % 7}" for at in range(70)]
    folds = folds_of(70, clusters)
    assert all(len({folds[at] for at in range(70) if clusters[at] == name}) == 1 for name in set(clusters))
    assert len(set(folds_of(3).tolist())) == 3


@pytest.mark.parametrize(("freedom", "exact"), [(1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (9, 2.262)])
def test_quantiles_of_few_degrees_of_freedom(freedom: int, exact: float) -> None:
    assert t_quantile(freedom) == pytest.approx(exact, rel=0.02)


def _log(actions: list[int], rewards: list[float], arms: int = 2) -> LoggedDecisions:
    n = len(actions)
    chances = np.full(n, 1 / arms)
    return LoggedDecisions(
        np.arange(n, dtype=float)[:, None], np.array(actions), chances, np.array(rewards), arms
    )


def _width(estimate: PolicyEstimate) -> float:
    return estimate.high - estimate.low

"""The estimators in seeded worlds, where the true value is known: the bar of the issue."""

from __future__ import annotations

import numpy as np
import pytest

from codenib.learning.policies.worlds import KINDS, Kind, coverage, make_world


@pytest.mark.parametrize("kind", KINDS)
def test_intervals_hold_the_true_value_in_nine_of_ten_worlds(kind: Kind) -> None:
    """Also where the reward model cannot fit (`misfit`) and where actions are rare in the log (`skewed`)."""
    reports = coverage(range(100), kind)
    assert reports["DR"].inside >= 90
    assert reports["DR"].error <= reports["IPS"].error
    assert reports["DR"].width < reports["IPS"].width


def test_an_interval_that_is_a_tenth_as_wide_would_fail_the_bar() -> None:
    """The worlds can tell: hits come from the width, not from worlds in which everything hits."""
    errors, widths = [], []
    for seed in range(40):
        reports = coverage([seed])
        errors.append(reports["DR"].error)
        widths.append(reports["DR"].width)
    assert np.mean(np.array(errors) <= 0.05 * np.array(widths)) < 0.5


def test_the_same_seed_gives_the_same_world_and_another_seed_another() -> None:
    first, again, other = make_world(3), make_world(3), make_world(4)
    assert np.array_equal(first.rewards, again.rewards)
    assert first.rewards.shape != other.rewards.shape or not np.array_equal(first.rewards, other.rewards)
    assert make_world(3, "skewed").logging.min() < 0.04


def test_the_log_takes_actions_as_often_as_it_says() -> None:
    world = make_world(5)
    log, _ = world.draw(20_000, 1)
    assert float((1 / log.propensities).mean()) == pytest.approx(world.arms, rel=0.05)
    assert world.value(world.logging) == pytest.approx(float(log.rewards.mean()), abs=0.01)

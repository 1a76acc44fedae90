"""Models from logged decisions: they learn what is there, and nothing where there is nothing."""

from __future__ import annotations

import numpy as np

from codenib.learning.policies.fit import NEVER, LoggedDecision, fit_policy

ACTIONS = ("a", "b", "c")


def rows(count: int, seed: int = 1, *, shuffled: bool = False) -> list[LoggedDecision]:
    """Action b is right where `flag` is 1, else a, that of the rules; c is never good. b costs half of a."""
    random = np.random.default_rng(seed)
    given = []
    for _ in range(count):
        flag, noise = float(random.integers(2)), float(random.normal())
        action = ACTIONS[int(random.integers(3))]
        good = {"a": 0.6 - 0.4 * flag, "b": 0.2 + 0.6 * flag, "c": 0.1}[action]
        reward = float(random.binomial(3, 0.4 if shuffled else good)) / 3
        cost = {"a": 10.0, "b": 5.0, "c": 10.0}[action]
        if shuffled:
            cost = 10.0
        given.append(
            LoggedDecision(
                {"flag": flag, "noise": noise}, "a", action, 1 / 3, reward, cost, f"r{random.integers(8)}"
            )
        )
    return given


def test_a_policy_that_is_better_is_learned_with_the_signal_that_decides() -> None:
    fitted = fit_policy("router", rows(600), ACTIONS)
    assert fitted.gain is not None
    assert fitted.gain.low > 0
    choice = fitted.model.choose({"flag": 1.0, "noise": 0.0}, ACTIONS, "a")
    assert (choice.action, choice.signals[0]) == ("b", "flag")
    assert fitted.model.choose({"flag": 0.0, "noise": 0.0}, ACTIONS, "a").action == "a"


def test_rewards_by_chance_leave_the_rules() -> None:
    left = [fit_policy("router", rows(300, seed, shuffled=True), ACTIONS) for seed in range(10)]
    assert sum(fitted.model.margin == NEVER for fitted in left) >= 8


def test_few_decisions_leave_the_rules() -> None:
    fitted = fit_policy("router", rows(20), ACTIONS)
    assert (fitted.model.margin, fitted.gain) == (NEVER, None)
    assert fitted.model.choose({"flag": 1.0}, ACTIONS, "a").action == "a"


def test_an_action_that_was_never_taken_is_not_part_of_the_model() -> None:
    fitted = fit_policy("router", [row for row in rows(300) if row.action != "b"], ACTIONS)
    assert set(fitted.model.actions) == {"a", "c"}


def test_the_same_rows_give_the_same_model() -> None:
    assert fit_policy("router", rows(100), ACTIONS).model == fit_policy("router", rows(100), ACTIONS).model

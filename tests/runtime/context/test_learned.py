"""The context that a model chooses: how many candidates, and whether the history is rewritten."""

from __future__ import annotations

import pytest

from codenib.planner.model import ActionWeights, DecisionModel
from codenib.runtime.context.learned import ACTIONS, LearnedContext, start_features
from codenib.runtime.context.messages import Message, ToolCall
from codenib.runtime.context.policies import HistoryState, Start

START = Start("the total is wrong\nsee shop/cart.py", ["shop/cart.py"] * 6 + ["shop/mail.py"] * 4, 900)
READ = (
    Message("assistant", calls=(ToolCall("1", "read", {"path": "shop/cart.py"}),)),
    Message("tool", "text", call_id="1"),
)


def model(best: str) -> DecisionModel:
    weights = {action: ActionWeights((float(action == best), 0.0), (1.0, 0.0)) for action in ACTIONS}
    return DecisionModel(
        kind="context", features=("candidate files",), means=(0.0,), scales=(1.0,), actions=weights,
        price=0.0, margin=0.0,
    )  # fmt: skip


def test_without_a_model_the_rules_deliver_all_candidates_and_say_so() -> None:
    decision = LearnedContext(None).begin(START)
    assert (decision.yes, decision.most, decision.like, decision.why) == (
        True,
        10,
        "eager",
        "no model: eager:10",
    )


@pytest.mark.parametrize(("action", "yes", "rewrites"), [
    ("grep_read:0", False, False), ("eager:3", True, False), ("compact:3", True, True),
])  # fmt: skip
def test_the_chosen_action_delivers_and_keeps_as_its_policy_does(
    action: str, yes: bool, rewrites: bool
) -> None:
    policy = LearnedContext(model(action))
    decision = policy.begin(START)
    assert (decision.yes, decision.most) == (yes, int(action.partition(":")[2]))
    assert decision.why == f"{model(action).name} chose {action} by candidate files"
    state = HistoryState(READ, ["shop/cart.py"], turn=1, turn_cap=16, tokens=900, compacted_tokens=300)
    assert policy.after_batch(state).yes is rewrites


def test_a_choice_by_chance_is_recorded_with_its_chance_and_what_was_known() -> None:
    decision = LearnedContext(None, explorer=lambda preferred, actions: ("compact:3", 0.2)).begin(START)
    choice = decision.choice
    assert choice is not None
    assert (choice.action, choice.propensity, choice.default) == ("compact:3", 0.2, "eager:10")
    assert choice.alternatives == ACTIONS
    assert choice.features == start_features(START)
    assert choice.features["candidate files"] == 2.0

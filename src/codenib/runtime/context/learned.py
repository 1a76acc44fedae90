"""What is known before the first invocation in, a way to deliver and keep context out: chosen by a model.

An action is `POLICY:N`: a policy's name and how many candidates it delivers. A model chooses among them;
whoever collects traces explores instead, with known chances, so that traces say what each action is worth.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log1p

from codenib.planner.model import DecisionModel, query_features
from codenib.planner.signals import read_signals
from codenib.runtime.context.policies import (
    ContextPolicy,
    Decision,
    HistoryState,
    LoggedChoice,
    Start,
    policy_of,
)

#: What a model chooses among; the rules' own action is the default policy with all candidates.
ACTIONS = ("grep_read:0", "eager:3", "eager:10", "compact:3", "compact:10")
DEFAULT_ACTION = "eager:10"

#: The action that would be chosen and what it was chosen from in; the action to take and its chance out.
Explorer = Callable[[str, tuple[str, ...]], tuple[str, float]]


class LearnedContext:
    """Delivers and keeps as the chosen action does; without a model that is the rules' action."""

    name = "learned"
    wants_candidates = True

    def __init__(self, model: DecisionModel | None, *, explorer: Explorer | None = None) -> None:
        self._model = model
        self._explorer = explorer
        self._chosen: ContextPolicy = policy_of(DEFAULT_ACTION.partition(":")[0])

    def begin(self, start: Start) -> Decision:
        features = start_features(start)
        action, model, why = DEFAULT_ACTION, "", f"no model: {DEFAULT_ACTION}"
        if self._model is not None:
            choice = self._model.choose(features, ACTIONS, DEFAULT_ACTION)
            action, model, why = choice.action, choice.model, choice.words
        propensity = 1.0
        if self._explorer is not None:
            preferred = action
            action, propensity = self._explorer(preferred, ACTIONS)
            why = f"explores {action} with chance {propensity:.2f}; {why}"
        name, _, count = action.partition(":")
        self._chosen = policy_of(name)
        decision = self._chosen.begin(start)
        logged = LoggedChoice(
            action=action,
            propensity=propensity,
            alternatives=ACTIONS,
            default=DEFAULT_ACTION,
            features=features,
            model=model,
        )
        return Decision(decision.yes, why, decision.like, int(count), logged)

    def after_batch(self, state: HistoryState) -> Decision:
        return self._chosen.after_batch(state)


def start_features(start: Start) -> dict[str, float]:
    """The issue's signals, and how many tokens and files the candidates have."""
    return query_features(read_signals(start.issue)) | {
        "candidate tokens": log1p(start.candidate_tokens),
        "candidate files": float(len(set(start.candidate_paths))),
    }

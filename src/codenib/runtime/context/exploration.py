"""A preferred action and a share of chance in, the action of a run and its probability out.

Whoever records runs so can learn from them what other actions would have given: a log of a rule says nothing
about what the rule did not do.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from codenib.core.answers import Route
from codenib.core.errors import InputError
from codenib.core.requests import PUBLISHED, SearchRequest
from codenib.planner.model import query_features
from codenib.planner.plan import action_of, router_actions
from codenib.planner.signals import read_signals
from codenib.runtime.context.policies import LoggedChoice
from codenib.runtime.views import Contexts


def explore(choice: str, actions: Sequence[str], share: float, draw: float) -> tuple[str, float]:
    """The action of a decision that is logged: `choice`, or with chance `share` any; and its propensity.

    `draw` is a number in [0, 1) that decides.

    >>> explore("b", ("a", "b"), 0.5, 0.1), explore("b", ("a", "b"), 0.5, 0.9)
    (('a', 0.25), ('b', 0.75))
    """
    chances = {action: share / len(actions) + (1 - share) * (action == choice) for action in actions}
    left = draw
    for action, chance in chances.items():
        if left < chance:
            return action, chance
        left -= chance
    return choice, chances[choice]


@dataclass(frozen=True, slots=True)
class Exploration:
    """How a run's decisions are left to chance: any action with chance `share`, by numbers from `draw`."""

    share: float
    draw: Callable[[], float] = random.random

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1:
            raise InputError(
                f"the share that chance decides is above 0 and at most 1, not {self.share:g}",
                hint="codenib agent --explore 0.3",
            )

    def choose(self, preferred: str, actions: tuple[str, ...]) -> tuple[str, float]:
        """The action to take instead of the preferred one, and its chance."""
        return explore(preferred, actions, self.share, self.draw())

    def choose_route(self, issue: str, contexts: Contexts) -> LoggedChoice | None:
        """How the candidates of an issue are searched for; None where the views leave no choice."""
        asked = SearchRequest(issue, snapshot=PUBLISHED)
        searcher = contexts.workspace.searcher
        plan, rules = searcher.explain(asked).plan, searcher.explain(replace(asked, learned=False)).plan
        if rules.route is not Route.HYBRID:  # without vectors, and by the graph, there is one way
            return None
        actions = router_actions(reads=False)
        action, propensity = self.choose(action_of(plan), actions)
        return LoggedChoice(
            action=action,
            propensity=propensity,
            alternatives=actions,
            default=action_of(rules),
            features=query_features(read_signals(issue)),
            model=plan.model,
        )

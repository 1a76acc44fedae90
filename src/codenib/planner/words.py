"""A plan in, its steps and one sentence for people out. Pure.

>>> from codenib.core.answers import Plan, Route
>>> plan = Plan(Route.HYBRID, 10, "it is a short question", fusion="weighted", estimate_ms=10.0)
>>> sentence(plan, steps_of(plan, {}))
'by words and vectors together, because it is a short question; expected 10 ms (assumed)'
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from codenib.core.answers import Plan, PlanStep, Route
from codenib.planner.plan import ASSUMED

_FUSIONS = {
    "weighted": "words and vectors together",
    "rrf": "words and vectors together, merged by rank",
    "learned": "words, vectors and what the text names, in a learned order",
}


def steps_of(plan: Plan, costs: Mapping[str, float]) -> tuple[PlanStep, ...]:
    """The operators in the order in which they run; `costs` are the measured ones."""

    def step(operator: str, words: str, times: int = 1) -> PlanStep:
        known = costs.get(operator, ASSUMED[operator.partition(":")[0]])
        return PlanStep(operator, words, round(known * times, 1), operator in costs)

    steps = []
    if plan.fusion == "learned":
        vectors = "words, vectors" if plan.route is Route.HYBRID else "words"
        steps.append(step("learned", f"rank by {vectors} and what the text names, in a learned order"))
    else:
        if plan.route is not Route.SEMANTIC:
            steps.append(step("lexical", "rank by words"))
        if plan.route in (Route.SEMANTIC, Route.HYBRID):
            steps.append(step("semantic", "rank by meaning, with vectors"))
    if plan.expansion:
        steps.append(step("expand", "add neighbours in the graph"))
    if plan.reranker:
        words = f"let the {plan.reranker} reranker read the first {plan.k_rerank}"
        steps.append(step(f"rerank:{plan.reranker}", words, plan.k_rerank))
    return tuple(steps)


def sentence(plan: Plan, steps: Sequence[PlanStep]) -> str:
    """How the query is answered, why, what follows, and what it should cost."""
    because, *remarks = plan.reason.split("; ")
    parts = [f"by {_how(plan)}, because {because}"]
    parts += [f"then {each.words}" for each in steps if each.operator.partition(":")[0] == "rerank"]
    parts += [remark for remark in remarks if not remark.startswith("the first ")]
    assumed = "" if all(each.measured for each in steps) else " (assumed)"
    parts.append(f"expected {plan.estimate_ms or 0.0:g} ms{assumed}")
    return "; ".join(parts)


def _how(plan: Plan) -> str:
    if plan.route is Route.HYBRID:
        return _FUSIONS[plan.fusion or "weighted"]
    if plan.route is Route.SEMANTIC:
        return "vectors, with neighbours in the graph" if plan.expansion else "vectors alone"
    if plan.route is Route.STRUCTURAL:
        return "words, and the graph's neighbours of what they find"
    return "words and what the text names, in a learned order" if plan.fusion else "words alone"

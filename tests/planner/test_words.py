"""A plan reads as a sentence."""

from __future__ import annotations

from codenib.core.answers import Plan, Route
from codenib.planner.words import sentence, steps_of


def told(plan: Plan, **costs: float) -> str:
    return sentence(plan, steps_of(plan, costs))


def test_a_measured_plan_is_not_called_assumed() -> None:
    plan = Plan(Route.HYBRID, 10, "it is a short question", fusion="weighted", estimate_ms=12.0)
    assert (
        told(plan, lexical=7.0, semantic=5.0)
        == "by words and vectors together, because it is a short question; expected 12 ms"
    )


def test_a_reranker_is_told_once_and_remarks_stay() -> None:
    reason = "it was asked for; the first 30 read by the qwen3-0.6b reranker; the most that fits in 900 ms"
    plan = Plan(Route.LEXICAL, 10, reason, reranker="qwen3-0.6b", k_rerank=30, estimate_ms=810.0)
    assert told(plan) == (
        "by words alone, because it was asked for; then let the qwen3-0.6b reranker read the first 30; "
        "the most that fits in 900 ms; expected 810 ms (assumed)"
    )
    assert [step.operator for step in steps_of(plan, {})] == ["lexical", "rerank:qwen3-0.6b"]


def test_each_route_has_its_steps() -> None:
    def operators(plan: Plan) -> list[str]:
        return [step.operator for step in steps_of(plan, {})]

    assert operators(Plan(Route.SEMANTIC, 1, "x", expansion="dense-graph")) == ["semantic", "expand"]
    assert operators(Plan(Route.STRUCTURAL, 1, "x", expansion="one-hop")) == ["lexical", "expand"]
    assert operators(Plan(Route.HYBRID, 1, "x", fusion="learned")) == ["learned"]

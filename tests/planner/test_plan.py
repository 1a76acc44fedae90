"""Routes."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codenib.core.answers import Plan, Route
from codenib.core.errors import InputError, StateError
from codenib.core.requests import SearchRequest
from codenib.planner.plan import RERANK, make_plan, parse_budget
from codenib.planner.signals import read_signals

ALL = frozenset({"ranked:lexical", "ranked:semantic", "ranked:semantic:instant", "graph"})
ISSUE = "Session cookie is dropped\nWhen the app restarts the cookie is gone.\nExpected: it stays."
QUESTION = "where are cookies signed"


def plan(route: str, capabilities: Collection[str], k: int, query: str = QUESTION, **asked: Any) -> Plan:
    return make_plan(SearchRequest(query, k, route, **asked), read_signals(query), capabilities)


def test_auto_takes_the_lexical_route_and_says_why() -> None:
    chosen = plan("auto", {"ranked:lexical"}, 7)
    assert (chosen.route, chosen.k_retrieve, chosen.reason) == (
        Route.LEXICAL,
        7,
        "no other ranked view is there",
    )


def test_auto_uses_both_ranked_views_when_both_are_fresh() -> None:
    fresh = {"ranked:lexical", "ranked:semantic", "ranked:semantic:instant"}
    assert plan("auto", fresh, 5).route is Route.HYBRID


def test_hybrid_without_the_dense_view_names_the_command_that_builds_it() -> None:
    with pytest.raises(StateError) as caught:
        plan("hybrid", {"ranked:lexical"}, 10)
    assert caught.value.hint == "codenib index --views dense"


def test_an_explicit_route_is_honoured() -> None:
    assert plan("lexical", {"ranked:lexical"}, 1).reason == "it was asked for"


def test_an_unknown_route_is_refused() -> None:
    with pytest.raises(InputError, match="unknown route 'telepathic'"):
        plan("telepathic", {"ranked:lexical"}, 10)


def test_the_semantic_route_is_honoured_or_refused_never_changed() -> None:
    assert plan("semantic", {"ranked:lexical", "ranked:semantic"}, 3).route is Route.SEMANTIC
    assert plan("semantic", {"ranked:semantic"}, 3).reason == "it was asked for"
    with pytest.raises(StateError, match="dense view") as caught:
        plan("semantic", {"ranked:lexical"}, 3)
    assert caught.value.hint == "codenib index --views dense"


def test_auto_never_waits_for_a_model_that_is_not_the_embedded_one() -> None:
    chosen = plan("auto", {"ranked:lexical", "ranked:semantic"}, 3)
    assert chosen.route is Route.LEXICAL


def test_a_missing_view_names_the_command_that_builds_it() -> None:
    with pytest.raises(StateError) as caught:
        plan("auto", {"regex"}, 10)
    assert caught.value.hint == "codenib index --views lexical"


def test_a_width_below_one_is_refused() -> None:
    with pytest.raises(InputError):
        plan("auto", {"ranked:lexical"}, 0)


def test_a_question_is_weighted_and_an_issue_is_ranked_by_the_learned_model() -> None:
    assert plan("auto", ALL, 10).fusion == "weighted"
    assert plan("auto", ALL, 10, ISSUE).fusion == "learned"
    assert plan("hybrid", ALL, 10, ISSUE, fusion="rrf").fusion == "rrf"
    words = plan("auto", {"ranked:lexical"}, 10, ISSUE)
    assert (words.route, words.fusion) == (Route.LEXICAL, "learned")
    assert plan("lexical", ALL, 10, ISSUE).fusion == ""


def test_a_structural_question_goes_by_the_graph_where_it_is() -> None:
    asked = "who calls sign_cookie?"
    chosen = plan("auto", ALL, 10, asked)
    assert (chosen.route, chosen.expansion) == (Route.STRUCTURAL, "one-hop")
    assert chosen.reason == "it asks for callers of sign_cookie"
    assert plan("auto", ALL, 10, asked, budget="fast").route is Route.HYBRID
    assert plan("auto", ALL - {"graph"}, 10, asked).route is Route.HYBRID


def test_no_budget_adds_a_reranker() -> None:
    for budget in ("fast", "balanced", "60000ms"):
        assert plan("auto", ALL, 10, ISSUE, budget=budget).reranker is None
    assert plan("auto", ALL, 10, ISSUE, reranker="none").reranker is None


def test_the_budget_that_was_removed_says_to_name_a_reranker() -> None:
    with pytest.raises(InputError, match="thorough was removed") as caught:
        plan("auto", ALL, 10, budget="thorough")
    assert "--rerank" in caught.value.hint


@pytest.mark.parametrize("budget", ["fast", "balanced", "200ms"])
def test_a_reranker_that_was_named_is_used_whatever_the_budget(budget: str) -> None:
    chosen = plan("lexical", ALL, 10, budget=budget, reranker="onnx:folder", cut=50)
    assert (chosen.reranker, chosen.k_rerank) == ("onnx:folder", 50)
    assert plan("lexical", ALL, 10, budget=budget, reranker="onnx:folder").k_rerank == RERANK


@pytest.mark.parametrize(
    ("milliseconds", "route", "fusion"),
    [(30, Route.HYBRID, "learned"), (12, Route.HYBRID, "weighted"), (7, Route.LEXICAL, "")],
)
def test_a_millisecond_budget_takes_the_most_that_fits(milliseconds: int, route: Route, fusion: str) -> None:
    chosen = plan("auto", ALL, 10, ISSUE, budget=f"{milliseconds}ms")
    assert (chosen.route, chosen.fusion) == (route, fusion)
    assert chosen.estimate_ms is not None
    assert chosen.estimate_ms <= milliseconds


def test_measured_costs_take_the_place_of_assumed_ones() -> None:
    request, signals = SearchRequest(ISSUE, budget="100ms"), read_signals(ISSUE)
    assert make_plan(request, signals, ALL, {"learned": 400.0}).fusion == "weighted"


def test_a_budget_that_nothing_fits_takes_the_cheapest_and_says_so() -> None:
    chosen = plan("auto", ALL, 10, ISSUE, budget="1ms")
    assert chosen.route is Route.LEXICAL
    assert "nothing fits in 1 ms" in chosen.reason


@pytest.mark.parametrize("budget", ["", "soon", "-5", "0ms", "nan", "inf"])
def test_a_budget_that_is_none_is_refused(budget: str) -> None:
    with pytest.raises(InputError, match="unknown budget"):
        parse_budget(budget)


def test_only_the_structural_and_the_semantic_route_expand() -> None:
    assert plan("semantic", ALL, 10, expand=True).expansion == "dense-graph"
    assert plan("semantic", ALL, 10).expansion is None
    with pytest.raises(StateError, match="graph view"):
        plan("semantic", ALL - {"graph"}, 10, expand=True)
    with pytest.raises(InputError, match="does not expand"):
        plan("lexical", ALL, 10, expand=True)


@given(
    st.text(max_size=400),
    st.sampled_from(["auto", "lexical", "semantic", "hybrid", "structural"]),
    st.sampled_from(["fast", "balanced", "15ms", "2000"]),
    st.sets(st.sampled_from(sorted(ALL))),
)
def test_every_request_gets_the_same_plan_twice_or_is_refused(
    query: str, route: str, budget: str, capabilities: set[str]
) -> None:
    request, signals = SearchRequest(query, route=route, budget=budget), read_signals(query)
    try:
        chosen = make_plan(request, signals, capabilities)
    except StateError as refused:
        assert "not available" in str(refused)
        return
    assert chosen == make_plan(request, signals, capabilities)
    assert route in ("auto", chosen.route)
    assert chosen.reason
    needs = {Route.SEMANTIC: "ranked:semantic", Route.HYBRID: "ranked:semantic", Route.STRUCTURAL: "graph"}
    assert needs.get(chosen.route, "ranked:lexical") in capabilities

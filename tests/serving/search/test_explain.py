"""Why a result stands where it does."""

from __future__ import annotations

from dataclasses import replace

from tests.gitrepo import GitRepo

from codenib.core.requests import SearchRequest
from codenib.serving.workspace import Workspace


def test_points_of_words_and_places_in_each_order_are_told(shop: GitRepo) -> None:
    with Workspace(shop.path) as workspace:
        workspace.index()
        asked = SearchRequest("total price of the cart", k=5, explain=True)
        answer = workspace.searcher.search(asked)
        plain = workspace.searcher.search(replace(asked, explain=False))

    assert answer.items == plain.items
    assert plain.explained == ()
    assert [each.places["answer"] for each in answer.explained] == list(range(1, len(answer.items) + 1))
    first = answer.explained[0]
    assert {"words", "meaning", answer.plan.fusion, "answer"} == set(first.places)
    assert first.words.keys() >= {"total", "price"}
    assert all(points > 0 for points in first.words.values())


def test_by_words_alone_the_points_add_up_to_the_units_own_score(shop: GitRepo) -> None:
    with Workspace(shop.path) as workspace:
        workspace.index()
        answer = workspace.searcher.search(SearchRequest("currency", route="lexical", explain=True))
        view = workspace.snapshots.of_snapshot(answer.snapshot.id).lexical
        from codenib.views.lexical.query import query_terms

        scores = view.score(query_terms("currency"))
        numbers = [view.unit_at(item.path, item.start_line) for item in answer.items]

    assert all(each.places["words"] == each.places["answer"] for each in answer.explained)
    for number, each in zip(numbers, answer.explained, strict=True):
        assert number is not None
        assert abs(sum(each.words.values()) - float(scores.units[number])) < 0.01


def test_the_steps_of_an_answer_lie_within_its_time(shop: GitRepo) -> None:
    with Workspace(shop.path) as workspace:
        workspace.index()
        answer = workspace.search("total price")

    names = [step.operator for step in answer.steps]
    assert names[:2] == ["snapshot", "plan"]
    assert "names" in names
    assert all(step.start_ms + step.ms <= answer.seconds * 1000 + 0.01 for step in answer.steps)

"""The operator: order, ties, the cut, and what it says of its cost."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codenib.core.errors import InputError, ProviderError
from codenib.core.reranking import RerankCost, RerankerIdentity
from codenib.serving.search.rerankers.operator import rerank


@dataclass
class Table:
    """A reranker that knows the score of each document."""

    known: dict[str, float]
    asked: list[str] = field(default_factory=list)
    identity: RerankerIdentity = field(default_factory=lambda: RerankerIdentity("table", "1", "yes-no"))

    def scores(self, query: str, documents: Sequence[str]) -> list[float]:
        self.asked += documents
        return [self.known[document] for document in documents]


def spelled(numbers: Sequence[int]) -> list[str]:
    return [f"d{number}" for number in numbers]


def test_the_first_candidates_are_reordered_and_the_rest_stay_behind() -> None:
    table = Table({"d1": 0.1, "d2": 0.9, "d3": 0.5})
    found = rerank("q", [1, 2, 3, 4, 5], table, 3, spelled)
    assert found.items == (2, 3, 1, 4, 5)
    assert found.scores == (0.9, 0.5, 0.1)
    assert (found.cost.documents, found.cost.unscored) == (3, 0)
    assert found.cost.seconds > 0
    assert table.asked == ["d1", "d2", "d3"]


def test_equal_scores_keep_the_first_order() -> None:
    assert rerank("q", [3, 1, 2], Table({"d1": 1.0, "d2": 1.0, "d3": 1.0}), 3, spelled).items == (3, 1, 2)


def test_what_has_no_score_comes_behind_and_is_counted() -> None:
    table = Table({"d1": math.nan, "d2": -4.0, "d3": math.nan, "d4": 2.0})
    found = rerank("q", [1, 2, 3, 4, 5], table, 4, spelled)
    assert found.items == (4, 2, 1, 3, 5)
    assert found.scores == (2.0, -4.0)
    assert found.cost.unscored == 2


@pytest.mark.parametrize(("reranker", "cut"), [(None, 3), (Table({}), 0)])
def test_without_a_reranker_or_a_cut_nothing_moves_and_nothing_is_read(
    reranker: Table | None, cut: int
) -> None:
    def refuse(numbers: Sequence[int]) -> list[str]:
        raise AssertionError("no document was needed")

    found = rerank("q", [2, 1], reranker, cut, refuse)
    assert (found.items, found.scores, found.cost) == ((2, 1), (), RerankCost())


def test_a_cut_below_zero_is_refused() -> None:
    with pytest.raises(InputError, match="-1"):
        rerank("q", [1], Table({"d1": 0.0}), -1, spelled)


def test_an_infinite_score_is_the_provider_s_error() -> None:
    with pytest.raises(ProviderError, match="table gave no usable score"):
        rerank("q", [1], Table({"d1": math.inf}), 1, spelled)


@given(
    scores=st.lists(st.one_of(st.sampled_from([0.0, 0.5]), st.floats(allow_infinity=False)), max_size=12),
    cut=st.integers(0, 15),
)
def test_every_candidate_comes_back_once_and_scores_fall(scores: list[float], cut: int) -> None:
    numbers = list(range(len(scores)))
    table = Table({f"d{number}": score for number, score in enumerate(scores)})
    found = rerank("q", numbers, table, cut, spelled)
    assert sorted(found.items) == numbers
    assert list(found.items[cut:]) == numbers[cut:]
    assert list(found.scores) == sorted(found.scores, reverse=True)
    assert list(found.scores) == [scores[number] for number in found.items[: len(found.scores)]]

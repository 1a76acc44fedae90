"""Batches, memory and equal pairs, with a model whose memory has a size."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from codenib.core.errors import ProviderError
from codenib.core.reranking import RerankerIdentity
from codenib.serving.search.rerankers.pointwise import PairTokens, PointwiseReranker

IDENTITY = RerankerIdentity("small", "1", "yes-no")


class SmallMemory:
    """Holds `room` tokens at once; a pair's score is its number of tokens."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.batches: list[list[int]] = []

    def encode(self, query: str, documents: Sequence[str]) -> list[PairTokens]:
        return [PairTokens(tuple(map(ord, query + document))) for document in documents]

    def score(self, batch: Sequence[PairTokens]) -> list[float]:
        self.batches.append([len(pair.ids) for pair in batch])
        if len(batch) * max(len(pair.ids) for pair in batch) > self.room:
            raise MemoryError("out of memory")
        return [float(len(pair.ids)) for pair in batch]


def test_the_longest_pairs_go_first_in_batches_of_like_length() -> None:
    model = SmallMemory(1000)
    scores = PointwiseReranker(model, IDENTITY, 2).scores("q", ["a", "bbbb", "cc", "ddddd", "eee"])
    assert model.batches == [[6, 5], [4, 3], [2]]
    assert scores == [2, 5, 3, 6, 4]


def test_equal_pairs_are_scored_once() -> None:
    model = SmallMemory(1000)
    assert PointwiseReranker(model, IDENTITY, 8).scores("q", ["a", "b", "a", "a"]) == [2, 2, 2, 2]
    assert model.batches == [[2, 2]]


def test_the_batch_halves_until_it_fits_and_stays_so_for_the_call() -> None:
    model = SmallMemory(8)
    released: list[int] = []
    reranker = PointwiseReranker(model, IDENTITY, 4, lambda: released.append(1))
    assert reranker.scores("q", ["aaa", "bbb", "ccc", "ddd", "eee"]) == [4] * 5
    assert [len(batch) for batch in model.batches] == [4, 2, 2, 1]
    assert len(released) == 1
    reranker.scores("q", ["aaa", "bbb", "ccc", "ddd"])
    assert len(model.batches[4]) == 4


def test_a_document_too_large_by_itself_has_no_score_and_the_others_do() -> None:
    model = SmallMemory(5)
    scores = PointwiseReranker(model, IDENTITY, 2).scores("q", ["a", "b" * 9, "cccc"])
    assert math.isnan(scores[1])
    assert [scores[0], scores[2]] == [2, 5]


def test_a_model_for_which_everything_is_too_large_is_an_error() -> None:
    with pytest.raises(ProviderError, match="out of memory on every document") as caught:
        PointwiseReranker(SmallMemory(1), IDENTITY, 8).scores("q", ["aa", "bb"])
    assert "smaller model" in caught.value.hint

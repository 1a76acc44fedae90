"""A query and documents in, a score for each pair by itself out: batches of like length through a model."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from codenib.core.errors import ProviderError
from codenib.core.reranking import RerankerIdentity


class PairTokens(NamedTuple):
    """A pair as its model reads it. `types` tell the query's tokens (0) from the document's (1)."""

    ids: tuple[int, ...]
    types: tuple[int, ...] = ()


class PairModel(Protocol):
    """A model of pairs; `score` raises `MemoryError` when the batch is too large for it."""

    def encode(self, query: str, documents: Sequence[str]) -> list[PairTokens]: ...

    def score(self, batch: Sequence[PairTokens]) -> list[float]: ...


def _nothing() -> None:
    """A device without a memory cache has nothing to release."""


@dataclass(frozen=True, slots=True)
class PointwiseReranker:
    """Scores the longest pairs first, so that a batch too large fails at once; it then halves, down to one.

    Equal pairs are scored once, and batches do not depend on the order of the documents: nor do the scores.
    """

    model: PairModel
    identity: RerankerIdentity
    batch_size: int
    release_memory: Callable[[], None] = _nothing

    def scores(self, query: str, documents: Sequence[str]) -> list[float]:
        return self.score_many([(query, documents)])[0]

    def score_many(self, asked: Sequence[tuple[str, Sequence[str]]]) -> list[list[float]]:
        """The scores of several queries, each with its documents, in the same batches."""
        encoded = [self.model.encode(query, documents) for query, documents in asked]
        pairs = {pair for row in encoded for pair in row}
        order = sorted(pairs, key=lambda pair: (-len(pair.ids), pair))
        scores: dict[PairTokens, float] = {}
        start, size = 0, self.batch_size
        while start < len(order):
            batch = order[start : start + size]
            try:
                values = self.model.score(batch)
            except MemoryError:
                self.release_memory()
                if size > 1:
                    size //= 2
                    continue
                values = [math.nan]  # the paper gives such a document zero: the lowest score there is
            scores.update(zip(batch, values, strict=True))
            start += len(batch)
        rows = [[scores[pair] for pair in row] for row in encoded]
        if any(row and all(math.isnan(value) for value in row) for row in rows):
            raise ProviderError(
                f"{self.identity.model} runs out of memory on every document",
                hint="choose a smaller model, for example qwen3-0.6b or an onnx:FOLDER",
            )
        return rows

"""The reranking operator: candidates in their first order in, the same in their second order out.

The first k′ candidates are read by the reranker; the others keep their order behind. The paper's
`S_dense R` cuts at k′ and returns nothing behind it: take the first k′ of the result for that.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from codenib.core.errors import InputError, ProviderError
from codenib.core.protocols import Reranker
from codenib.core.reranking import RerankCost

Candidate = TypeVar("Candidate")


@dataclass(frozen=True, slots=True)
class Reranked(Generic[Candidate]):
    """All candidates in their new order. `scores` are those of the first ones, as far as they have one."""

    items: tuple[Candidate, ...]
    scores: tuple[float, ...]
    cost: RerankCost


def rerank(
    query: str,
    candidates: Sequence[Candidate],
    reranker: Reranker | None,
    cut: int,
    documents: Callable[[Sequence[Candidate]], Sequence[str]],
) -> Reranked[Candidate]:
    """Order the first `cut` candidates by the reranker's scores; equal scores keep the first order.

    `documents` spells candidates as `documents.document_of` does; it is asked once, for the first `cut`.
    Candidates that could not be scored come behind the scored ones, in their first order.
    """
    if cut < 0:
        raise InputError(f"cannot rerank {cut} candidates", hint="a cut of 0 leaves the order as it is")
    head, rest = tuple(candidates[:cut]), tuple(candidates[cut:])
    if reranker is None or not head:
        return Reranked((*head, *rest), (), RerankCost())
    started = time.perf_counter()
    texts = list(documents(head))
    if len(texts) != len(head):
        raise ValueError(f"{len(texts)} documents for {len(head)} candidates")
    scores = reranker.scores(query, texts)
    if len(scores) != len(head) or any(math.isinf(score) for score in scores):
        raise ProviderError(
            f"{reranker.identity.model} gave no usable score for each of {len(head)} documents"
        )
    order = sorted(range(len(head)), key=lambda row: _behind(scores[row]))
    scored = tuple(scores[row] for row in order if not math.isnan(scores[row]))
    cost = RerankCost(time.perf_counter() - started, len(head), len(head) - len(scored))
    return Reranked((*(head[row] for row in order), *rest), scored, cost)


def _behind(score: float) -> tuple[bool, float]:
    return (True, 0.0) if math.isnan(score) else (False, -score)

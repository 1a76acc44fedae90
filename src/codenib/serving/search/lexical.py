"""A query over the pinned lexical view in, ranked evidence out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from codenib.serving.search.evidence import RankedEvidence, Retrieval, evidence
from codenib.serving.search.order import rank
from codenib.views.lexical.query import query_terms

if TYPE_CHECKING:
    from codenib.serving.snapshots.pinned import PinnedSnapshot
    from codenib.views.lexical.read import Scores


def search_lexical(
    pinned: PinnedSnapshot, wanted: Retrieval, lift: Callable[[Scores], Scores] | None = None
) -> RankedEvidence:
    """BM25 scores in the base order; `lift` may add what another view knows."""
    view = pinned.lexical
    scores = view.score(query_terms(wanted.query))
    if lift is not None:
        scores = lift(scores)
    allowed = wanted.allowed(view.paths)
    ranking = rank(
        view,
        scores,
        level=wanted.level,
        k=wanted.k,
        tests=wanted.tests,
        allowed=allowed,
        spread=wanted.spread,
    )
    best = zip(ranking.numbers, ranking.scores, strict=True)
    items = evidence(view, wanted.level, best, scores.terms)
    if ranking.further:
        items = tuple(
            replace(item, further=further) for item, further in zip(items, ranking.further, strict=True)
        )
    return RankedEvidence(items, ranking.total)

"""The query operators over pinned views."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from codenib.core.answers import Evidence, Plan
from codenib.serving.search.evidence import evidence
from codenib.serving.search.order import Array, Ranked, Tests, rank
from codenib.serving.snapshots.pinned import Pinned
from codenib.views.lexical.query import query_terms
from codenib.views.lexical.read import LexicalView, Scores
from codenib.views.trigram.match import Matches


def search_pinned(
    pinned: Pinned,
    query: str,
    plan: Plan,
    level: Literal["unit", "file"],
    tests: Tests,
    accepts: Callable[[str], bool] | None,
    lift: Callable[[Scores], Scores] | None = None,
) -> tuple[Ranked, tuple[Evidence, ...]]:
    """Run a ranked plan over the lexical view; `lift` may add what another view knows."""
    view = pinned.lexical
    scores = view.score(query_terms(query))
    if lift is not None:
        scores = lift(scores)
    ranked = rank(
        view, scores, level=level, k=plan.k_retrieve, tests=tests, allowed=allowed_files(view, accepts)
    )
    return ranked, evidence(view, level, zip(ranked.numbers, ranked.scores, strict=True), scores.terms)


def allowed_files(view: LexicalView, accepts: Callable[[str], bool] | None) -> Array | None:
    """A mask over files: those whose path is accepted; None when all are."""
    if accepts is None:
        return None
    return np.fromiter((accepts(path) for path in view.paths), bool, len(view.paths))


def regex_pinned(
    pinned: Pinned,
    pattern: str,
    *,
    ignore_case: bool,
    literal: bool,
    paths: Callable[[str], bool] | None,
    limit: int | None,
    context: int,
    timeout_s: float,
    backend: Literal["trigram", "zoekt"],
) -> tuple[Matches, str]:
    """Run a pattern over the raw text, by our own view or by zoekt over the same text."""
    view = pinned.zoekt if backend == "zoekt" else pinned.trigram
    matches = view.search(
        pattern,
        ignore_case=ignore_case,
        literal=literal,
        paths=paths,
        limit=limit,
        context=context,
        timeout_s=timeout_s,
    )
    return matches, backend

"""The query operators over pinned views."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from codenib.core.answers import Evidence, Plan
from codenib.core.source import Mark
from codenib.serving.pinned import Pinned
from codenib.serving.rank import Ranked, Tests, rank
from codenib.views.lexical.query import query_terms
from codenib.views.lexical.read import Scores
from codenib.views.trigram.match import Matches

_SHOWN_TERMS = 8


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
    allowed = None
    if accepts is not None:
        allowed = np.fromiter((accepts(path) for path in view.paths), bool, len(view.paths))
    ranked = rank(view, scores, level=level, k=plan.k_retrieve, tests=tests, allowed=allowed)
    items = []
    for number, score in zip(ranked.numbers, ranked.scores, strict=True):
        if level == "file":
            items.append(_file_evidence(pinned, number, score))
            continue
        document = view.document(number)
        items.append(
            Evidence(
                document.span.path,
                document.span.start_line,
                document.span.end_line,
                document.symbol,
                document.kind,
                document.level.name,
                document.language,
                round(score, 6),
                mark_names(document.marks),
                tuple(view.matched(number, scores.terms)[:_SHOWN_TERMS]),
            )
        )
    return ranked, tuple(items)


def _file_evidence(pinned: Pinned, file: int, score: float) -> Evidence:
    """A file as one result, from its first line to its last."""
    view = pinned.lexical
    units = np.flatnonzero(view.file_of == file)
    first, last = view.document(int(units[0])), view.document(int(units[-1]))
    return Evidence(
        first.span.path,
        1,
        last.span.end_line,
        "",
        "file",
        "L0",
        first.language,
        round(score, 6),
        mark_names(first.marks),
    )


def mark_names(marks: Mark) -> tuple[str, ...]:
    """`test`, `vendored` ... for people and JSON."""
    return tuple(mark.name.lower() for mark in Mark if mark & marks and mark.name)


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

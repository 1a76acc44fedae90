"""A query's vector over the pinned dense view in, ranked evidence out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from codenib.core.answers import Evidence, Plan
from codenib.core.embedding import Embedder
from codenib.core.source import Mark
from codenib.serving.search.evidence import mark_names
from codenib.serving.search.order import Ranked, Tests, kept_files, mark_factors
from codenib.serving.snapshots.pinned import Pinned
from codenib.views.dense.embed import checked
from codenib.views.dense.store import CodeVectorStore, Nearest, best

# Candidates of an approximate index for each result: marks may lower some, and a file counts once.
_WIDER = 10
_LEAST = 100


def semantic_pinned(
    pinned: Pinned,
    embedder: Embedder,
    query: str,
    plan: Plan,
    level: Literal["unit", "file"],
    tests: Tests,
    accepts: Callable[[str], bool] | None,
) -> tuple[Ranked, tuple[Evidence, ...]]:
    """Run a semantic plan. What the query's vector does not point towards is no match."""
    view = pinned.dense
    vector = checked(embedder.embed_queries([query]), 1, embedder.identity)[0]
    allowed = None
    if accepts is not None:
        allowed = np.fromiter((accepts(path) for path in view.paths), bool, len(view.paths))
    keep = kept_files(view.marks, tests, allowed)
    rows = None if keep.all() else keep[view.file_of]
    found = view.candidates(vector, max(_WIDER * plan.k_retrieve, _LEAST), rows)
    scores = found.scores
    if tests == "lower":
        scores = scores * mark_factors().astype(np.float32)[view.marks][view.file_of[found.rows]]
    matching = scores > 0
    numbers, scores = found.rows[matching], scores[matching]
    if level == "file":
        return _files(view, Nearest(view.file_of[numbers], scores), plan.k_retrieve)
    nearest = best(numbers, scores, plan.k_retrieve)
    items = tuple(
        _unit(view, int(row), float(score)) for row, score in zip(nearest.rows, nearest.scores, strict=True)
    )
    return _ranked(nearest, len(numbers)), items


def _files(view: CodeVectorStore, units: Nearest, k: int) -> tuple[Ranked, tuple[Evidence, ...]]:
    """Files by their best unit."""
    scores = np.zeros(len(view.paths), np.float32)
    np.maximum.at(scores, units.rows, units.scores)
    files = np.flatnonzero(scores)
    nearest = best(files, scores[files], k)
    items = tuple(
        _file(view, int(file), float(score)) for file, score in zip(nearest.rows, nearest.scores, strict=True)
    )
    return _ranked(nearest, len(files)), items


def _ranked(nearest: Nearest, total: int) -> Ranked:
    return Ranked(tuple(nearest.rows.tolist()), tuple(nearest.scores.tolist()), total)


def _unit(view: CodeVectorStore, number: int, score: float) -> Evidence:
    row = view.row(number)
    return Evidence(
        row.span.path,
        row.span.start_line,
        row.span.end_line,
        row.symbol,
        row.kind,
        row.level.name,
        row.language,
        round(score, 6),
        mark_names(row.marks),
    )


def _file(view: CodeVectorStore, file: int, score: float) -> Evidence:
    marks = mark_names(Mark(int(view.marks[file])))
    return Evidence(
        view.paths[file], 1, view.lines(file), "", "file", "L0", view.language(file), round(score, 6), marks
    )

"""A query's vector over the pinned dense view in, ranked evidence out."""

from __future__ import annotations

import numpy as np

from codenib.core.answers import Evidence
from codenib.core.embedding import Embedder
from codenib.core.source import Mark
from codenib.serving.search.evidence import RankedEvidence, Retrieval, file_result, mark_names
from codenib.serving.search.lexical import SPREAD, included_marks, mark_factors, places_in_file
from codenib.serving.snapshots.pinned import PinnedSnapshot
from codenib.views.dense.embed import checked
from codenib.views.dense.store import CodeVectorStore, Nearest, best

# Candidates of an approximate index for each result: marks may lower some, and a file counts once.
_WIDER = 10
_LEAST = 100


def search_semantic(pinned: PinnedSnapshot, embedder: Embedder, wanted: Retrieval) -> RankedEvidence:
    """Units or files by the nearness of their vectors. What the query does not point towards is no match."""
    view = pinned.dense
    vector = checked(embedder.embed_queries([wanted.query]), 1, embedder.identity)[0]
    allowed = wanted.allowed(view.paths)
    included = included_marks(
        view.unit_marks, wanted.tests, None if allowed is None else allowed[view.file_of]
    )
    rows = None if included.all() else included
    near = view.candidates(vector, max(_WIDER * wanted.k, _LEAST), rows)
    scores = near.scores
    if wanted.tests == "lower":
        scores = scores * mark_factors().astype(np.float32)[view.unit_marks[near.rows]]
    matching = scores > 0
    numbers, scores = near.rows[matching], scores[matching]
    if wanted.level == "file":
        return _files(view, Nearest(view.file_of[numbers], scores), wanted.k)
    if wanted.spread:
        scores = (scores * SPREAD ** places_in_file(view.file_of[numbers], scores)).astype(np.float32)
    nearest = best(numbers, scores, wanted.k)
    items = tuple(
        _unit(view, int(row), float(score)) for row, score in zip(nearest.rows, nearest.scores, strict=True)
    )
    return RankedEvidence(items, len(numbers))


def _files(view: CodeVectorStore, units: Nearest, k: int) -> RankedEvidence:
    """Files by their best unit."""
    scores = np.zeros(len(view.paths), np.float32)
    np.maximum.at(scores, units.rows, units.scores)
    files = np.flatnonzero(scores)
    nearest = best(files, scores[files], k)
    items = tuple(
        _file(view, int(file), float(score)) for file, score in zip(nearest.rows, nearest.scores, strict=True)
    )
    return RankedEvidence(items, len(files))


def _unit(view: CodeVectorStore, number: int, score: float) -> Evidence:
    row = view.row(number)
    return Evidence(
        path=row.span.path,
        start_line=row.span.start_line,
        end_line=row.span.end_line,
        symbol=row.symbol,
        kind=row.kind,
        level=row.level.name,
        language=row.language,
        score=round(score, 6),
        marks=mark_names(row.marks),
    )


def _file(view: CodeVectorStore, file: int, score: float) -> Evidence:
    span = view.paths[file], view.lines(file)
    return file_result(span, view.language(file), score, Mark(int(view.marks[file])))

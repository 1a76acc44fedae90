"""A pinned snapshot and a query in, the features of its candidate units and files out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codenib.planner.signals import Signals
from codenib.serving.search.evidence import Retrieval
from codenib.serving.search.fusion import lift, standings
from codenib.serving.search.learned.features import Features, ViewScores
from codenib.serving.search.lexical import base_scores
from codenib.serving.search.names import unit_names
from codenib.views.lexical.query import query_terms

if TYPE_CHECKING:
    from codenib.core.embedding import Embedder
    from codenib.serving.snapshots.pinned import PinnedSnapshot


def gather_features(
    pinned: PinnedSnapshot, wanted: Retrieval, signals: Signals, embedder: Embedder | None
) -> Features:
    """Ask the lexical view thrice (all words, the title's, those that are code) and the dense view twice."""
    view, text = pinned.lexical, wanted.query
    full = view.score(query_terms(text))
    title = view.score(query_terms(signals.title)) if signals.lines > 1 else full
    named = view.score(query_terms(" ".join((*signals.identifiers, *signals.dotted, *signals.paths))))
    near = near_title = None
    base = full
    if embedder is not None:
        texts = [text] if signals.lines == 1 else [text, signals.title]
        stands = standings(pinned, embedder, texts)
        near, near_title = stands[0], stands[-1]
        base = lift(full, near)
    units, files = base_scores(view, base, tests=wanted.tests, allowed=wanted.allowed(view.paths))
    scores = ViewScores(
        view=view,
        names=unit_names(pinned),
        signals=signals,
        text=text,
        full=full,
        title=title,
        named=named,
        units=units,
        files=files,
        near=near,
        near_title=near_title,
    )
    return Features(scores)

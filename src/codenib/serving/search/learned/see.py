"""Opened views and a query in, what each view says of every unit and file out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codenib.planner.signals import Signals
from codenib.serving.search.fusion import lifted, standings
from codenib.serving.search.learned.features import Seen
from codenib.serving.search.order import Array, Tests, blended
from codenib.views.lexical.query import query_terms

if TYPE_CHECKING:
    from codenib.core.embedding import Embedder
    from codenib.serving.snapshots.pinned import Pinned


def see(
    pinned: Pinned,
    embedder: Embedder | None,
    text: str,
    signals: Signals,
    *,
    tests: Tests = "lower",
    allowed: Array | None = None,
    history: bool = False,
) -> Seen:
    """Ask the lexical view thrice (all words, the title's, those that are code) and the dense view twice."""
    view = pinned.lexical
    full = view.score(query_terms(text))
    title = view.score(query_terms(signals.title)) if signals.lines > 1 else full
    named = view.score(query_terms(" ".join((*signals.identifiers, *signals.dotted, *signals.paths))))
    near = near_title = None
    base = full
    if embedder is not None:
        texts = [text] if signals.lines == 1 else [text, signals.title]
        found = standings(pinned, embedder, texts)
        near, near_title = found[0], found[-1]
        base = lifted(full, near)
    units, files = blended(view, base, tests=tests, allowed=allowed)
    return Seen(
        view,
        pinned.names,
        signals,
        text,
        full,
        title,
        named,
        units,
        files,
        near,
        near_title,
        pinned.history if history else None,
    )

"""Lexical scores and a query's vector in, scores that both views speak in out; or two orders in, one out.

The lexical view's scores stay the scale: a unit gains by how far its vector stands out, among those of all
units, towards the query. The design's experiment found such weighted sums better than reciprocal ranks, which
hide how sure a view is.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from codenib.core.embedding import Embedder
from codenib.serving.snapshots.pinned import PinnedSnapshot
from codenib.views.dense.embed import checked
from codenib.views.lexical.query import without_noise
from codenib.views.lexical.read import Scores

#: What a unit is known by across views: its path and first line.
UnitKey = tuple[str, int]
# Measured with the embedded model. Issue texts name what they are about, so words carry them (development
# rows, functions in the first ten: .594 at 0, .622 at 0.3, .625 at 0.5, .638 at 0.8, .630 at 1.1; .634 when
# chosen without the repository that is judged). Questions do not (docstring to function, mean reciprocal
# rank of five repositories: .454 at 0, .636 at 3, .643 at 4, .648 at 5, .650 at 6, .651 at 8 and 10). Commit
# subjects, which name things, lose by it: .570 at 0, .565 at 2, .553 at 3, .525 at 6. Four lies between.
LONG_WEIGHT = 0.8
SHORT_WEIGHT = 4.0
RRF_CONSTANT = 60  # the paper's
_LINES = 1 << 32  # more than a file has
SHORT_TERMS = 24  # distinct query terms; a docstring's first paragraph has about ten, an issue hundreds


def fuse(pinned: PinnedSnapshot, embedder: Embedder, query: str, scores: Scores) -> Scores:
    """`scores` with each unit lifted by its vector; units that neither view finds stay at zero."""
    return lift(scores, standings(pinned, embedder, [query])[0])


def standings(pinned: PinnedSnapshot, embedder: Embedder, texts: Sequence[str]) -> list[NDArray[np.float64]]:
    """For each text: how far each unit's vector stands out towards it, in standard deviations, at least 0."""
    dense = pinned.dense
    size = len(pinned.lexical.file_of)
    wanted = [without_noise(text) for text in texts]
    vectors = checked(embedder.embed_queries(wanted), len(texts), embedder.identity)
    unit_of_vector = pinned.derived(_unit_of_vector)
    known = unit_of_vector >= 0
    stands = []
    for vector in vectors:
        standing = np.zeros(size)
        if len(dense) and vector.any():
            near = dense.scores(vector)
            standing[unit_of_vector[known]] = np.maximum((near - near.mean()) / (near.std() or 1.0), 0.0)[
                known
            ]
        stands.append(standing)
    return stands


def lift(scores: Scores, standing: NDArray[np.float64]) -> Scores:
    """`scores` with each unit raised by its standing, on the scale that the matched words have."""
    matched = scores.units[scores.units > 0]
    if not len(matched):
        return scores  # no word of the query is here: a vector alone would find something for nonsense
    spread = float(matched.std()) or float(matched.mean())
    weight = SHORT_WEIGHT if len(scores.terms) <= SHORT_TERMS else LONG_WEIGHT
    return dataclasses.replace(scores, units=scores.units + weight * spread * standing)


def _unit_of_vector(pinned: PinnedSnapshot) -> NDArray[np.int64]:
    """For each row of the dense view the number of the same unit in the lexical view, or -1."""
    lexical, dense = pinned.lexical, pinned.dense
    live = np.flatnonzero(lexical.live)
    known = lexical.file_of[live] * _LINES + lexical.starts[live]
    order = np.argsort(known, kind="stable")
    known, live = known[order], live[order]
    if not len(known):
        return np.full(len(dense), -1)
    # An edited file has a number for each of its versions in a maintained view; one of them is alive.
    files = {lexical.paths[number]: number for number in np.unique(lexical.file_of[live]).tolist()}
    paths = np.array([files.get(path, -1) for path in dense.paths], np.int64)
    wanted = paths[dense.file_of] * _LINES + dense.starts
    # Of two units that begin in one line the last is taken, as a table by place would.
    at = np.maximum(np.searchsorted(known, wanted, side="right") - 1, 0)
    found: NDArray[np.int64] = np.where(known[at] == wanted, live[at], -1)
    return found


def reciprocal_ranks(
    orders: Sequence[tuple[float, Iterable[UnitKey]]],
) -> dict[UnitKey, float]:
    """Reciprocal rank fusion: for each key the sum, over the weighted orders, of weight / (60 + place)."""
    scores: dict[UnitKey, float] = {}
    for weight, order in orders:
        for place, key in enumerate(order, 1):
            scores[key] = scores.get(key, 0.0) + weight / (RRF_CONSTANT + place)
    return scores

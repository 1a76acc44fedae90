"""The embedded model: texts in, vectors out, on any CPU, from files inside the package.

A text's vector is the weighted sum of its pieces' vectors, term frequencies as 1 + ln tf, normalised. Each
piece has one vector (int8) and two weights, one for queries and one for documents. training/README.md says
how it was trained.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from codenib.core.embedding import EMBEDDED, EmbedderIdentity
from codenib.core.errors import StateError
from codenib.views.dense.embedders.pieces import Pieces

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DIMENSION = 256
_MODEL = Path(__file__).parent / "model"
_FILES = ("vocabulary.txt", "vectors.npy", "weights.npy")
_BATCH = 256
_QUERY, _DOCUMENT = 0, 1


@cache
def static_identity() -> EmbedderIdentity:
    """The model's identity, with a checksum over its files; cheap, nothing is loaded."""
    digest = hashlib.sha256()
    try:
        for name in _FILES:
            digest.update((_MODEL / name).read_bytes())
    except OSError as error:
        raise StateError(
            f"the embedded model is missing: {error}", hint="pip install --force-reinstall codenib"
        ) from error
    return EmbedderIdentity(EMBEDDED, digest.hexdigest()[:16], DIMENSION, "weighted sum", True)


class StaticEmbedder:
    """Looks up and adds; thread-safe after construction but for a cache of words."""

    def __init__(self) -> None:
        import numpy as np

        self.identity = static_identity()
        vocabulary = (_MODEL / "vocabulary.txt").read_text(encoding="utf-8").split("\n")[:-1]
        self._pieces = Pieces(vocabulary)
        self._table = np.load(_MODEL / "vectors.npy", allow_pickle=False).astype(np.float32)
        self._weights = np.load(_MODEL / "weights.npy", allow_pickle=False)
        if self._table.shape != (len(vocabulary), DIMENSION) or self._weights.shape != (2, len(vocabulary)):
            raise StateError(
                "the embedded model's files do not fit", hint="pip install --force-reinstall codenib"
            )

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._embed(texts, _DOCUMENT)

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._embed(texts, _QUERY)

    def _embed(self, texts: Sequence[str], side: int) -> NDArray[np.float32]:
        import numpy as np

        rows = np.zeros((len(texts), DIMENSION), np.float32)
        for start in range(0, len(texts), _BATCH):
            self._embed_batch(texts[start : start + _BATCH], side, rows[start : start + _BATCH])
        return rows

    def _embed_batch(self, texts: Sequence[str], side: int, out: NDArray[np.float32]) -> None:
        import numpy as np

        weights = self._weights[side]
        for row, text in enumerate(texts):
            counts = self._pieces.counts(text)
            if not counts:
                continue
            ids = np.fromiter(counts.keys(), np.int64, len(counts))
            tf = 1.0 + np.log(np.fromiter(counts.values(), np.float32, len(counts)))
            vector = (tf * weights[ids]).astype(np.float32) @ self._table[ids]
            length = float(np.sqrt(np.dot(vector, vector)))
            if length > 0.0:
                out[row] = vector / np.float32(length)


def open_static() -> StaticEmbedder:
    """The embedded model, loaded."""
    return StaticEmbedder()

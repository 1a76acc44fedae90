"""Documents in, vectors out: from the cache where it has them, else from the embedder, batch by batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from codenib.core.embedding import Embedder, EmbedderIdentity, VectorCache
from codenib.core.errors import ProviderError
from codenib.core.protocols import Progress

# Texts embedded between two writes to the cache: what an interruption costs at most. A write takes 3 ms, a
# batch 30 ms with the embedded model and seconds with a transformer.
BATCH = 256


@dataclass(frozen=True, slots=True)
class Vectorizer:
    """An embedder with the cache of what it already embedded, and someone to tell."""

    embedder: Embedder
    cache: VectorCache
    progress: Progress

    def vectors(self, texts: Sequence[str], digests: Sequence[str]) -> NDArray[np.float32]:
        """A row for each text; equal texts are embedded once. Every batch is kept as soon as it is there."""
        identity = self.embedder.identity
        out = np.empty((len(texts), identity.dimension), np.float32)
        missing: dict[str, list[int]] = {}
        for index, (digest, row) in enumerate(
            zip(digests, self.cache.get(identity.digest, digests), strict=True)
        ):
            if row is None or len(row) != out.itemsize * identity.dimension:
                missing.setdefault(digest, []).append(index)
            else:
                out[index] = np.frombuffer(row, "<f4")
        wanted = list(missing)
        if wanted:
            self.progress("embedding", 0, len(wanted))  # from here on the time left can be told
        for start in range(0, len(wanted), BATCH):
            part = wanted[start : start + BATCH]
            embedded = self.embedder.embed_documents([texts[missing[digest][0]] for digest in part])
            rows = checked(embedded, len(part), identity)
            self.cache.put(
                identity.digest, [(digest, row.tobytes()) for digest, row in zip(part, rows, strict=True)]
            )
            for digest, row in zip(part, rows, strict=True):
                out[missing[digest]] = row
            self.progress("embedding", start + len(part), len(wanted))
        return out


def checked(rows: NDArray[np.float32], count: int, identity: EmbedderIdentity) -> NDArray[np.float32]:
    """What an embedder gave, when it is what its identity promises."""
    rows = np.ascontiguousarray(rows, "<f4")
    if rows.shape != (count, identity.dimension):
        raise ProviderError(
            f"{identity.model} gave vectors of shape {rows.shape}, not {(count, identity.dimension)}",
            hint="codenib index --views dense --embedder static",
        )
    if not np.isfinite(rows).all():
        raise ProviderError(f"{identity.model} gave a vector that is not finite", hint="codenib doctor")
    return rows

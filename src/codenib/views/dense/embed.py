"""Documents in, vectors out: from the cache where it has them, else from the embedder, batch by batch."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from codenib.core.embedding import Embedder, EmbedderIdentity, VectorCache
from codenib.core.errors import ProviderError
from codenib.core.protocols import Progress

BATCH = 256  # texts that are embedded at once
# Seconds between two writes to the cache: what a kill costs at most, but for a batch. A write waits for the
# disk, which took a tenth of a build with the embedded model when every batch (30 ms) was written by itself.
WRITE_EVERY_S = 1.0


@dataclass(frozen=True, slots=True)
class Vectorizer:
    """An embedder with the cache of what it already embedded, and someone to tell."""

    embedder: Embedder
    cache: VectorCache
    progress: Progress

    def vectors(self, texts: Sequence[str], digests: Sequence[str]) -> NDArray[np.float32]:
        """A row for each text; equal texts are embedded once. What is embedded is cached within a second."""
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
        pending: list[tuple[str, bytes]] = []
        written = time.monotonic()
        try:
            for start in range(0, len(wanted), BATCH):
                part = wanted[start : start + BATCH]
                embedded = self.embedder.embed_documents([texts[missing[digest][0]] for digest in part])
                for digest, row in zip(part, checked(embedded, len(part), identity), strict=True):
                    out[missing[digest]] = row
                    pending.append((digest, row.tobytes()))
                if time.monotonic() - written >= WRITE_EVERY_S:
                    self.cache.put(identity.digest, pending)
                    pending, written = [], time.monotonic()
                self.progress("embedding", start + len(part), len(wanted))
        finally:  # an interruption loses its batch alone
            if pending:
                self.cache.put(identity.digest, pending)
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

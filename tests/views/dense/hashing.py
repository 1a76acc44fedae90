"""A deterministic embedder for tests: words hashed into a few dimensions. And a cache in memory."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from codenib.core.embedding import EmbedderIdentity
from codenib.core.errors import InputError, ProviderError

DIMENSION = 24


class HashEmbedder:
    """Counts words by hash, normalised. Fails after `limit` texts, as an interruption does."""

    def __init__(self, model: str = "hashing", limit: int | None = None) -> None:
        self.identity = EmbedderIdentity(model, "1", DIMENSION, "sum", True)
        self.limit = limit
        self.embedded: list[str] = []

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self.limit is not None and len(self.embedded) + len(texts) > self.limit:
            raise ProviderError("interrupted")
        self.embedded.extend(texts)
        return self._embed(texts)

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._embed(texts)

    def _embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = np.zeros((len(texts), DIMENSION), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in re.findall(r"[a-z]+", text.lower()):
                row[zlib.crc32(f"{self.identity.model} {word}".encode()) % DIMENSION] += 1.0
            length = float(np.sqrt((row * row).sum()))
            row /= np.float32(length or 1.0)
        return rows


def open_hashing(spec: str) -> HashEmbedder:
    """`static` and `hash:NAME` are hashing embedders; everything else is a wrong spec."""
    if spec != "static" and not spec.startswith("hash:"):
        raise InputError(f"unknown embedder: {spec}", hint="choose static")
    return HashEmbedder(spec)


class MemoryCache:
    """A `VectorCache` in memory."""

    def __init__(self) -> None:
        self.rows: dict[tuple[str, str], bytes] = {}
        self.writes = 0

    def get(self, identity: str, digests: Sequence[str]) -> list[bytes | None]:
        return [self.rows.get((identity, digest)) for digest in digests]

    def put(self, identity: str, rows: Sequence[tuple[str, bytes]]) -> None:
        self.writes += 1
        self.rows.update({(identity, digest): vector for digest, vector in rows})

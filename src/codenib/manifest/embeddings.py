"""The embedding cache: (embedder identity, text digest) in, the vector's bytes out.

One SQLite file serves all snapshots of all repositories, so a text is embedded once by each embedder.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from codenib.manifest.cache import RecordCache, record_key


def embedding_key(identity: str, digest: str) -> bytes:
    """The name of a text's vector by one embedder."""
    return record_key("embedding", identity, digest, "")


class EmbeddingCache:
    """A `VectorCache` on disk."""

    def __init__(self, path: Path) -> None:
        self._records = RecordCache(path)

    def close(self) -> None:
        self._records.close()

    def get(self, identity: str, digests: Sequence[str]) -> list[bytes | None]:
        keys = [embedding_key(identity, digest) for digest in digests]
        absent = self._records.missing(keys)  # in a first build all are: asking for each would take a second
        stored = self._records.get(key for key in keys if key not in absent)
        return [None if key in absent else next(stored) for key in keys]

    def put(self, identity: str, rows: Sequence[tuple[str, bytes]]) -> None:
        self._records.put([(embedding_key(identity, digest), vector) for digest, vector in rows])

    def keep_only(self, keys: set[bytes]) -> int:
        """Drop every other vector; how many went."""
        return self._records.keep_only(keys)

"""Embedding through the cache."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.views.dense.conftest import quiet
from tests.views.dense.hashing import DIMENSION, HashEmbedder, MemoryCache

from codenib.core.errors import ProviderError
from codenib.manifest.embeddings import EmbeddingCache
from codenib.views.dense.embed import BATCH, Vectorizer

TEXTS = [f"text number {chr(97 + index % 26)} {'x' * (index // 26)}" for index in range(BATCH + 50)]


def test_what_the_cache_has_is_not_embedded() -> None:
    cache, embedder = MemoryCache(), HashEmbedder()
    first = Vectorizer(embedder, cache, quiet).vectors(TEXTS[:3], TEXTS[:3])
    again = Vectorizer(embedder, cache, quiet).vectors(TEXTS[:5], TEXTS[:5])
    assert embedder.embedded == TEXTS[:5]
    assert again[:3].tobytes() == first.tobytes()


def test_equal_texts_are_embedded_once() -> None:
    embedder = HashEmbedder()
    rows = Vectorizer(embedder, MemoryCache(), quiet).vectors(["a", "b", "a"], ["1", "2", "1"])
    assert embedder.embedded == ["a", "b"]
    assert rows[0].tobytes() == rows[2].tobytes()


def test_an_interruption_loses_only_its_batch() -> None:
    cache = MemoryCache()
    with pytest.raises(ProviderError, match="interrupted"):
        Vectorizer(HashEmbedder(limit=BATCH), cache, quiet).vectors(TEXTS, TEXTS)
    second = HashEmbedder()
    rows = Vectorizer(second, cache, quiet).vectors(TEXTS, TEXTS)
    assert second.embedded == TEXTS[BATCH:]
    assert rows.tobytes() == HashEmbedder().embed_documents(TEXTS).tobytes()


def test_vectors_of_another_identity_are_never_used() -> None:
    cache = MemoryCache()
    Vectorizer(HashEmbedder("one"), cache, quiet).vectors(TEXTS[:2], TEXTS[:2])
    other = HashEmbedder("two")
    Vectorizer(other, cache, quiet).vectors(TEXTS[:2], TEXTS[:2])
    assert other.embedded == TEXTS[:2]


def test_a_damaged_row_is_embedded_again() -> None:
    cache, embedder = MemoryCache(), HashEmbedder()
    cache.rows[embedder.identity.digest, "d"] = b"short"
    rows = Vectorizer(embedder, cache, quiet).vectors(["text"], ["d"])
    assert rows.shape == (1, DIMENSION)
    assert embedder.embedded == ["text"]


def test_progress_counts_what_is_embedded() -> None:
    told: list[tuple[str, int, int]] = []
    cache = MemoryCache()
    Vectorizer(HashEmbedder(), cache, quiet).vectors(TEXTS[:10], TEXTS[:10])
    Vectorizer(HashEmbedder(), cache, lambda *each: told.append(each)).vectors(TEXTS, TEXTS)
    left = len(TEXTS) - 10
    assert told == [("embedding", 0, left), ("embedding", BATCH, left), ("embedding", left, left)]


class _Wrong(HashEmbedder):
    def __init__(self, made: NDArray[np.float32]) -> None:
        super().__init__()
        self.made = made

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self.made


@pytest.mark.parametrize(
    "made", [np.zeros((1, 7)), np.zeros((2, DIMENSION)), np.full((1, DIMENSION), np.nan)]
)
def test_what_an_embedder_did_not_promise_is_refused_and_not_kept(made: NDArray[np.float32]) -> None:
    cache = MemoryCache()
    with pytest.raises(ProviderError):
        Vectorizer(_Wrong(made), cache, quiet).vectors(["text"], ["d"])
    assert cache.rows == {}


def test_the_cache_on_disk_keeps_vectors_apart_by_identity(tmp_path: Path) -> None:
    with closing(EmbeddingCache(tmp_path / "embeddings.sqlite")) as cache:
        cache.put("one", [("a", b"1"), ("b", b"2")])
        assert cache.get("one", ["b", "a", "c"]) == [b"2", b"1", None]
        assert cache.get("two", ["a"]) == [None]

"""A commit of a clone in, its dense artifact out, outside of any manifest: for building and search."""

from __future__ import annotations

import time
from collections.abc import Collection
from pathlib import Path
from types import TracebackType
from typing import Self

from codenib.compiler.compiler import IndexCompiler, silent
from codenib.compiler.records.derive import CachedRecords
from codenib.core.embedding import Embedder
from codenib.core.source import SourceSnapshot
from codenib.manifest.embeddings import EmbeddingCache
from codenib.manifest.store import Store
from codenib.snapshot.repository import locate
from codenib.views.dense.profile import DenseSetting
from codenib.views.dense.view import DenseViewBuilder


class DenseBench:
    """Dense artifacts of one clone's commits, below `folder`; each named cache of vectors starts cold."""

    def __init__(self, clone: Path, folder: Path, embedder: Embedder) -> None:
        repository = locate(clone)
        store = Store(repository.key)
        self._folder = folder
        self._embedder = embedder
        self._compiler = IndexCompiler(repository, store)
        self._cache = store.open_cache()
        self._vectors: dict[str, EmbeddingCache] = {}
        self.records = CachedRecords(self._cache, self._compiler.source, {}, silent)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for vectors in self._vectors.values():
            vectors.close()
        self.records.close()
        self._cache.close()

    def take(self, commit: str) -> SourceSnapshot:
        """A snapshot whose units are parsed: that is not the dense view's own cost."""
        snapshot = self._compiler.take(commit)
        self.records.prepare(snapshot.source_files())
        return snapshot

    def lines(self, snapshot: SourceSnapshot, paths: Collection[str]) -> int:
        """Lines of these files."""
        files = [file for file in snapshot.source_files() if file.path in paths]
        return sum(blob.count(b"\n") for blob in self.records.blobs(files))

    def builder(self, setting: DenseSetting, vectors: str) -> DenseViewBuilder:
        """A builder over the cache of vectors with this name."""
        if vectors not in self._vectors:
            self._vectors[vectors] = EmbeddingCache(self._folder / f"{vectors}.sqlite")
        cache = self._vectors[vectors]
        return DenseViewBuilder(setting, lambda _: self._embedder, lambda: cache, silent)

    def build(self, snapshot: SourceSnapshot, setting: DenseSetting, name: str) -> tuple[Path, float]:
        """Embed everything into the folder `name`; the folder and the seconds."""
        out = self._folder / name
        out.mkdir()
        builder = self.builder(setting, f"{name}-vectors")
        started = time.perf_counter()
        builder.build(snapshot, self.records, out)
        return out, time.perf_counter() - started

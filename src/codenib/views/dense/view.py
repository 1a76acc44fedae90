"""The dense view as the compiler sees it: build, maintain, compare."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path

import numpy as np

from codenib.core.embedding import EMBEDDED, Embedder, OpenEmbedder, VectorCache
from codenib.core.protocols import Progress, Records
from codenib.core.source import Delta, SourceSnapshot
from codenib.core.views import INSTANT, ArtifactProfile, ViewFacts, ViewKind
from codenib.views.dense.embed import Vectorizer
from codenib.views.dense.parts import FileEntry
from codenib.views.dense.profile import DenseSetting, dense_profile
from codenib.views.dense.store import CodeVectorStore
from codenib.views.dense.write import VectorSettings
from codenib.views.segments import differing_files


class DenseViewBuilder:
    """Embeddings of documents. The embedder is opened by the first `profile`, so before any work.

    Whoever gives `open_cache` closes the cache: it stays open from one update to the next, because closing
    it flushes it to the disk, which takes longer than embedding a few texts.
    """

    kind = ViewKind.DENSE

    def __init__(
        self,
        setting: DenseSetting,
        open_embedder: OpenEmbedder,
        open_cache: Callable[[], VectorCache],
        progress: Progress,
    ) -> None:
        self.setting = setting
        self._open_embedder = open_embedder
        self._open_cache = open_cache
        self._progress = progress

    @cached_property
    def embedder(self) -> Embedder:
        return self._open_embedder(self.setting.spec)

    def profile(self) -> ArtifactProfile:
        identity = self.embedder.identity
        return dense_profile(self.setting, identity.digest, identity.model)

    def build(self, snapshot: SourceSnapshot, records: Records, out: Path) -> ViewFacts:
        return _facts(CodeVectorStore.build(snapshot, records, out, self._settings()))

    def maintain(self, base: Path, delta: Delta, records: Records, out: Path) -> ViewFacts:
        return _facts(CodeVectorStore.delta_update(base, delta, records, out, self._settings()))

    def differences(self, left: Path, right: Path) -> Iterator[str]:
        """Compare every file's addresses, texts and vectors."""
        ours, theirs = dict(CodeVectorStore(left).facts()), dict(CodeVectorStore(right).facts())
        return differing_files(ours, theirs, _unequal)

    def _settings(self) -> VectorSettings:
        vectorizer = Vectorizer(self.embedder, self._open_cache(), self._progress)
        return VectorSettings(self.setting, vectorizer)


def _unequal(ours: tuple[FileEntry, bytes], theirs: tuple[FileEntry, bytes]) -> Iterator[str]:
    if ours != theirs:
        yield f"{'vectors' if ours[0] == theirs[0] else 'documents'} not equal"


def _facts(store: CodeVectorStore) -> ViewFacts:
    files = len(np.unique(store.file_of))
    counts = {"files": files, "documents": len(store), "dimension": store.dimension}
    instant = (INSTANT,) if store.model == EMBEDDED else ()
    return ViewFacts(counts, ("ranked:semantic", *instant))

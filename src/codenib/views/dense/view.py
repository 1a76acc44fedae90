"""The dense view as the compiler sees it: build, maintain, compare."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path

import numpy as np

from codenib.core.embedding import EMBEDDED, Embedder, OpenEmbedder, VectorCache
from codenib.core.protocols import Progress, Records
from codenib.core.source import Delta, SourceSnapshot
from codenib.core.views import ArtifactProfile, ViewFacts, ViewKind
from codenib.views.dense.embed import Vectorizer
from codenib.views.dense.profile import DenseSetting, dense_profile
from codenib.views.dense.store import CodeVectorStore


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
        return _facts(CodeVectorStore.build(snapshot, records, out, self.setting, self._vectorizer()))

    def maintain(self, base: Path, delta: Delta, records: Records, out: Path) -> ViewFacts:
        source = self._vectorizer()
        return _facts(CodeVectorStore.delta_update(base, delta, records, out, self.setting, source))

    def differences(self, left: Path, right: Path) -> Iterator[str]:
        """Compare every file's addresses, texts and vectors."""
        ours, theirs = dict(CodeVectorStore(left).facts()), dict(CodeVectorStore(right).facts())
        for path in sorted(ours.keys() | theirs.keys()):
            if path not in theirs:
                yield f"{path}: only in the first"
            elif path not in ours:
                yield f"{path}: only in the second"
            elif ours[path] != theirs[path]:
                what = "vectors" if ours[path][0] == theirs[path][0] else "documents"
                yield f"{path}: {what} not equal"

    def _vectorizer(self) -> Vectorizer:
        return Vectorizer(self.embedder, self._open_cache(), self._progress)


def _facts(store: CodeVectorStore) -> ViewFacts:
    files = len(np.unique(store.file_of))
    counts = {"files": files, "documents": len(store), "dimension": store.dimension}
    # Only the embedded model answers on every machine at once, so only its vectors join `auto` unasked.
    instant = ("ranked:semantic:instant",) if store.model == EMBEDDED else ()
    return ViewFacts(counts, ("ranked:semantic", *instant))

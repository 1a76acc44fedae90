"""Dense artifacts for tests: files in, builders and opened stores out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tests.views.conftest import Sources
from tests.views.dense.hashing import HashEmbedder, MemoryCache

from codenib.core.source import BlobUnits, SourceFile, SourceSnapshot
from codenib.units.extract import extract
from codenib.units.languages import language_hint
from codenib.views.dense.profile import DenseSetting, DocumentSet, Family
from codenib.views.dense.store import CodeVectorStore
from codenib.views.dense.view import DenseViewBuilder


class ParsedSources(Sources):
    """Sources whose units are the real ones."""

    def units(self, files: Sequence[SourceFile]) -> Iterator[BlobUnits]:
        for file in files:
            yield extract(self.blob_data[file.digest], language_hint(file.path))

    def of_text(self, files: Mapping[str, str]) -> SourceSnapshot:
        return self.snapshot({path: text.encode() for path, text in files.items()})


def quiet(stage: str, done: int, total: int) -> None:
    """Progress for nobody."""


def dense_builder(
    embedder: HashEmbedder | None = None,
    cache: MemoryCache | None = None,
    family: Family = Family.FLAT,
    documents: DocumentSet = DocumentSet.L2,
) -> DenseViewBuilder:
    opened, kept = embedder or HashEmbedder(), cache or MemoryCache()
    return DenseViewBuilder(DenseSetting("test", family, documents), lambda _: opened, lambda: kept, quiet)


def build_store(files: Mapping[str, str], out: Path, builder: DenseViewBuilder) -> CodeVectorStore:
    sources = ParsedSources()
    out.mkdir()
    builder.build(sources.of_text(files), sources, out)
    return CodeVectorStore(out)

"""Lexical artifacts for tests: files in, an opened view out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from tests.views.conftest import Sources

from codenib.core.source import BlobUnits, SourceFile, SourceSnapshot
from codenib.units.extract import extract
from codenib.units.languages import language_hint
from codenib.views.lexical.derive import TermDeriver
from codenib.views.lexical.read import LexicalView
from codenib.views.lexical.view import LexicalViewBuilder


class ParsedSources(Sources):
    """Sources whose units are the real ones."""

    def units(self, files: Sequence[SourceFile]) -> Iterator[BlobUnits]:
        for file in files:
            yield extract(self.blob_data[file.digest], language_hint(file.path))

    def of_text(self, files: Mapping[str, str]) -> SourceSnapshot:
        return self.snapshot({path: text.encode() for path, text in files.items()})


def parsed_sources() -> ParsedSources:
    sources = ParsedSources()
    sources.use([TermDeriver()])
    return sources


@pytest.fixture
def lexical(tmp_path: Path) -> Callable[[Mapping[str, str]], LexicalView]:
    """Builds a view of the given files."""

    def make(files: Mapping[str, str]) -> LexicalView:
        sources = parsed_sources()
        out = tmp_path / f"view{len(list(tmp_path.iterdir()))}"
        out.mkdir()
        LexicalViewBuilder().build(sources.of_text(files), sources, out)
        return LexicalView(out)

    return make

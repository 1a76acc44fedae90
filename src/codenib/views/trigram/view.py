"""The trigram view for the compiler: a snapshot or a delta in, an artifact of segments out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from codenib.core.protocols import Records
from codenib.core.source import DEFAULT_SETTINGS, Delta, SourceSettings, SourceSnapshot
from codenib.core.views import ArtifactProfile, ViewFacts, ViewKind
from codenib.views.segments import advance_artifact, differing_files, write_artifact
from codenib.views.trigram.derive import Grams
from codenib.views.trigram.parts import write_parts
from codenib.views.trigram.profile import trigram_profile
from codenib.views.trigram.read import TrigramView


class TrigramViewBuilder:
    """Builds and maintains the view that substring and regex search read."""

    kind = ViewKind.TRIGRAM

    def __init__(self, settings: SourceSettings = DEFAULT_SETTINGS) -> None:
        self._settings = settings

    def profile(self) -> ArtifactProfile:
        return trigram_profile(self._settings)

    def build(self, snapshot: SourceSnapshot, records: Records, out: Path) -> ViewFacts:
        write_artifact(snapshot.source_files(), records, out, write_parts)
        return _facts(out)

    def maintain(self, base: Path, delta: Delta, records: Records, out: Path) -> ViewFacts:
        advance_artifact(base, delta, records, out, write_parts)
        return _facts(out)

    def differences(self, left: Path, right: Path) -> Iterator[str]:
        """Compare live files by digest, text and trigrams, in path order."""
        return differing_files(_contents(left), _contents(right), _unequal)


def _facts(folder: Path) -> ViewFacts:
    sizes = [segment.texts.sizes()[segment.live] for segment in TrigramView.open(folder).segments]
    counts = {
        "files": sum(int((size > 0).sum()) for size in sizes),
        "bytes": sum(int(size.sum()) for size in sizes),
    }
    return ViewFacts(counts, ("substring", "regex"))


class _Content(NamedTuple):
    digest: str
    text: bytes
    grams: Grams


def _contents(folder: Path) -> dict[str, _Content]:
    view = TrigramView.open(folder)
    grams = {segment: segment.grams_by_file() for segment in view.segments}
    return {
        file.path: _Content(file.digest, segment.texts.data(index), grams[segment][index])
        for file, segment, index in view.live()
    }


def _unequal(left: _Content, right: _Content) -> Iterator[str]:
    if left.digest != right.digest:
        yield f"digest {left.digest} against {right.digest}"
    if left.text != right.text:
        yield f"text of {len(left.text)} against {len(right.text)} bytes"
    if not np.array_equal(left.grams, right.grams):
        differ = len(np.setxor1d(left.grams, right.grams))
        yield f"{len(left.grams)} against {len(right.grams)} trigrams, {differ} differ"

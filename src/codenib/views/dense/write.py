"""Files of a segment in, its parts on disk out: what a base holds is copied, the rest is embedded."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from codenib.core.protocols import Records
from codenib.core.source import SourceFile
from codenib.units.rules import rules_of
from codenib.views.arrays import Array
from codenib.views.dense.documents import DenseDocument, documents_of
from codenib.views.dense.embed import Vectorizer
from codenib.views.dense.families import Floats, write_index
from codenib.views.dense.parts import FileEntry, write_parts
from codenib.views.dense.profile import DenseSetting, Family

#: What a base holds of a file with this very content, with its vectors; None when it has no such file.
FindStored = Callable[[SourceFile], tuple[FileEntry, Array] | None]


def no_base(file: SourceFile) -> None:
    """A build has no base."""


@dataclass(frozen=True, slots=True)
class VectorSettings:
    """How vectors come about and are organised."""

    setting: DenseSetting
    vectorizer: Vectorizer


class SegmentWriter:
    """A `WriteSegment` for `views.segments`; what `find_stored` finds is copied, not embedded again."""

    def __init__(self, settings: VectorSettings, find_stored: FindStored = no_base) -> None:
        self._setting = settings.setting
        self._vectorizer = settings.vectorizer
        self._find_stored = find_stored

    def __call__(self, files: Sequence[SourceFile], records: Records, out: Path, name: str) -> None:
        stored = {file.path: known for file in files if (known := self._find_stored(file)) is not None}
        fresh = {
            entry.file.path: (entry, documents)
            for entry, documents in self._read([file for file in files if file.path not in stored], records)
        }
        texts = [document.text for _, documents in fresh.values() for document in documents]
        digests = [digest.hex() for entry, _ in fresh.values() for digest in entry.digests]
        embedded = self._vectorizer.vectors(texts, digests)
        entries = [(stored.get(file.path) or fresh[file.path])[0] for file in files]
        vectors = np.empty((sum(len(entry.addresses) for entry in entries), embedded.shape[1]), np.float32)
        at = taken = 0
        for entry in entries:
            count = len(entry.addresses)
            if entry.file.path in stored:
                vectors[at : at + count] = stored[entry.file.path][1]
            else:
                vectors[at : at + count] = embedded[taken : taken + count]
                taken += count
            at += count
        self._write(out, name, entries, vectors)

    def _read(
        self, files: Sequence[SourceFile], records: Records
    ) -> Iterator[tuple[FileEntry, list[DenseDocument]]]:
        for file, units, data in zip(files, records.units(files), records.blobs(files), strict=True):
            documents = documents_of(file.path, units, data, self._setting.documents)
            yield FileEntry.of(file, units.lines, units.language, documents), documents

    def _write(self, out: Path, name: str, entries: Sequence[FileEntry], vectors: Floats) -> None:
        write_parts(out, name, entries, vectors, rules_of(self._setting.source).marks)
        if self._setting.family is not Family.FLAT and len(vectors):
            self._vectorizer.progress(f"organising {self._setting.family}", 0, 1)
            write_index(self._setting.family, vectors, out / f"{name}.index.faiss")

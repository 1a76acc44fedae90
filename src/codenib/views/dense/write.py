"""Files of a segment in, its parts on disk out: what a base holds is copied, the rest is embedded."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from codenib.core.protocols import Records
from codenib.core.source import SourceFile
from codenib.views.dense.documents import DenseDocument, documents_of
from codenib.views.dense.embed import Vectorizer
from codenib.views.dense.families import Floats, write_index
from codenib.views.dense.parts import Array, FileEntry, write_parts
from codenib.views.dense.profile import DenseSetting, Family

#: What a base holds of a file with this very content; None when it does not.
Held = Callable[[SourceFile], tuple[FileEntry, Array] | None]


def nothing_held(file: SourceFile) -> None:
    """A build has no base."""


class SegmentWriter:
    """A `WriteSegment` for `views.segments`."""

    def __init__(self, setting: DenseSetting, source: Vectorizer, held: Held = nothing_held) -> None:
        self._setting = setting
        self._source = source
        self._held = held

    def __call__(self, files: Sequence[SourceFile], records: Records, out: Path, name: str) -> None:
        known = {file.path: found for file in files if (found := self._held(file)) is not None}
        fresh = {
            entry.file.path: (entry, documents)
            for entry, documents in self._read([file for file in files if file.path not in known], records)
        }
        texts = [document.text for _, documents in fresh.values() for document in documents]
        digests = [digest.hex() for entry, _ in fresh.values() for digest in entry.digests]
        made = self._source.vectors(texts, digests)
        entries = [(known.get(file.path) or fresh[file.path])[0] for file in files]
        vectors = np.empty((sum(len(entry.addresses) for entry in entries), made.shape[1]), np.float32)
        at = taken = 0
        for entry in entries:
            count = len(entry.addresses)
            if entry.file.path in known:
                vectors[at : at + count] = known[entry.file.path][1]
            else:
                vectors[at : at + count] = made[taken : taken + count]
                taken += count
            at += count
        self._write(out, name, entries, vectors)

    def _read(
        self, files: Sequence[SourceFile], records: Records
    ) -> Iterator[tuple[FileEntry, list[DenseDocument]]]:
        for file, units, data in zip(files, records.units(files), records.blobs(files), strict=True):
            documents = documents_of(file.path, units, data, self._setting.level)
            yield FileEntry.of(file, units.lines, units.language, documents), documents

    def _write(self, out: Path, name: str, entries: Sequence[FileEntry], vectors: Floats) -> None:
        write_parts(out, name, entries, vectors)
        if self._setting.family is not Family.FLAT and len(vectors):
            self._source.progress(f"organising {self._setting.family}", 0, 1)
            write_index(self._setting.family, vectors, out / f"{name}.index.faiss")

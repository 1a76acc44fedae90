"""An artifact of vectors in, the nearest rows of a query's vector out, each with its source address."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from codenib.core.errors import UNDECODABLE, CannotMaintain, StateError
from codenib.core.protocols import Records
from codenib.core.source import Delta, Mark, SourceFile, SourceSnapshot, Span, UnitAddress
from codenib.views.arrays import Numbers, first_numbers, locate
from codenib.views.dense.families import Floats, Mask, Neighbours, inner_products
from codenib.views.dense.parts import FileEntry, Parts
from codenib.views.dense.profile import Family
from codenib.views.dense.write import SegmentWriter, VectorSettings
from codenib.views.segments import advance_artifact, read_segments, write_artifact

# A delta that touches a larger share of the files is not merged: the artifact is written anew, from the
# vectors that there are. Below it, `segments` shares what it keeps. HNSW cannot delete and IVF's lists depend
# on all vectors, so these two are always written anew.
REBUILD_SHARE = 0.5
_REPAIR = "codenib index --rebuild --views dense"


class _Header(msgspec.Struct):
    """`dense.json`: what the vectors are."""

    identity: str
    model: str
    dimension: int
    family: Family
    level: str


@dataclass(frozen=True, slots=True)
class Nearest:
    """Row numbers with their scores, best first; equal scores in row order."""

    rows: Numbers
    scores: Floats


class CodeVectorStore:
    """Vectors of documents. Rows are numbered in (path, start, end) order, however they are stored."""

    def __init__(self, folder: Path, base: CodeVectorStore | None = None) -> None:
        """Open an artifact; segments that it shares with an open `base` are not opened again."""
        self._parts: list[Parts]
        known = {parts.segment.name: parts for parts in base._parts} if base else {}
        try:
            self._header = msgspec.json.decode((folder / "dense.json").read_bytes(), type=_Header)
            self._parts = [
                known[segment.name].of(segment) if segment.name in known else Parts(folder, segment)
                for segment in read_segments(folder)
            ]
            self._neighbours = [self._open_index(folder, parts) for parts in self._parts]
        except (OSError, *UNDECODABLE) as error:
            raise StateError(f"dense view cannot be opened: {error}", hint=_REPAIR) from error
        self._first_row = first_numbers(parts.rows for parts in self._parts)
        self._first_file = first_numbers(parts.files for parts in self._parts)
        live = sorted(
            (file.path, first + index)
            for first, parts in zip(self._first_file.tolist(), self._parts, strict=False)
            for index, file in enumerate(parts.segment.files)
            if index not in parts.segment.dead
        )
        self.paths = [path for path, _ in live]
        self._places = np.array([place for _, place in live], np.int64)  # of each file, over all segments
        self.file_of, self._stored, self._in_order = self._order()

    @classmethod
    def build(
        cls, snapshot: SourceSnapshot, records: Records, out: Path, settings: VectorSettings
    ) -> CodeVectorStore:
        """Embed every document of a snapshot."""
        writer = SegmentWriter(settings)
        write_artifact(snapshot.source_files(), records, out, writer)
        return cls._finish(out, settings)

    @classmethod
    def delta_update(
        cls, base: Path, delta: Delta, records: Records, out: Path, settings: VectorSettings
    ) -> CodeVectorStore:
        """Write what `build` would have written: only texts without a vector are embedded.

        Vectors of another embedder, family or level are never carried over: then `CannotMaintain`.
        """
        old = cls(base)
        if old._header != _header(settings):
            raise CannotMaintain("the vectors of the base are of another embedder or setting")
        writer = SegmentWriter(settings, old.stored_entry)
        if settings.setting.family is Family.FLAT and len(delta) <= REBUILD_SHARE * len(old.paths):
            advance_artifact(base, delta, records, out, writer)
        else:
            gone = {*delta.removed, *(file.path for file in delta.changed)}
            same = (old._file(number) for number, path in enumerate(old.paths) if path not in gone)
            files = sorted([*same, *delta.added, *delta.changed], key=lambda file: file.path)
            write_artifact(files, records, out, writer)
        return cls._finish(out, settings, old)

    @classmethod
    def _finish(
        cls, out: Path, settings: VectorSettings, base: CodeVectorStore | None = None
    ) -> CodeVectorStore:
        (out / "dense.json").write_bytes(msgspec.json.encode(_header(settings)))
        return cls(out, base)

    @property
    def identity(self) -> str:
        """The digest of the identity of the embedder that made the vectors."""
        return self._header.identity

    @property
    def model(self) -> str:
        return self._header.model

    @property
    def dimension(self) -> int:
        return self._header.dimension

    def __len__(self) -> int:
        return len(self._stored)

    def search(self, vector: Floats, k: int, allowed: Mask | None = None) -> Nearest:
        """The best `k` rows by inner product, of all or of those that the mask over rows allows."""
        near = self.candidates(vector, k, allowed)
        return best(near.rows, near.scores, k)

    def candidates(self, vector: Floats, width: int, allowed: Mask | None = None) -> Nearest:
        """Every allowed row when the family is flat, about the best `width` otherwise; in row order."""
        if self._header.family is Family.FLAT:
            scores = self.scores(vector)
            rows = np.arange(len(self)) if allowed is None else np.flatnonzero(allowed)
            return Nearest(rows, scores if allowed is None else scores[rows])
        near = [
            self._near(part, index, vector, width, allowed) for part, index in enumerate(self._neighbours)
        ]
        rows = np.concatenate([np.zeros(0, np.int64), *(rows for rows, _ in near)])
        scores = np.concatenate([np.zeros(0, np.float32), *(scores for _, scores in near)])
        order = np.argsort(rows, kind="stable")
        return Nearest(rows[order], scores[order])

    def scores(self, vector: Floats) -> Floats:
        """The inner product of every row with `vector`; it does not depend on where the row is stored."""
        parts = [inner_products(part.vectors, vector) for part in self._parts]
        scores = parts[0] if len(parts) == 1 else np.concatenate([np.zeros(0, np.float32), *parts])
        return scores if self._in_order else scores[self._stored]

    def row(self, number: int) -> UnitAddress:
        part, local = locate(self._first_row, int(self._stored[number]))
        address = self._parts[part].address(local)
        file = int(self.file_of[number])
        return UnitAddress(
            span=Span(self.paths[file], address.start_line, address.end_line),
            level=address.level,
            kind=address.kind,
            symbol=address.symbol,
            language=self.language(file),
            marks=Mark(int(self.unit_marks[number])),
        )

    @property
    def starts(self) -> NDArray[np.int64]:
        """The first line of each row."""
        starts = np.concatenate([np.zeros(0, np.int64), *(parts.rows["start"] for parts in self._parts)])
        lines: NDArray[np.int64] = starts[self._stored]
        return lines

    def vector(self, number: int) -> Floats:
        part, local = locate(self._first_row, int(self._stored[number]))
        return np.asarray(self._parts[part].vectors[local], np.float32)

    def stored_entry(self, file: SourceFile) -> tuple[FileEntry, NDArray[Any]] | None:
        """What there is of a file with this very content, vectors and all."""
        number = bisect_left(self.paths, file.path)
        if number == len(self.paths) or self._file(number) != file:
            return None
        part, index = self._place(number)
        return self._parts[part].entry(index)

    def facts(self) -> Iterator[tuple[str, tuple[FileEntry, bytes]]]:
        """For each file its path and all that is held of it, vectors bit for bit."""
        for number, path in enumerate(self.paths):
            part, index = self._place(number)
            entry, vectors = self._parts[part].entry(index)
            yield path, (entry, vectors.tobytes())

    @cached_property
    def marks(self) -> NDArray[np.uint8]:
        """The marks of each file of `paths`."""
        stored = np.concatenate([np.zeros(0, np.uint8), *(parts.files["marks"] for parts in self._parts)])
        marks: NDArray[np.uint8] = stored[self._places]
        return marks

    @cached_property
    def unit_marks(self) -> NDArray[np.uint8]:
        """The marks of each row: those of its file and its own."""
        tests = np.concatenate([np.zeros(0, np.uint8), *(parts.rows["test"] for parts in self._parts)])
        marks: NDArray[np.uint8] = self.marks[self.file_of] | tests[self._stored] * np.uint8(Mark.TEST)
        return marks

    def lines(self, file: int) -> int:
        part, index = self._place(file)
        return int(self._parts[part].files[index]["lines"])

    def language(self, file: int) -> str:
        part, index = self._place(file)
        return self._parts[part].language(index)

    def _order(self) -> tuple[Numbers, Numbers, bool]:
        """For each row in order its file's number and where it is stored; whether the two orders are one."""
        number_of = np.full(int(self._first_file[-1]), -1, np.int64)
        number_of[self._places] = np.arange(len(self._places))
        owners = number_of[
            np.concatenate(
                [
                    np.zeros(0, np.int64),
                    *(p.rows["file"] + f for f, p in zip(self._first_file, self._parts, strict=False)),
                ]
            )
        ]
        stored = np.flatnonzero(owners >= 0)
        stored = stored[np.argsort(owners[stored], kind="stable")]
        in_order = len(stored) == len(owners) and bool((stored[1:] > stored[:-1]).all())
        return owners[stored], stored, in_order

    def _near(
        self, part: int, index: Neighbours | None, vector: Floats, width: int, allowed: Mask | None
    ) -> tuple[Numbers, Floats]:
        if index is None:
            return np.zeros(0, np.int64), np.zeros(0, np.float32)
        # Approximate artifacts are written whole, in path order: rows are stored as they are numbered.
        first, after = int(self._first_row[part]), int(self._first_row[part + 1])
        rows, scores = index.search(vector, width, None if allowed is None else allowed[first:after])
        return rows + first, scores

    def _open_index(self, folder: Path, parts: Parts) -> Neighbours | None:
        if self._header.family is Family.FLAT or not len(parts.rows):
            return None
        return Neighbours(self._header.family, folder / f"{parts.segment.name}.index.faiss")

    def _file(self, number: int) -> SourceFile:
        part, index = self._place(number)
        return self._parts[part].segment.files[index]

    def _place(self, file: int) -> tuple[int, int]:
        return locate(self._first_file, int(self._places[file]))


def best(rows: Numbers, scores: Floats, k: int) -> Nearest:
    """The best `k`; equal scores in row order, also at the edge."""
    if len(scores) > k:
        edge = np.partition(scores, len(scores) - k)[len(scores) - k]
        near = scores >= edge
        rows, scores = rows[near], scores[near]
    order = np.lexsort((rows, -scores))[:k]
    return Nearest(rows[order], scores[order])


def _header(settings: VectorSettings) -> _Header:
    setting, identity = settings.setting, settings.vectorizer.embedder.identity
    documents = setting.documents.value
    return _Header(identity.digest, identity.model, identity.dimension, setting.family, documents)

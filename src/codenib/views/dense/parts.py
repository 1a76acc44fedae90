"""The parts of one dense segment: files with their documents and vectors in, npy and JSON on disk, and back.

`rows` has an address for each vector and the digest of its text, `files` what belongs to a whole file; names
stand once, in `strings`. Rows are in (path, start, end) order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import msgspec
import numpy as np

from codenib.core.source import Level, Mark, SourceFile
from codenib.units.marks import marks_of
from codenib.views.arrays import Array, StringTable, map_part, save_parts
from codenib.views.dense.documents import DenseDocument
from codenib.views.segments import Segment, read_segments

ROW = np.dtype(
    [
        ("file", "<u4"), ("start", "<u4"), ("end", "<u4"),
        ("symbol", "<u4"), ("kind", "<u4"), ("level", "<u4"), ("digest", "V32"), ("test", "u1"),
    ]
)  # fmt: skip
FILE = np.dtype([("lines", "<u4"), ("language", "<u4"), ("marks", "u1")])


@dataclass(frozen=True, slots=True)
class Address:
    """Where the text of a vector stands."""

    start_line: int
    end_line: int
    symbol: str
    kind: str
    level: Level
    test: bool


@dataclass(frozen=True, slots=True)
class FileEntry:
    """What a segment holds of a file, before it has a place there; `digests` are those of the texts."""

    file: SourceFile
    lines: int
    language: str
    addresses: Sequence[Address]
    digests: Sequence[bytes]

    @classmethod
    def of(cls, file: SourceFile, lines: int, language: str, documents: Sequence[DenseDocument]) -> FileEntry:
        addresses = [
            Address(d.start_line, d.end_line, d.symbol, d.kind, d.level, test=d.test) for d in documents
        ]
        return cls(file, lines, language, addresses, [document.digest for document in documents])


def write_parts(
    folder: Path,
    name: str,
    entries: Sequence[FileEntry],
    vectors: Array,
    marks_of: Callable[[str], Mark] = marks_of,
) -> None:
    """Write everything but the approximate index. Same entries, vectors and marks, same bytes."""
    strings = StringTable()
    files = [
        (entry.lines, strings.number(entry.language), int(marks_of(entry.file.path)) & 0xFF)
        for entry in entries
    ]
    rows = [
        (
            index,
            a.start_line,
            a.end_line,
            strings.number(a.symbol),
            strings.number(a.kind),
            int(a.level),
            digest,
            a.test,
        )
        for index, entry in enumerate(entries)
        for a, digest in zip(entry.addresses, entry.digests, strict=True)
    ]
    parts = {
        "rows": np.array(rows, ROW),
        "files": np.array(files, FILE),
        "vectors": np.ascontiguousarray(vectors, "<f4"),
    }
    save_parts(folder, name, parts)
    (folder / f"{name}.strings.json").write_bytes(msgspec.json.encode(strings.rows))


class Parts:
    """The memory-mapped parts of one segment."""

    def __init__(self, folder: Path, segment: Segment) -> None:
        self.segment = segment
        self.rows = map_part(folder, segment.name, "rows")
        self.files = map_part(folder, segment.name, "files")
        self.vectors = map_part(folder, segment.name, "vectors")
        # Read now, decoded when a result is shown: a later sweep may take the file away.
        self._strings = (folder / f"{segment.name}.strings.json").read_bytes()
        if len(self.rows) != len(self.vectors) or len(self.files) != len(segment.files):
            raise ValueError(f"segment {segment.name} has parts of different lengths")

    def of(self, segment: Segment) -> Parts:
        """The same parts for a segment that differs in its dead files alone."""
        same = copy(self)
        same.segment = segment
        return same

    @cached_property
    def strings(self) -> list[str]:
        return msgspec.json.decode(self._strings, type=list[str])

    def address(self, row: int) -> Address:
        stored = self.rows[row]
        return Address(
            int(stored["start"]),
            int(stored["end"]),
            self.strings[int(stored["symbol"])],
            self.strings[int(stored["kind"])],
            Level(int(stored["level"])),
            test=bool(stored["test"]),
        )

    def entry(self, file: int) -> tuple[FileEntry, Array]:
        """A file as it was written, with its vectors."""
        first, after = (int(at) for at in np.searchsorted(self.rows["file"], [file, file + 1]))
        entry = FileEntry(
            self.segment.files[file],
            int(self.files[file]["lines"]),
            self.language(file),
            [self.address(row) for row in range(first, after)],
            [digest.tobytes() for digest in self.rows["digest"][first:after]],
        )
        return entry, self.vectors[first:after]

    def language(self, file: int) -> str:
        return self.strings[int(self.files[file]["language"])]


def text_digests(folder: Path) -> Iterator[str]:
    """The digests of all texts that an artifact has vectors of."""
    for segment in read_segments(folder):
        for digest in map_part(folder, segment.name, "rows")["digest"]:
            yield digest.tobytes().hex()

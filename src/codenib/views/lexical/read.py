"""An artifact in, BM25 scores of its live units and files out. True scores, from exact statistics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from codenib.core.errors import StateError
from codenib.core.source import Level, Mark, Span, UnitAddress
from codenib.units.tokens import term_hash
from codenib.views.arrays import Array, first_numbers, locate, map_part
from codenib.views.segments import Segment, read_segments

# Fields, saturation and length: the settings of the design's experiment (section 9), which we confirmed on
# the development rows; b = 0.3 because long functions are not long for want of focus.
SYMBOL_WEIGHT = 3.0
PATH_WEIGHT = 2.0
K1 = 1.2
B = 0.3
# Postings read for one query; the least informative terms of a long text go first. On the development rows
# recall is the same with 50,000 and with 400,000, and an issue's text on Django costs half as much.
MAX_ROWS = 100_000


@dataclass(frozen=True, slots=True)
class Term:
    """A query term, how much the query means it, and the word that the query spelt it as."""

    text: str
    weight: float
    word: str = ""


@dataclass(frozen=True, slots=True)
class Collection:
    """How often terms stand in a collection that a view is a part of.

    Scores by one collection's numbers are comparable between its views: a word that is rare in one repository
    and common in the others does not make that repository's best unit look important.
    """

    units: int
    files: int
    unit_frequency: Mapping[str, int]  # by the text of a term; at least that of the view
    file_frequency: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores of every unit and file for one query, zero where nothing matched."""

    units: NDArray[np.float64]
    files: NDArray[np.float64]
    terms: tuple[Term, ...]  # those of the query that occur, most informative first
    dropped: int  # terms left out to keep within `max_rows`


class _SegmentData:
    """The memory-mapped parts of one segment."""

    def __init__(self, folder: Path, segment: Segment) -> None:
        self.segment = segment
        self.documents = map_part(folder, segment.name, "documents")
        self.nested = map_part(folder, segment.name, "nested")
        self.files = map_part(folder, segment.name, "files")
        self.terms = map_part(folder, segment.name, "terms")
        self.starts = map_part(folder, segment.name, "starts")
        self.postings = map_part(folder, segment.name, "postings")
        # Read now, decoded when a result is shown: a later sweep may take the file away.
        self._strings = (folder / f"{segment.name}.strings.json").read_bytes()

    @cached_property
    def strings(self) -> list[str]:
        return msgspec.json.decode(self._strings, type=list[str])

    @cached_property
    def nested_units(self) -> Array:
        """The units that declarations are inside of, in order."""
        return np.ascontiguousarray(self.nested["doc"])

    def rows_of(self, term: int) -> Array:
        at = int(np.searchsorted(self.terms, np.uint64(term)))
        if at == len(self.terms) or int(self.terms[at]) != term:
            return self.postings[:0]
        return self.postings[int(self.starts[at]) : int(self.starts[at + 1])]


class LexicalView:
    """One artifact, opened. Units and files are numbered over all segments; dead ones never score."""

    def __init__(self, folder: Path) -> None:
        try:
            self.segments = [_SegmentData(folder, segment) for segment in read_segments(folder)]
        except (OSError, ValueError) as error:
            raise StateError(
                f"lexical view cannot be opened: {error}", hint="codenib index --rebuild"
            ) from error
        self._first_doc = first_numbers(data.documents for data in self.segments)
        self._first_file = first_numbers(data.files for data in self.segments)
        live_files = np.ones(int(self._first_file[-1]), bool)
        for first, data in zip(self._first_file, self.segments, strict=False):
            live_files[[int(first) + index for index in data.segment.dead]] = False
        self.file_of = self._gather("file", self._first_file)
        self.live = live_files[self.file_of]
        self.levels = self._gather("level", None)
        self.starts = self._gather("start", None)
        self.ends = self._gather("end", None)
        self.unit_count = int(self.live.sum())
        self.marks = np.concatenate([np.zeros(0, "u1"), *(data.files["marks"] for data in self.segments)])
        self.unit_marks = self._gather("marks", None)
        lengths = np.where(self.live, self._gather("length", None), 0).astype(np.float64)
        self._file_lengths = np.bincount(self.file_of, lengths, len(live_files))
        self.file_count = int(np.count_nonzero(np.bincount(self.file_of, self.live, len(live_files))))
        total = float(lengths.sum())
        self._unit_norm = _norm(lengths, total / self.unit_count if self.unit_count else 1.0)
        self._file_norm = _norm(self._file_lengths, total / self.file_count if self.file_count else 1.0)
        # Units of a file are neighbours, so what is asked per file is a reduction over these runs.
        changes = self.file_of[1:] != self.file_of[:-1]
        self.runs = np.flatnonzero(np.r_[True, changes]) if len(self.file_of) else np.zeros(0, np.int64)

    def score(
        self, terms: Sequence[Term], *, max_rows: int = MAX_ROWS, collection: Collection | None = None
    ) -> Scores:
        """BM25 of every unit, with symbol and path as weighted fields, and of every file as one document.

        How rare a term is, is counted in this view, or in the `collection`.
        """
        hits = [hit for hit in (self._find(term, collection) for term in terms) if hit.count]
        hits.sort(key=lambda hit: (-hit.term.weight * hit.idf, hit.term.text))
        used: list[_Hit] = []
        rows = 0
        for hit in hits:
            if not used or rows + hit.count <= max_rows:
                used.append(hit)
                rows += hit.count
        units = np.zeros(len(self.file_of))
        files = np.zeros(len(self._file_lengths))
        if used:
            docs = np.concatenate([rows["doc"] + first for hit in used for first, rows in hit.parts])
            postings = np.concatenate([rows for hit in used for _, rows in hit.parts])
            counts = [hit.count for hit in used]
            factor = np.repeat([hit.term.weight * hit.idf for hit in used], counts)
            units = self._score_units(docs, postings, factor)
            files = self._score_files(docs, postings, used, collection)
        return Scores(units, files, tuple(hit.term for hit in used), len(hits) - len(used))

    def matched(self, unit: int, terms: Sequence[Term]) -> list[str]:
        """Which of the terms stand in a unit, its symbol or its path, as the query spells them.

        Two words that stand there as one ("skip list") are named only when they do not stand there alone too.
        """
        part, local = locate(self._first_doc, unit)
        out = []
        for term in terms:
            docs = self.segments[part].rows_of(term_hash(term.text))["doc"]
            at = int(np.searchsorted(docs, local))
            if at < len(docs) and int(docs[at]) == local:
                out.append(term.word or term.text)
        words = dict.fromkeys(out)
        return [word for word in words if " " not in word or not words.keys() >= set(word.split())]

    def unit_at(self, path: str, line: int) -> int | None:
        """The live unit of a file that has this line."""
        for file, name in enumerate(self.paths):
            for unit in np.flatnonzero(self.file_of == file).tolist() if name == path else ():
                span = self.document(unit).span
                if self.live[unit] and span.start_line <= line <= span.end_line:
                    return int(unit)
        return None

    def points(self, units: Sequence[int], terms: Sequence[Term]) -> list[dict[str, float]]:
        """For each unit what each word of the query adds to its score, of the words that it has."""
        shares: list[dict[str, float]] = [{} for _ in units]
        for hit in (hit for hit in map(self._find, terms) if hit.count):
            for first, rows in hit.parts:
                for share, unit in zip(shares, units, strict=True):
                    row = rows[rows["doc"] + first == unit]
                    if len(row):
                        docs, factor = row["doc"] + first, np.array([hit.term.weight * hit.idf])
                        word = hit.term.word or hit.term.text
                        points = float(self._score_units(docs, row, factor)[unit])
                        share[word] = round(share.get(word, 0.0) + points, 3)
        return shares

    def document(self, unit: int) -> UnitAddress:
        part, local = locate(self._first_doc, unit)
        data = self.segments[part]
        row = data.documents[local]
        file = data.files[int(row["file"])]
        return UnitAddress(
            span=Span(data.segment.files[int(row["file"])].path, int(row["start"]), int(row["end"])),
            level=Level(int(row["level"])),
            kind=data.strings[int(row["kind"])],
            symbol=data.strings[int(row["name"])],
            language=data.strings[int(file["language"])],
            marks=Mark(int(row["marks"])),
        )

    def nested(self) -> Iterator[tuple[int, int, int, str, str]]:
        """Declarations inside of live leaves: unit, first and last line, symbol, kind."""
        for first, data in zip(self._first_doc, self.segments, strict=False):
            rows = data.nested[self.live[data.nested["doc"].astype(np.int64) + int(first)]]
            for doc, start, end, name, kind in rows.tolist():
                yield int(first) + doc, start, end, data.strings[name], data.strings[kind]

    def nested_in(self, unit: int) -> Iterator[tuple[int, int, str, str]]:
        """Declarations inside of a leaf: first and last line, symbol, kind."""
        part, local = locate(self._first_doc, unit)
        data = self.segments[part]
        first, last = np.searchsorted(data.nested_units, [local, local + 1])
        for _, start, end, name, kind in data.nested[first:last].tolist():
            yield start, end, data.strings[name], data.strings[kind]

    def files(self) -> Iterator[tuple[str, str, Mark, int]]:
        """The live files with units: path, language, marks and last line."""
        for first, data in zip(self._first_file, self.segments, strict=False):
            last = np.zeros(len(data.segment.files), np.int64)
            np.maximum.at(
                last, data.documents["file"].astype(np.int64), data.documents["end"].astype(np.int64)
            )
            languages = data.files["language"].tolist()
            for number, file in enumerate(data.segment.files):
                if last[number] and number not in data.segment.dead:
                    marks = Mark(int(self.marks[int(first) + number]))
                    yield file.path, data.strings[languages[number]], marks, int(last[number])

    def path(self, file: int) -> str:
        part, local = locate(self._first_file, file)
        return self.segments[part].segment.files[local].path

    def holders(self, term: int) -> Array:
        """The numbers of the units with a term, by its hash; dead ones too."""
        parts = [
            data.rows_of(term)["doc"] + int(first)
            for first, data in zip(self._first_doc, self.segments, strict=False)
        ]
        return np.concatenate([np.zeros(0, np.int64), *parts])

    def skipped(self) -> dict[str, int]:
        """How many live files have no units, by reason."""
        counts: dict[str, int] = {}
        for data in self.segments:
            for index in np.flatnonzero(data.files["skip"]):
                reason = data.strings[int(data.files[index]["skip"])]
                if reason and int(index) not in data.segment.dead:
                    counts[reason] = counts.get(reason, 0) + 1
        return counts

    @cached_property
    def paths(self) -> list[str]:
        """The path of each file number, dead ones too."""
        return [file.path for data in self.segments for file in data.segment.files]

    def _find(self, term: Term, collection: Collection | None = None) -> _Hit:
        """The live postings of a term, a part for each segment that has some."""
        parts = []
        wanted = term_hash(term.text)
        for first, data in zip(self._first_doc, self.segments, strict=False):
            rows = data.rows_of(wanted)
            if data.segment.dead and len(rows):
                rows = rows[self.live[rows["doc"] + int(first)]]
            if len(rows):
                parts.append((int(first), rows))
        count = sum(len(rows) for _, rows in parts)
        units, frequency = self.unit_count, count
        if collection is not None:
            units = collection.units
            frequency = min(max(count, collection.unit_frequency.get(term.text, 0)), units)
        idf = float(np.log1p((units - frequency + 0.5) / (frequency + 0.5)))
        return _Hit(term, idf, count, parts)

    def _score_units(self, docs: Array, rows: Array, factor: Array) -> NDArray[np.float64]:
        tf = (
            rows["body"] / self._unit_norm[docs] + SYMBOL_WEIGHT * rows["symbol"] + PATH_WEIGHT * rows["path"]
        )
        return _sums(docs, factor * tf * (K1 + 1.0) / (tf + K1), len(self.file_of))

    def _score_files(
        self, docs: Array, rows: Array, hits: Sequence[_Hit], collection: Collection | None
    ) -> NDArray[np.float64]:
        files = self.file_of[docs]
        term = np.repeat(np.arange(len(hits)), [hit.count for hit in hits])
        first = np.ones(len(docs), bool)
        first[1:] = (files[1:] != files[:-1]) | (term[1:] != term[:-1])
        starts = np.flatnonzero(first)
        body = np.add.reduceat(rows["body"].astype(np.float64), starts)
        path = rows["path"][starts].astype(np.float64)  # the same for all units of a file
        files, term = files[starts], term[starts]
        frequency, count = np.bincount(term, minlength=len(hits)), self.file_count
        if collection is not None:
            count = collection.files
            wider = [collection.file_frequency.get(hit.term.text, 0) for hit in hits]
            frequency = np.minimum(np.maximum(frequency, wider), count)
        idf = np.log1p((count - frequency + 0.5) / (frequency + 0.5))
        factor = np.array([hit.term.weight for hit in hits]) * idf
        tf = body / self._file_norm[files] + PATH_WEIGHT * path
        return _sums(files, factor[term] * tf * (K1 + 1.0) / (tf + K1), len(self._file_lengths))

    def _gather(self, field: str, offsets: Array | None) -> Array:
        parts: list[Array] = [np.zeros(0, np.int64)]
        for index, data in enumerate(self.segments):
            column = data.documents[field].astype(np.int64)
            parts.append(column if offsets is None else column + int(offsets[index]))
        return np.concatenate(parts)


@dataclass(frozen=True, slots=True)
class _Hit:
    """A query term found: its postings by segment, each with the number of the segment's first unit."""

    term: Term
    idf: float
    count: int
    parts: list[tuple[int, Array]]


def _norm(lengths: Array, mean: float) -> NDArray[np.float64]:
    norm: NDArray[np.float64] = 1.0 - B + B * lengths / (mean or 1.0)
    return norm


def _sums(numbers: Array, values: Array, size: int) -> NDArray[np.float64]:
    sums: NDArray[np.float64] = np.bincount(numbers, values, size).astype(np.float64, copy=False)
    return sums

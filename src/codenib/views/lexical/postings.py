"""Records of files in, one segment of postings out: terms, their documents, and what each document is."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from codenib.core.protocols import Records
from codenib.core.source import BlobUnits, Level, Mark, SourceFile, UnitRow
from codenib.units.notebooks import OUTPUT
from codenib.units.tokens import hashes_of, words_of
from codenib.views.arrays import Array, StringTable, save_parts
from codenib.views.lexical.derive import TermCounts, TermDeriver

#: a leaf unit; `name` and `kind` are rows of the segment's string table; `marks` are its file's and its own
DOCUMENT = np.dtype(
    [
        ("file", "<u4"),
        ("start", "<u4"),
        ("end", "<u4"),
        ("length", "<u4"),
        ("name", "<u4"),
        ("kind", "<u4"),
        ("level", "u1"),
        ("marks", "u1"),
    ]
)
#: a declaration inside of a leaf: the leaf's document, its own lines, and rows of the string table
NESTED = np.dtype([("doc", "<u4"), ("start", "<u4"), ("end", "<u4"), ("name", "<u4"), ("kind", "<u4")])
FILE = np.dtype([("marks", "u1"), ("language", "<u4"), ("skip", "<u4")])
#: a posting: document, then how often the term stands in its body, its symbol and its path
POSTING = np.dtype([("doc", "<u4"), ("body", "<u2"), ("symbol", "u1"), ("path", "u1")])


def write_segment(
    files: Sequence[SourceFile], records: Records, out: Path, name: str, *, marks_of: Callable[[str], Mark]
) -> None:
    """Write the parts of one lexical segment; `marks_of` says what a path is marked as."""
    strings = StringTable()
    documents: list[Array] = []
    nested: list[Array] = []
    rows: list[Array] = []
    terms: list[Array] = []
    file_column = np.zeros(len(files), FILE)
    at = 0
    for index, (file, units, record) in enumerate(
        zip(files, records.units(files), records.fetch(TermDeriver.name, files), strict=True)
    ):
        marks = marks_of(file.path)
        file_column[index] = (marks, strings.number(units.language), strings.number(units.skip))
        if not record:
            continue
        counts = TermCounts.decode(record)
        leaves = [row for row in units.rows if row.leaf]
        table = np.zeros(len(leaves), DOCUMENT)
        for at_row, row in enumerate(leaves):
            table[at_row] = (
                index,
                row.start_line,
                row.end_line,
                counts.lengths[at_row],
                strings.number(row.symbol),
                strings.number(row.kind),
                row.level,
                marks | Mark.TEST if row.test else marks,
            )
        documents.append(table)
        nested.append(_nested_rows(units, leaves, strings, at))
        called = [at + place for place, row in enumerate(leaves) if row.kind != OUTPUT]
        for part_terms, part_rows in (_body_rows(counts, at), _path_rows(file.path, called)):
            terms.append(part_terms)
            rows.append(part_rows)
        at += len(leaves)
    vocabulary, starts, postings = _invert(_join(terms, "<u8"), _join(rows, POSTING))
    parts = {
        "documents": _join(documents, DOCUMENT),
        "nested": _join(nested, NESTED),
        "files": file_column,
        "terms": vocabulary,
        "starts": starts,
        "postings": postings,
    }
    save_parts(out, name, parts)
    (out / f"{name}.strings.json").write_bytes(msgspec.json.encode(strings.rows))


def _nested_rows(units: BlobUnits, leaves: Sequence[UnitRow], strings: StringTable, first_doc: int) -> Array:
    """The declarations inside of leaves, each with the document of the leaf that has its first line."""
    starts = [leaf.start_line for leaf in leaves]
    inside = [row for row in units.rows if row.level is Level.L2 and not row.leaf]
    table = np.zeros(len(inside), NESTED)
    for at, row in enumerate(inside):  # in the order of their lines, so of their documents
        leaf = first_doc + bisect_right(starts, row.start_line) - 1
        name, kind = strings.number(row.symbol), strings.number(row.kind)
        table[at] = (leaf, row.start_line, row.end_line, name, kind)
    return table


def _body_rows(counts: TermCounts, first_doc: int) -> tuple[Array, Array]:
    rows = np.zeros(len(counts.terms), POSTING)
    rows["doc"] = counts.units + np.uint32(first_doc)
    rows["body"] = counts.body
    rows["symbol"] = counts.symbol
    return counts.terms, rows


def _path_rows(path: str, documents: Sequence[int]) -> tuple[Array, Array]:
    """The terms of the path, for these units: the path depends on the snapshot, not on the blob."""
    counts: dict[int, int] = {}
    for word in words_of(path):
        for term in hashes_of(word):
            counts[term] = min(counts.get(term, 0) + 1, 0xFF)
    rows = np.zeros(len(documents) * len(counts), POSTING)
    rows["doc"] = np.repeat(np.array(documents, "<u4"), len(counts))
    rows["path"] = np.tile(np.fromiter(counts.values(), "u1", len(counts)), len(documents))
    return np.tile(np.fromiter(counts.keys(), "<u8", len(counts)), len(documents)), rows


def _invert(terms: Array, rows: Array) -> tuple[Array, Array, Array]:
    """Sort rows by (term, document) and merge those that share both."""
    vocabulary, numbers = np.unique(terms, return_inverse=True)
    keys = (numbers.astype("<u8") << np.uint64(32)) | rows["doc"]
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    rows = rows[order]
    first = np.ones(len(keys), bool)
    first[1:] = keys[1:] != keys[:-1]
    postings = rows[first]
    twice = np.flatnonzero(~first)  # a term stands at most twice: once from the body, once from the path
    into = np.cumsum(first)[twice] - 1
    for field in ("body", "symbol", "path"):
        postings[field][into] += rows[field][twice]
    counts = np.bincount((keys[first] >> np.uint64(32)).astype(np.int64), minlength=len(vocabulary))
    starts = np.zeros(len(vocabulary) + 1, "<u8")
    np.cumsum(counts, out=starts[1:])
    return vocabulary, starts, postings


def _join(parts: list[Array], kind: Any) -> Array:
    return np.concatenate(parts) if parts else np.zeros(0, kind)

"""A blob and its units in, the term counts of each leaf unit out, as one cached record."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from codenib.core.source import BlobUnits, UnitRow
from codenib.units.languages import units_version
from codenib.units.tokens import hashes_of, hyphenated, joined, term_hash, words_of

FORMAT = "1"

_HEADER = np.dtype("<u4")
_MAX_BODY = 0xFFFF
_MAX_SYMBOL = 0xFF


@dataclass(frozen=True, slots=True)
class TermCounts:
    """Term counts of one blob: a row a (leaf unit, term) pair, units in order, and each unit's length."""

    lengths: NDArray[np.uint32]
    units: NDArray[np.uint32]
    terms: NDArray[np.uint64]
    body: NDArray[np.uint16]
    symbol: NDArray[np.uint8]

    def encode(self) -> bytes:
        head = np.array([len(self.lengths), len(self.terms)], _HEADER)
        return b"".join(
            part.tobytes() for part in (head, self.lengths, self.units, self.terms, self.body, self.symbol)
        )

    @classmethod
    def decode(cls, record: bytes) -> TermCounts:
        """Views into `record`, nothing copied."""
        leaves, rows = (int(number) for number in np.frombuffer(record, _HEADER, 2))
        arrays = []
        at = 2 * _HEADER.itemsize
        for count, kind in ((leaves, "<u4"), (rows, "<u4"), (rows, "<u8"), (rows, "<u2"), (rows, "u1")):
            arrays.append(np.frombuffer(record, kind, count, at))
            at += arrays[-1].nbytes
        return cls(*arrays)


class TermDeriver:
    """Token counts per leaf unit; what maintenance saves is re-tokenizing."""

    name = "terms"

    @property
    def version(self) -> str:
        return f"{FORMAT}/{units_version()}"  # the tokenizer is one of the units package

    def derive(self, data: bytes, units: BlobUnits) -> bytes:
        lines = data.decode("utf-8", "replace").split("\n")
        leaves = [row for row in units.rows if row.leaf]
        return count_terms(lines, leaves).encode()


def count_terms(lines: list[str], leaves: list[UnitRow]) -> TermCounts:
    """Count the terms of each leaf: its lines as body, its qualified name as symbol."""
    lengths: list[int] = []
    unit_column: list[int] = []
    term_column: list[int] = []
    body_column: list[int] = []
    symbol_column: list[int] = []
    for index, row in enumerate(leaves):
        body = _count("\n".join(lines[row.start_line - 1 : row.end_line]))
        symbol = _count(row.symbol) if row.symbol else {}
        lengths.append(sum(body.values()))
        for term in symbol.keys() - body.keys():
            body[term] = 0
        ordered = sorted(body)  # the record's bytes must not depend on set order
        unit_column.extend([index] * len(ordered))
        term_column.extend(ordered)
        body_column.extend(map(body.__getitem__, ordered))
        symbol_column.extend([symbol.get(term, 0) for term in ordered] if symbol else [0] * len(ordered))
    return TermCounts(
        np.array(lengths, "<u4"),
        np.array(unit_column, "<u4"),
        np.array(term_column, "<u8"),
        np.minimum(np.array(body_column, "<u4"), _MAX_BODY).astype("<u2"),
        np.minimum(np.array(symbol_column, "<u4"), _MAX_SYMBOL).astype("u1"),
    )


def _count(text: str) -> dict[int, int]:
    counts: dict[int, int] = {}
    for word, times in Counter(words_of(text)).items():
        for term in hashes_of(word):
            counts[term] = counts.get(term, 0) + times
    for pair in hyphenated(text):
        term = term_hash(joined(*pair))
        counts[term] = counts.get(term, 0) + 1
    return counts

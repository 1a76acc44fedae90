"""A repository's past fixes in, what they say of files and functions for one question out.

A fix is a commit with its message, the files and the functions that it changed. Signals are between 0
and 1: how alike the most similar fix is that changed a candidate, and how well the words of all messages that
changed it match. How often and how lately it was changed is left out: on issues it gained nothing, and cost
much once the memory was some months old.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from codenib.views.lexical.query import query_terms

Array = NDArray[Any]
COLUMNS = ("similar", "words")
_K1, _B = 1.2, 0.3  # the lexical view's own
_DOCUMENT_B = 0.6  # all messages of a file differ in length much more than single ones


class Fix(msgspec.Struct, frozen=True, array_like=True):
    """A past fix as it is stored; `symbols` are pairs of path and qualified name.

    Without a commit it is a question of the journal, with the places that were used after it.
    """

    commit: str
    committed: int
    text: str
    paths: tuple[str, ...]
    symbols: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class QuerySimilarity:
    """One question against every fix: similarities relative to the best, its known words and their worth."""

    relative: Array
    terms: Array
    worth: Array
    visible: NDArray[np.bool_]


class FixMemory:
    """Fixes, the newest first, with their words as rows of a table."""

    def __init__(self, fixes: Sequence[Fix]) -> None:
        self.fixes = tuple(fixes)
        numbers: dict[str, int] = {}
        terms = [
            [numbers.setdefault(term.text, len(numbers)) for term in query_terms(fix.text)] for fix in fixes
        ]
        self._numbers = numbers
        self._terms = [np.array(row, np.int64) for row in terms]
        self._length = np.array([len(row) for row in terms], np.float64)
        holders = np.repeat(np.arange(len(terms)), [len(row) for row in terms])
        flat = np.concatenate([np.zeros(0, np.int64), *self._terms])
        order = np.argsort(flat, kind="stable")
        self._holders = holders[order]
        self._first = np.searchsorted(flat[order], np.arange(len(numbers) + 1))
        self._by_path = _places((path, row) for row, fix in enumerate(fixes) for path in fix.paths)
        self._by_symbol = _places((name, row) for row, fix in enumerate(fixes) for name in fix.symbols)
        self._document = self._mean_document()

    def shuffled(self, order: NDArray[np.int64]) -> FixMemory:
        """The same messages and the same changes, but fix `n` has the message of fix `order[n]`.

        It knows how often each file and function was changed, and nothing of the words that led there.
        """
        other = copy.copy(self)
        other._by_path = {path: order[rows] for path, rows in self._by_path.items()}
        other._by_symbol = {name: order[rows] for name, rows in self._by_symbol.items()}
        other._document = other._mean_document()
        return other

    def _mean_document(self) -> float:
        lengths = [self._length[rows].sum() for rows in self._by_path.values()]
        return float(np.mean(lengths)) if lengths else 1.0

    def compare(self, query: str, older_than: int = -1) -> QuerySimilarity:
        """Compare a question with the fixes behind row `older_than`."""
        visible = np.arange(len(self.fixes)) > older_than
        count = int(visible.sum())
        mean = float(self._length[visible].mean()) if count else 1.0
        norm = 1 - _B + _B * self._length / max(mean, 1.0)
        scores, terms, worth = np.zeros(len(self.fixes)), [], []
        for term in query_terms(query):
            number = self._numbers.get(term.text)
            if number is None:
                continue
            rows = self._holders[self._first[number] : self._first[number + 1]]
            rows = rows[visible[rows]]
            idf = math.log(1 + (count - len(rows) + 0.5) / (len(rows) + 0.5))
            tf = 1.0 / norm[rows]
            scores[rows] += term.weight * idf * tf * (_K1 + 1) / (tf + _K1)
            terms.append(number)
            worth.append(term.weight * idf)
        best = float(scores.max()) if len(scores) else 0.0
        return QuerySimilarity(
            relative=scores / best if best > 0 else scores,
            terms=np.array(terms, np.int64),
            worth=np.array(worth),
            visible=visible,
        )

    def of_paths(self, asked: QuerySimilarity, paths: Sequence[str]) -> Array:
        """A row of `COLUMNS` for each path."""
        return self._signals(asked, [self._by_path.get(path) for path in paths])

    def of_symbols(self, asked: QuerySimilarity, names: Sequence[tuple[str, str]]) -> Array:
        """A row of `COLUMNS` for each path and qualified name."""
        return self._signals(asked, [self._by_symbol.get(name) for name in names])

    def _signals(self, asked: QuerySimilarity, places: Sequence[Array | None]) -> Array:
        out = np.zeros((len(places), len(COLUMNS)))
        words = self._words(asked)
        for row, place in enumerate(places):
            rows = None if place is None else place[asked.visible[place]]
            if rows is not None and len(rows):
                out[row] = (asked.relative[rows].max(), words(rows))
        values = out[:, COLUMNS.index("words")]
        best = float(values.max()) if len(values) else 0.0
        if best > 0:
            values /= best
        return out

    def _words(self, asked: QuerySimilarity) -> Callable[[Array], float]:
        """How well the words of a question match all messages of some fixes, taken together."""
        slots = np.full(len(self._numbers) + 1, -1)
        slots[asked.terms] = np.arange(len(asked.terms))

        def score(rows: Array) -> float:
            counts = np.zeros(len(asked.terms))
            found = slots[np.concatenate([self._terms[each] for each in rows.tolist()])]
            np.add.at(counts, found[found >= 0], 1.0)
            share = self._length[rows].sum() / self._document
            tf = counts / (1 - _DOCUMENT_B + _DOCUMENT_B * share)
            return float((asked.worth * tf * (_K1 + 1) / (tf + _K1)).sum())

        return score


def _places(pairs: Any) -> Mapping[Hashable, Array]:
    by_key: dict[Hashable, list[int]] = {}
    for key, row in pairs:
        by_key.setdefault(key, []).append(row)
    return {key: np.array(rows) for key, rows in by_key.items()}

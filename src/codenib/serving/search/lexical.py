"""A query over the pinned lexical view in, ranked evidence out: BM25 scores, put into the base order.

The base order is what lowers tests and lets units and files lean on each other; other operators build on it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from codenib.core.errors import InputError
from codenib.core.requests import ResultLevel, Tests
from codenib.core.source import Level, Mark
from codenib.serving.search.evidence import LOWERED, RankedEvidence, Retrieval, evidence
from codenib.serving.search.stems import file_stems
from codenib.views.lexical.query import query_terms
from codenib.views.lexical.read import LexicalView, Scores

if TYPE_CHECKING:
    from codenib.serving.snapshots.pinned import PinnedSnapshot

TESTS: tuple[Tests, ...] = ("include", "exclude", "lower")

# All constants here were chosen on the 233 development rows, where together they raised Recall@10 of files
# from .855 to .878 and of functions from .539 to .594; single steps around them move it by less than a point.

REST = 0.6  # imports, constants and class headers mention everything and do little
# To a question they say a little more: a module's or a class's own description stands there. As below: .867
# at 0.6, .871 at 0.7, .875 at 0.9; but sixty questions about our own functions (the golden rankings) keep a
# mean reciprocal rank of .757 up to 0.7, and have .740 at 0.75, .719 at 0.9.
REST_ASKED = 0.7
# A file is what its best three units say, plus what it says as a whole; a unit leans on its file.
BEST_UNITS = (1.0, 0.5, 0.25)
WHOLE_FILE = 0.5
FILE_SHARE = 0.2

# What each further unit of a file is worth in a question's answer: in front, where the places that it shows
# count, and behind, where a second function of the right file does. NDCG@10 on one half of semble's
# benchmark (399 questions of 20 repositories), and functions among ten for sentences of docstrings asked of
# code without them (562 of five repositories): .861 and .833 at 0.7 throughout; .864 and .868 at these; .850
# and .900 with 1 behind a front of four.
FRONT = 5
FRONT_SPREAD = 0.3
SPREAD = 0.85

# What a question that says a file's whole name adds to the units in it. There: .850 at 0, .862 at 0.15, .864
# at 0.25 and 0.35, .863 at 0.5; functions .868 whatever it is, their files .977 at 0, .975 at 0.25.
NAMED_FILE = 0.25

_HIGHEST = 1000  # units of which places are sorted: of Django's 28,000, 0.3 ms instead of 6

Array = NDArray[Any]


def search_lexical(
    pinned: PinnedSnapshot, wanted: Retrieval, lift: Callable[[Scores], Scores] | None = None
) -> RankedEvidence:
    """BM25 scores in the base order; `lift` may add what another view knows."""
    view = pinned.lexical
    terms = query_terms(wanted.query)
    scores = view.score(terms)
    if lift is not None:
        scores = lift(scores)
    if wanted.spread:
        said = file_stems(pinned).agreement(term.text for term in terms)
        scores = replace(scores, units=scores.units * (1.0 + NAMED_FILE * said[view.file_of]))
    allowed = wanted.allowed(view.paths)
    ranking = rank(
        view,
        scores,
        level=wanted.level,
        k=wanted.k,
        tests=wanted.tests,
        allowed=allowed,
        spread=wanted.spread,
    )
    best = zip(ranking.numbers, ranking.scores, strict=True)
    items = evidence(view, wanted.level, best, scores.terms)
    if ranking.further:
        items = tuple(
            replace(item, further=further) for item, further in zip(items, ranking.further, strict=True)
        )
    return RankedEvidence(items, ranking.total)


@dataclass(frozen=True, slots=True)
class Ranking:
    """Numbers of units or files with their scores, best first, and how many there are in all."""

    numbers: tuple[int, ...]
    scores: tuple[float, ...]
    total: int
    further: tuple[int, ...] = ()  # for each unit that is the first of its file: left out for other files


def rank(
    view: LexicalView,
    scores: Scores,
    *,
    level: ResultLevel,
    k: int,
    tests: Tests = "lower",
    allowed: Array | None = None,
    spread: bool = False,
) -> Ranking:
    """The best `k`; `allowed` is a mask over files. Ties go by path and line, never by storage order.

    With `spread`, each further unit of a file counts less, so that the answer shows more places.
    """
    rest = REST_ASKED if spread else REST
    units, files = base_scores(view, scores, tests=tests, allowed=allowed, rest=rest)
    values = units if level == "unit" else files
    chosen = np.flatnonzero(values)
    if not (spread and level == "unit"):
        return _best(view, chosen, values[chosen], level, k)
    return _spread_out(view, chosen, values[chosen], k)


def _spread_out(view: LexicalView, chosen: Array, values: Array, k: int) -> Ranking:
    """The best `k` units, where further units of a file count less, most of all for the first places."""

    def best(share: float, count: int) -> tuple[int, ...]:
        rows, spread = spread_values(view.file_of[chosen], values, share, count)
        return _best(view, chosen[rows], spread, "unit", count).numbers

    front, behind = best(FRONT_SPREAD, min(k, FRONT)), best(SPREAD, k)
    numbers = tuple(dict.fromkeys((*front, *behind)))[:k]
    own = values[np.searchsorted(chosen, numbers)] if numbers else values[:0]
    scores = tuple(np.minimum.accumulate(own).tolist())  # one that was put behind others scores no higher
    return Ranking(numbers, scores, len(chosen), _further(view, numbers, chosen, values))


def spread_values(files: Array, raw: Array, share: float, k: int) -> tuple[Array, Array]:
    """Rows and values, where each further unit of a file counts only a share; the best `k` are among them.

    A unit's place is among those with higher values, so the highest alone tell each other's: most of a large
    repository need not be sorted, unless the `k`-th of these has fallen below the rest.
    """
    if len(raw) > 2 * _HIGHEST:
        edge = np.partition(raw, -_HIGHEST)[-_HIGHEST]
        high = np.flatnonzero(raw >= edge)
        values = raw[high] * share ** places_in_file(files[high], raw[high])
        if 0 < k <= len(high) and np.partition(values, -k)[-k] >= edge:
            return high, values
    return np.arange(len(raw)), raw * share ** places_in_file(files, raw)


def places_in_file(files: Array, values: Array) -> Array:
    """For each unit how many units of its file have a higher value; equal ones in the order given."""
    order = np.lexsort((np.arange(len(files)), -values, files))
    ordered = files[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]]) if len(ordered) else ordered
    sizes = np.diff(np.r_[starts, len(ordered)])
    places = np.empty(len(files), np.int64)
    places[order] = np.arange(len(ordered)) - np.repeat(starts, sizes)
    return places


def _further(view: LexicalView, numbers: Sequence[int], chosen: Array, raw: Array) -> tuple[int, ...]:
    """For the first result of each file, its other units with a value that would have been enough."""
    if not numbers:
        return ()
    results = np.array(numbers)
    enough = float(raw[np.searchsorted(chosen, results)].min())
    left = np.bincount(view.file_of[chosen[raw >= enough]], minlength=len(view.marks))
    left -= np.bincount(view.file_of[results], minlength=len(view.marks))
    files = view.file_of[results].tolist()
    return tuple(int(left[file]) if file not in files[:place] else 0 for place, file in enumerate(files))


def base_scores(
    view: LexicalView,
    scores: Scores,
    *,
    tests: Tests = "lower",
    allowed: Array | None = None,
    rest: float = REST,
) -> tuple[Array, Array]:
    """The value of every unit and of every file: units lean on their file, files on their units.

    `rest` is the share that a unit without a function or class of its own keeps.
    """
    included = included_marks(view.unit_marks, tests, None if allowed is None else allowed[view.file_of])
    own = np.where(view.levels == Level.L1, rest, 1.0) * scores.units * included
    whole = WHOLE_FILE * scores.files
    if tests == "lower":
        own *= mark_factors()[view.unit_marks]
        whole *= mark_factors()[view.marks]
    ranks = zip(BEST_UNITS, best_units(view, own, len(BEST_UNITS)), strict=True)
    files = sum(decay * best for decay, best in ranks) + whole
    matched = np.flatnonzero(own)
    units = np.zeros(len(own))
    units[matched] = own[matched] + FILE_SHARE * files[view.file_of[matched]]
    matching = np.zeros(len(files), bool)
    matching[view.file_of[matched]] = True
    return units, files * matching


def included_marks(marks: Array, tests: Tests, allowed: Array | None) -> Array:
    """A mask over units or files, given by their marks: the allowed ones that `tests` does not exclude."""
    if tests not in TESTS:
        raise InputError(
            f"unknown value {tests!r} for tests", hint=f"codenib search --tests {'|'.join(TESTS)}"
        )
    included = np.ones(len(marks), bool) if allowed is None else allowed.copy()
    if tests == "exclude":
        included &= (marks & (Mark.TEST | Mark.EXAMPLE | Mark.VENDORED)) == 0
    return included


def best_units(view: LexicalView, values: Array, count: int) -> list[Array]:
    """For each file the best, second best … value of its units; values are not negative."""
    out = []
    left = np.array(values, np.float64)
    owner = view.file_of[view.runs] if len(view.runs) else np.zeros(0, np.int64)
    sizes = np.diff(np.r_[view.runs, len(left)]) if len(view.runs) else np.zeros(0, np.int64)
    for number in range(count):
        total = np.zeros(len(view.marks))
        if len(view.runs):
            best = np.maximum.reduceat(left, view.runs)
            total[owner] = np.maximum(best, 0.0)
            if number + 1 < count:
                holders = np.flatnonzero(left == np.repeat(best, sizes))
                files = view.file_of[holders]
                left[holders[np.r_[True, files[1:] != files[:-1]]]] = 0.0  # one holder a file is used up
        out.append(total)
    return out


@cache
def mark_factors() -> Array:
    """For each combination of marks, the smallest share that one of them leaves."""
    table = np.ones(256)
    for mark, share in LOWERED.items():
        marked = (np.arange(256) & int(mark)) != 0
        table[marked] = np.minimum(table[marked], share)
    return table


def _best(view: LexicalView, numbers: Array, values: Array, level: ResultLevel, k: int) -> Ranking:
    total = len(numbers)
    if total > k:
        edge = np.partition(values, total - k)[total - k]
        near = values >= edge
        numbers, values = numbers[near], values[near]

    def key(index: int) -> tuple[float, str, int]:
        number = int(numbers[index])
        if level == "file":
            return -float(values[index]), view.path(number), 0
        span = view.document(number).span
        return -float(values[index]), span.path, span.start_line

    order = sorted(range(len(numbers)), key=key)[:k]
    return Ranking(
        tuple(int(numbers[index]) for index in order), tuple(float(values[index]) for index in order), total
    )

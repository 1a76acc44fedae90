"""Lexical scores in, an order of units or files out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from codenib.core.errors import InputError
from codenib.core.source import Mark
from codenib.views.lexical.read import LexicalView, Scores

Tests = Literal["include", "exclude", "lower"]
TESTS: tuple[Tests, ...] = ("include", "exclude", "lower")

# How much of its score marked code keeps under `tests="lower"`.
LOWERED = {
    Mark.TEST: 0.4,
    Mark.EXAMPLE: 0.6,
    Mark.VENDORED: 0.5,
    Mark.GENERATED: 0.5,
    Mark.PROSE: 0.5,
}
# A file is what its best three units say, plus what it says as a whole; a unit leans on its file.
BEST_UNITS = (1.0, 0.5, 0.25)
WHOLE_FILE = 1.0
FILE_SHARE = 0.5

Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Ranked:
    """Numbers of units or files with their scores, best first, and how many there are in all."""

    numbers: tuple[int, ...]
    scores: tuple[float, ...]
    total: int


def rank(
    view: LexicalView,
    scores: Scores,
    *,
    level: Literal["unit", "file"],
    k: int,
    tests: Tests = "lower",
    allowed: Array | None = None,
) -> Ranked:
    """The best `k`; `allowed` is a mask over files. Ties go by path and line, never by storage order."""
    if tests not in TESTS:
        raise InputError(
            f"unknown value {tests!r} for tests", hint=f"codenib search --tests {'|'.join(TESTS)}"
        )
    units = np.flatnonzero(scores.units)
    keep = np.ones(len(view.marks), bool) if allowed is None else allowed.copy()
    if tests == "exclude":
        keep &= (view.marks & (Mark.TEST | Mark.EXAMPLE | Mark.VENDORED)) == 0
    units = units[keep[view.file_of[units]]]
    factor = _factors(view.marks) if tests == "lower" else np.ones(len(view.marks))
    files = _file_scores(view, scores, units)
    if level == "file":
        chosen = np.unique(view.file_of[units])
        values = files[chosen] * factor[chosen]
    else:
        chosen = units
        owner = view.file_of[units]
        values = (scores.units[units] + FILE_SHARE * files[owner]) * factor[owner]
    return _best(view, chosen, values, level, k)


def _file_scores(view: LexicalView, scores: Scores, units: Array) -> Array:
    """Decayed sum of each file's best units, plus the file as one document."""
    owner = view.file_of[units]
    values = scores.units[units]
    order = np.lexsort((-values, owner))
    owner, values = owner[order], values[order]
    starts = np.flatnonzero(np.r_[True, owner[1:] != owner[:-1]]) if len(owner) else np.zeros(0, int)
    sizes = np.diff(np.r_[starts, len(owner)])
    position = np.arange(len(owner)) - np.repeat(starts, sizes)
    best = position < len(BEST_UNITS)
    decay = np.array(BEST_UNITS)[position[best]]
    return np.bincount(owner[best], decay * values[best], len(scores.files)) + WHOLE_FILE * scores.files


def _factors(marks: Array) -> Array:
    """For each file, the smallest share that one of its marks leaves it."""
    table = np.ones(256)
    for value in range(256):
        for mark, share in LOWERED.items():
            if value & mark:
                table[value] = min(table[value], share)
    return table[marks]


def _best(view: LexicalView, numbers: Array, values: Array, level: str, k: int) -> Ranked:
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
    return Ranked(
        tuple(int(numbers[index]) for index in order), tuple(float(values[index]) for index in order), total
    )

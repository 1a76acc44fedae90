"""Places at ranks, used or not, in; how likely a place is examined at each rank, with intervals, out.

The model is the position-based one: a place at rank k is used with probability examined(k) ×
relevant(question, place). What is given first is read first, so counting uses favours what was ranked high
already. The same question asked again gets the same place at another rank, as files, budgets and routes
change. Within such a group relevance cancels: of its uses, the share at rank k is proportional to
examined(k). Maximizing the product of these shares (conditional likelihood, as in a Poisson regression with
an effect for each group) needs no model of relevance; the solution is found by Hunter's iteration for
Bradley-Terry models.

Assumptions: relevance of a place to a question does not change between the times it was asked; the rank of a
place was not chosen by knowing whether it would be used; a place that is examined and relevant is used as
often at any rank; examination depends on the rank alone. Probabilities are relative to rank 1, which counts
as examined.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from codenib.core.errors import StateError

Floats = NDArray[np.float64]

#: The last rank of each bucket; places further down are left out.
BUCKETS = (1, 2, 3, 5, 10, 20)
#: Uses in groups with several ranks, in all and in a bucket: with fewer an interval is wider than the effect.
LEAST_USES = 100
LEAST_IN_BUCKET = 15
_RESAMPLES = 300
_STEPS = 500
_LEVEL = (2.5, 97.5)
_TINY = 1e-12
_TOLERANCE = 1e-6


@dataclass(frozen=True, slots=True)
class Exposure:
    """A place that was given: `group` is the question and the place, `rank` counts from 1."""

    group: str
    rank: int
    used: bool


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with its 95% interval, by resampling whole groups."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Examination:
    """How likely a place is examined, by the last rank of each bucket that can be estimated."""

    by_bucket: dict[int, Interval]
    uses: int
    groups: int

    def at(self, rank: int) -> float | None:
        """The probability at a rank, relative to the first; None where it is not known."""
        bucket = bucket_of(rank)
        found = self.by_bucket.get(BUCKETS[bucket]) if bucket is not None else None
        return found.value if found else None


def bucket_of(rank: int) -> int | None:
    """The number of the bucket of a rank; None past the last.

    >>> [bucket_of(rank) for rank in (1, 4, 20, 21)]
    [0, 3, 5, None]
    """
    return next((number for number, last in enumerate(BUCKETS) if rank <= last), None)


def estimate_examination(exposures: Iterable[Exposure], *, seed: int = 0) -> Examination:
    """Estimate from the natural variation of ranks; a `StateError` says what is missing."""
    given, used = _tables(exposures)
    given, used, buckets = _comparable(given, used)
    uses = int(used.sum())
    rows = [_solve(given, used)]
    rows += [_solve(given, used, weights, rows[0]) for weights in _resamples(len(given), seed)]
    values = np.array(rows)
    low, high = np.percentile(values[1:], _LEVEL, axis=0)
    return Examination(
        {
            BUCKETS[bucket]: Interval(float(values[0, at]), float(low[at]), float(high[at]))
            for at, bucket in enumerate(buckets)
        },
        uses,
        len(given),
    )


def relevance(exposures: Sequence[Exposure], *, corrected: bool = True, seed: int = 0) -> Interval:
    """The mean relevance of what was given: uses weighted by 1 / examined, or uncorrected as counted.

    Its interval has the uncertainty of the examination too: both are estimated again from each resample.
    """
    given, used = _tables(exposures)
    if corrected:
        _, _, buckets = _comparable(given, used)
        given, used = given[:, buckets], used[:, buckets]
    several = ((given > 0).sum(axis=1) > 1) & (used.sum(axis=1) > 0)
    examined = _solve(given[several], used[several]) if corrected else np.ones(given.shape[1])
    values, first = [], examined
    for weights in (np.ones(len(given)), *_resamples(len(given), seed)):
        if corrected:
            examined = _solve(given[several], used[several], weights[several], first)
        values.append(float(weights @ (used / examined).sum(axis=1) / (weights @ given.sum(axis=1))))
    low, high = np.percentile(values[1:], _LEVEL)
    return Interval(values[0], float(low), float(high))


def _tables(exposures: Iterable[Exposure]) -> tuple[Floats, Floats]:
    """How often each group's place was given, and used, in each bucket."""
    rows: dict[str, tuple[Floats, Floats]] = {}
    for each in exposures:
        bucket = bucket_of(each.rank)
        if bucket is not None:
            given, used = rows.setdefault(each.group, (np.zeros(len(BUCKETS)), np.zeros(len(BUCKETS))))
            given[bucket] += 1
            used[bucket] += each.used
    if not rows:
        return np.zeros((0, len(BUCKETS))), np.zeros((0, len(BUCKETS)))
    return np.array([given for given, _ in rows.values()]), np.array([used for _, used in rows.values()])


def _comparable(given: Floats, used: Floats) -> tuple[Floats, Floats, list[int]]:
    """The groups with several buckets, and the buckets that enough of them link with the first, both ways.

    A bucket that loses every comparison, or wins every one, has no finite estimate. Too few are an error.
    """
    buckets = list(range(given.shape[1]))
    while True:
        several = ((given[:, buckets] > 0).sum(axis=1) > 1) & (used[:, buckets].sum(axis=1) > 0)
        mine, theirs = used[several][:, buckets], given[several][:, buckets] > 0
        beats = mine.T @ theirs > 0  # used in the one, in a group that had the other too
        linked = [
            bucket
            for at, bucket in enumerate(buckets)
            if mine[:, at].sum() >= LEAST_IN_BUCKET and _reaches(beats, 0, at) and _reaches(beats, at, 0)
        ]
        if linked == buckets or not linked or linked[0] != 0:
            left = linked if linked and linked[0] == 0 else []
            _check_enough(int(mine.sum()), len(left))
            return given[several][:, left], used[several][:, left], left
        buckets = linked


def _check_enough(uses: int, buckets: int) -> None:
    if uses < LEAST_USES or buckets < 2:
        raise StateError(
            f"too few data to correct for position: {uses} of {LEAST_USES} uses of places that the same"
            f" question had at several ranks, at {buckets} of at least 2 comparable ranks",
            hint="codenib journal show",
        )


def _resamples(groups: int, seed: int) -> Iterator[Floats]:
    """How often each group is drawn, for each resample."""
    random = np.random.default_rng(seed)
    for _ in range(_RESAMPLES):
        yield random.multinomial(groups, np.full(groups, 1 / groups)).astype(np.float64)


def _reaches(beats: NDArray[np.bool_], start: int, goal: int) -> bool:
    reached, waiting = {start}, [start]
    while waiting:
        for number in np.flatnonzero(beats[waiting.pop()]):
            if int(number) not in reached:
                reached.add(int(number))
                waiting.append(int(number))
    return goal in reached


def _solve(given: Floats, used: Floats, weights: Floats | None = None, start: Floats | None = None) -> Floats:
    """The examination of each bucket, the first one's 1, by Hunter's iteration."""
    weights = np.ones(len(given)) if weights is None else weights
    uses = weights * used.sum(axis=1)
    wins = weights @ used + _TINY
    examined: Floats = np.ones(given.shape[1]) if start is None else start
    for _ in range(_STEPS):
        shares = (uses / np.maximum(given @ examined, _TINY)) @ given
        before, examined = examined, wins / np.maximum(shares, _TINY)
        examined = examined / max(examined[0], _TINY)
        if np.max(np.abs(examined - before)) < _TOLERANCE:
            break
    return examined

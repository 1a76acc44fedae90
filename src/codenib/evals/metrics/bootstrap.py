"""Scores of rows and their clusters in, means with intervals out. Same seed, same interval.

Rows of one repository are not independent, so that whole repositories are drawn, never single rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 20_000  # the paper's for retrieval and ANN; agents and lifecycle use 10,000
LEVEL = 0.95
_CHUNK = 2_000  # resamples at a time, so that memory stays small

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A statistic of `n` rows in `clusters` clusters, with its interval."""

    value: float
    low: float
    high: float
    n: int
    clusters: int

    def excludes(self, value: float) -> bool:
        return not self.low <= value <= self.high

    def rounded(self, digits: int = 4) -> dict[str, float | int]:
        return {
            "value": round(self.value, digits),
            "low": round(self.low, digits),
            "high": round(self.high, digits),
            "n": self.n,
            "clusters": self.clusters,
        }


def clustered_mean(
    scores: Sequence[float], clusters: Sequence[str], *, seed: int = 1, resamples: int = RESAMPLES
) -> Estimate:
    """The mean over rows, with a percentile interval over redrawn clusters."""
    return _simple({"": scores}, clusters, seed, resamples)[""]


def paired_difference(
    ours: Sequence[float],
    base: Sequence[float],
    clusters: Sequence[str],
    *,
    seed: int = 1,
    resamples: int = RESAMPLES,
) -> Estimate:
    """The mean of `ours` − `base` over the same rows."""
    change = [left - right for left, right in zip(ours, base, strict=True)]
    return clustered_mean(change, clusters, seed=seed, resamples=resamples)


def simultaneous(
    contrasts: Mapping[str, Sequence[float]],
    clusters: Sequence[str],
    *,
    seed: int = 1,
    resamples: int = RESAMPLES,
) -> dict[str, Estimate]:
    """Intervals that hold together for all contrasts: the largest deviation of any of them sets the width."""
    values, drawn, groups = _draw(contrasts, clusters, seed, resamples)
    width = float(np.quantile(np.abs(drawn - values).max(axis=1), LEVEL))
    return {
        name: Estimate(float(value), float(value) - width, float(value) + width, len(clusters), groups)
        for name, value in zip(contrasts, values, strict=True)
    }


def median_interval(values: Sequence[float], *, seed: int = 1, resamples: int = 10_000) -> Estimate:
    """The median with a percentile interval over redrawn values (the lifecycle's snapshots)."""
    given = np.asarray(values, float)
    if not len(given):
        raise ValueError("no values")
    random = np.random.default_rng(seed)
    medians = np.median(given[random.integers(0, len(given), (resamples, len(given)))], axis=1)
    low, high = np.quantile(medians, _tails())
    return Estimate(float(np.median(given)), float(low), float(high), len(given), len(given))


def ratio_of_sums(
    ours: Sequence[float],
    base: Sequence[float],
    clusters: Sequence[str],
    *,
    seed: int = 1,
    resamples: int = 10_000,
) -> Estimate:
    """Sum of `ours` over sum of `base` (token volumes), whole clusters redrawn."""
    names, weights = _weights(clusters, seed, resamples)
    top, bottom = _sums(ours, clusters, names), _sums(base, clusters, names)
    drawn = (weights @ top) / (weights @ bottom)
    low, high = np.quantile(drawn, _tails())
    return Estimate(float(top.sum() / bottom.sum()), float(low), float(high), len(ours), len(names))


def _simple(
    columns: Mapping[str, Sequence[float]], clusters: Sequence[str], seed: int, resamples: int
) -> dict[str, Estimate]:
    values, drawn, groups = _draw(columns, clusters, seed, resamples)
    ends = np.quantile(drawn, _tails(), axis=0)
    return {
        name: Estimate(float(values[at]), float(ends[0, at]), float(ends[1, at]), len(clusters), groups)
        for at, name in enumerate(columns)
    }


def _draw(
    columns: Mapping[str, Sequence[float]], clusters: Sequence[str], seed: int, resamples: int
) -> tuple[Floats, Floats, int]:
    """The means of the columns, and those of every resample; all columns see the same draws."""
    if not clusters:
        raise ValueError("no rows")
    names, weights = _weights(clusters, seed, resamples)
    sums = np.stack([_sums(column, clusters, names) for column in columns.values()], axis=1)
    counts = _sums([1.0] * len(clusters), clusters, names)
    drawn = np.concatenate(
        [
            (weights[at : at + _CHUNK] @ sums) / (weights[at : at + _CHUNK] @ counts)[:, None]
            for at in range(0, resamples, _CHUNK)
        ]
    )
    return sums.sum(axis=0) / counts.sum(), drawn, len(names)


def _weights(clusters: Sequence[str], seed: int, resamples: int) -> tuple[list[str], Floats]:
    """How often each cluster is in each resample."""
    names = sorted(set(clusters))
    shares = np.full(len(names), 1 / len(names))
    drawn = np.random.default_rng(seed).multinomial(len(names), shares, size=resamples)
    return names, drawn.astype(np.float64)


def _sums(column: Sequence[float], clusters: Sequence[str], names: Sequence[str]) -> Floats:
    place = {name: at for at, name in enumerate(names)}
    if len(column) != len(clusters):
        raise ValueError(f"{len(column)} scores for {len(clusters)} rows")
    sums = np.zeros(len(names))
    np.add.at(sums, [place[each] for each in clusters], np.asarray(column, float))
    return sums


def _tails() -> tuple[float, float]:
    return (1 - LEVEL) / 2, (1 + LEVEL) / 2

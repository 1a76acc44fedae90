"""The examination of ranks, on clicks whose truth is known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codenib.core.errors import StateError
from codenib.learning.journal.propensity import (
    BUCKETS,
    Exposure,
    bucket_of,
    estimate_examination,
    relevance,
)

RANKS = (1, 2, 3, 4, 8)
WORLDS = 20


def clicks(
    seed: int, examined: dict[int, float], groups: int = 600, times: int = 6
) -> tuple[list[Exposure], float]:
    """Places of questions that are asked several times, at ranks that vary around the place's usual one.

    Relevant places stand higher, as with any ranker: counting uses mistakes that for examination. Also the
    true mean relevance of what was given.
    """
    random = np.random.default_rng(seed)
    rows, total = [], 0.0
    for group in range(groups):
        relevant = float(random.beta(1.0, 2.0))
        usual = (1 - relevant) * (len(RANKS) - 1)
        for _ in range(times):
            at = int(np.clip(round(usual + random.normal(0, 1.2)), 0, len(RANKS) - 1))
            used = random.random() < examined[RANKS[at]] * relevant
            rows.append(Exposure(str(group), RANKS[at], bool(used)))
            total += relevant
    return rows, total / len(rows)


@settings(max_examples=5, deadline=None, derandomize=True)
@given(st.floats(0.3, 2.0), st.integers(0, 1000))
def test_examination_is_recovered_whatever_its_slope(slope: float, seed: int) -> None:
    truth = {rank: rank**-slope for rank in RANKS}
    rows, _ = clicks(seed, truth, groups=3000)
    found = estimate_examination(rows)
    assert found.by_bucket[1].value == 1.0
    for rank in RANKS[1:3]:
        estimate = found.by_bucket[BUCKETS[bucket_of(rank) or 0]]
        assert estimate.value == pytest.approx(truth[rank], rel=0.2)
        assert estimate.low < estimate.value < estimate.high


def test_the_corrected_estimate_is_unbiased_within_its_interval_and_the_counted_one_is_not() -> None:
    truth = {1: 1.0, 2: 0.7, 3: 0.5, 4: 0.35, 8: 0.2}
    inside, counted, errors = 0, 0, []
    for seed in range(WORLDS):
        rows, mean = clicks(seed, truth)
        corrected, naive = relevance(rows), relevance(rows, corrected=False)
        inside += corrected.low <= mean <= corrected.high
        counted += naive.low <= mean <= naive.high
        errors.append(corrected.value - mean)
    assert inside >= 0.85 * WORLDS
    assert counted == 0
    assert abs(np.mean(errors)) < 2.5 * np.std(errors) / np.sqrt(WORLDS)


def test_too_few_data_are_refused_with_what_is_missing() -> None:
    rows, _ = clicks(1, dict.fromkeys(RANKS, 1.0), groups=20)
    with pytest.raises(StateError, match="of 100 uses of places"):
        estimate_examination(rows)
    with pytest.raises(StateError, match="too few data"):
        estimate_examination([])
    never_elsewhere = [Exposure(str(number), 1 + number % 5, True) for number in range(5000)]
    with pytest.raises(StateError, match="too few data"):
        estimate_examination(never_elsewhere)


def test_a_rank_that_is_never_used_is_not_estimated() -> None:
    rows, _ = clicks(2, {1: 1.0, 2: 0.6, 3: 0.5, 4: 0.4, 8: 0.0})
    found = estimate_examination(rows)
    assert found.at(8) is None and found.at(30) is None
    assert found.at(4) is not None

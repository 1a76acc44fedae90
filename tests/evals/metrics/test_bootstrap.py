"""Intervals: by cluster, paired, simultaneous."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from codenib.evals.metrics.bootstrap import (
    clustered_mean,
    median_interval,
    paired_difference,
    ratio_of_sums,
    simultaneous,
)
from codenib.evals.metrics.frontier import frontier


def test_the_mean_is_over_rows_not_over_clusters() -> None:
    found = clustered_mean([1.0, 1.0, 1.0, 0.0], ["a", "a", "a", "b"])
    assert found.value == 0.75
    assert (found.n, found.clusters) == (4, 2)


def test_one_cluster_has_no_spread_to_show() -> None:
    found = clustered_mean([0.0, 1.0], ["a", "a"])
    assert found.low == found.high == 0.5


def test_the_same_seed_gives_the_same_interval() -> None:
    scores, clusters = [0.1, 0.5, 0.9, 0.3], ["a", "b", "c", "d"]
    assert clustered_mean(scores, clusters, seed=3) == clustered_mean(scores, clusters, seed=3)


def test_rows_that_repeat_inside_a_cluster_do_not_narrow_the_interval() -> None:
    scores, clusters = [0.0, 1.0, 0.2, 0.8], ["a", "b", "c", "d"]
    once, often = clustered_mean(scores, clusters), clustered_mean(scores * 50, clusters * 50)
    assert (often.low, often.high) == pytest.approx((once.low, once.high))


def test_a_constant_gain_has_an_interval_of_no_width() -> None:
    base = [0.1, 0.4, 0.7]
    found = paired_difference([each + 0.2 for each in base], base, ["a", "b", "c"])
    assert (found.value, found.low, found.high) == pytest.approx((0.2, 0.2, 0.2))
    assert found.excludes(0.0)


def test_simultaneous_intervals_contain_the_pointwise_ones() -> None:
    random = np.random.default_rng(0)
    clusters = [str(each) for each in range(20)]
    contrasts = {name: random.normal(size=20).tolist() for name in "abcd"}
    together = simultaneous(contrasts, clusters)
    widths = {round(each.high - each.low, 9) for each in together.values()}
    assert len(widths) == 1
    largest = max(
        clustered_mean(scores, clusters).high - clustered_mean(scores, clusters).low
        for scores in contrasts.values()
    )
    assert widths.pop() > largest


def test_the_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    random = np.random.default_rng(5)
    covered = 0
    for trial in range(200):
        sample = random.normal(size=60).tolist()
        found = clustered_mean(sample, [str(each) for each in range(60)], seed=trial, resamples=500)
        covered += found.low <= 0.0 <= found.high
    assert 180 <= covered <= 199


def test_a_ratio_of_sums_weighs_rows_by_their_size() -> None:
    assert ratio_of_sums([10.0, 90.0], [100.0, 100.0], ["a", "b"]).value == 0.5


def test_the_median_interval_holds_the_median() -> None:
    found = median_interval([1.0, 2.0, 3.0, 4.0, 100.0])
    assert found.low <= found.value == 3.0 <= found.high


def test_scores_and_clusters_must_be_as_many() -> None:
    with pytest.raises(ValueError, match="2 scores for 1 rows"):
        clustered_mean([1.0, 2.0], ["a"])


points = st.dictionaries(
    st.text(min_size=1, max_size=3), st.tuples(st.floats(0, 9), st.floats(0, 1)), min_size=1
)


@given(points)
def test_every_point_is_on_the_frontier_or_beaten_by_one_that_is(
    given_points: dict[str, tuple[float, float]],
) -> None:
    best = frontier(given_points)
    assert best
    for name, (cost, quality) in given_points.items():
        assert name in best or any(
            given_points[other][0] <= cost and given_points[other][1] >= quality for other in best
        )

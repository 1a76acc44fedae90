"""Verdicts on gains: better beyond chance, and at nobody's cost."""

from __future__ import annotations

import numpy as np

from codenib.learning.evaluate import Comparison, compare_recalls


def _compared(gains: list[float]) -> Comparison:
    table = np.full((len(gains), 2), 0.5)
    return compare_recalls(table, table + np.array(gains)[:, None])


def test_a_small_gain_that_chance_may_explain_is_not_better() -> None:
    compared = _compared([0.1] * 3 + [-0.1] + [0.0] * 96)
    assert compared.both.mean > 0
    assert not compared.is_better


def test_a_gain_beyond_chance_is_better() -> None:
    assert _compared([0.1] * 20 + [-0.1] + [0.0] * 79).is_better


def test_a_gain_of_files_that_costs_functions_is_not_better() -> None:
    table = np.full((100, 2), 0.5)
    gains = np.array([[0.2, -0.05]] * 20 + [[0.0, 0.0]] * 80)
    compared = compare_recalls(table, table + gains)
    assert compared.both.low > 0
    assert not compared.is_better

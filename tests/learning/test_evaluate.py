"""Verdicts on gains: what is proven here, and what was proven elsewhere and does no harm here."""

from __future__ import annotations

import numpy as np

from codenib.learning.evaluate import Comparison, compare_recalls


def _compared(gains: list[float]) -> Comparison:
    table = np.full((len(gains), 2), 0.5)
    return compare_recalls(table, table + np.array(gains)[:, None])


def test_a_small_gain_that_chance_may_explain_agrees_and_is_not_better() -> None:
    compared = _compared([0.1] * 3 + [-0.1] + [0.0] * 96)
    assert compared.agrees
    assert not compared.is_better


def test_a_gain_on_few_noisy_questions_does_not_agree() -> None:
    compared = _compared([0.5, -0.5] * 10 + [0.5] * 2)
    assert compared.both.mean > 0
    assert not compared.agrees


def test_nothing_and_a_loss_do_not_agree() -> None:
    assert not _compared([0.0] * 50).agrees
    assert not _compared([-0.1] + [0.0] * 99).agrees

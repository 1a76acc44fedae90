"""Models as files."""

from __future__ import annotations

import json

import numpy as np
import pytest

from codenib.core.errors import StateError
from codenib.serving.search.learned.features import FILE_COLUMNS, UNIT_COLUMNS
from codenib.serving.search.learned.model import read_model, shipped

FILE = {
    "format": 1,
    "about": {},
    "columns": [
        {"name": "base", "mean": 1.0, "spread": 2.0, "weight": 3.0},
        {"name": "test", "mean": 0.5, "spread": 0.5, "weight": -1.0},
    ],
}


def model(**changes: object) -> bytes:
    return json.dumps({**FILE, **changes}).encode()


def test_a_score_is_the_weighted_sum_of_standardised_values() -> None:
    scores = read_model(model(), ["base", "test"]).scores(np.array([[3.0, 0.0], [1.0, 1.0]], np.float32))
    assert scores.tolist() == [4.0, -1.0]


def test_what_is_missing_counts_as_the_mean() -> None:
    read = read_model(model(), ["base", "test"])
    missing, mean = read.scores(np.array([[np.nan, 0.5], [1.0, 0.5]], np.float32))
    assert missing == mean == 0.0


@pytest.mark.parametrize("data", [model(format=2), model(columns=[]), b"{", b"[]"])
def test_another_version_or_a_damaged_file_is_refused(data: bytes) -> None:
    with pytest.raises(StateError):
        read_model(data, ["base", "test"])


def test_the_shipped_models_are_for_the_columns_that_we_make() -> None:
    for name, columns in (("files", FILE_COLUMNS), ("units", UNIT_COLUMNS)):
        about = shipped(name, columns).about
        assert about["rows"]["mined"]["rows"] > 1000

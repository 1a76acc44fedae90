"""The order of units within and over files."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from codenib.serving.search.lexical import places_in_file


def test_a_unit_is_placed_behind_the_better_ones_of_its_file() -> None:
    files = np.array([0, 0, 1, 0, 1])
    values = np.array([1.0, 3.0, 2.0, 2.0, 5.0])
    assert places_in_file(files, values).tolist() == [2, 0, 1, 1, 0]


@given(st.lists(st.tuples(st.integers(0, 3), st.floats(0, 5)), max_size=40))
def test_places_count_from_zero_in_each_file_and_follow_the_values(rows: list[tuple[int, float]]) -> None:
    files = np.array([file for file, _ in rows], np.int64)
    values = np.array([value for _, value in rows], np.float64)
    places = places_in_file(files, values)
    for file in set(files.tolist()):
        mine = np.flatnonzero(files == file)
        assert sorted(places[mine].tolist()) == list(range(len(mine)))
        by_place = values[mine][np.argsort(places[mine])]
        assert all(left >= right for left, right in pairwise(by_place))

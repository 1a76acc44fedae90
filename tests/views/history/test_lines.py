from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from codenib.views.history.lines import hunks_between, join, step_back

TEXTS = st.lists(st.sampled_from("abcdefgh"), max_size=12)


def back(first: int, last: int, *hunks: tuple[int, int, int, int]) -> tuple[int, int, bool]:
    starts, ends, touched = step_back(np.array([first]), np.array([last]), np.array(hunks))
    return int(starts[0]), int(ends[0]), bool(touched[0])


@given(TEXTS, TEXTS)
def test_hunks_turn_the_old_text_into_the_new(old: list[str], new: list[str]) -> None:
    made, at = [], 0
    for old_start, old_count, new_start, new_count in hunks_between(old, new).tolist():
        begin = old_start - 1 if old_count else old_start
        made += old[at:begin]
        at = begin + old_count
        begin = new_start - 1 if new_count else new_start
        made += new[begin : begin + new_count]
    assert made + old[at:] == new


@given(TEXTS, TEXTS, st.integers(1, 12), st.integers(0, 11))
def test_an_untouched_range_has_the_same_text_before(
    old: list[str], new: list[str], first: int, size: int
) -> None:
    last = first + size
    if last > len(new):
        return
    start, end, touched = back(first, last, *map(tuple, hunks_between(old, new).tolist()))
    if not touched:
        assert old[start - 1 : end] == new[first - 1 : last]
    elif start <= end:
        assert 1 <= start <= end <= len(old)


def test_a_range_inside_an_addition_did_not_exist() -> None:
    assert back(5, 6, (3, 0, 4, 5)) == (1, 0, True)


def test_a_deletion_touches_only_what_it_lies_within() -> None:
    cut = (5, 2, 4, 0)  # two lines after line 4
    assert back(3, 5, cut) == (3, 7, True)
    assert back(5, 6, cut) == (7, 8, False)
    assert back(3, 4, cut) == (3, 4, False)


def test_an_empty_range_stays_empty() -> None:
    assert back(1, 0, (0, 0, 1, 3)) == (1, 0, False)


def test_joined_ranges_hold_both_and_empty_ones_add_nothing() -> None:
    starts, ends = join(np.array([3, 1, 2]), np.array([5, 0, 4]), np.array([4, 7, 1]), np.array([9, 8, 0]))
    assert (starts.tolist(), ends.tolist()) == ([3, 7, 2], [9, 8, 4])

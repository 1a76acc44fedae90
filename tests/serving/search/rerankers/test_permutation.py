"""Replies of language models as orders."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codenib.serving.search.rerankers.permutation import read_permutation


@pytest.mark.parametrize(
    "reply",
    [
        "[3] > [1] > [2]",
        "3 > 1 > 2",
        "[3, 1, 2]",
        "3, 1, 2.",
        "3\n1\n2",
        "1. [3]\n2. [1]\n3. [2]",
        "1. 3\n2. 1\n3. 2",
        "**[3]** best\n**[1]** next\n**[2]** last",
        '{"order": [3, 1, 2]}',
        "<think>[1] > [2] > [3]? No: 2 > 1 > 3.</think>[3] > [1] > [2]",
        "[1] loads, [2] saves and [3] parses.\n\nFinal order: [3] > [1] > [2]",
        "[3] > [3] > [9] > [1] > [0] > [2]",
        "[3] > [1]",
        "[3] >> [1] >> [2]",
        "[3] -> [1] -> [2]",
    ],
)
def test_an_order_is_read_however_it_is_written(reply: str) -> None:
    assert read_permutation(reply, 3) == [2, 0, 1]


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "I am sorry, I cannot do that.",
        "Here are 3 documents.",
        "[2]",
        "<think>[3] > [1] > [2]",
        "[7] > [8] > [9]",
        "99999999999999999999 > 88888888888888888888",
    ],
)
def test_a_reply_without_an_order_is_none(reply: str) -> None:
    assert read_permutation(reply, 3) is None


@given(order=st.integers(2, 30).flatmap(lambda total: st.permutations(range(total))))
def test_what_is_written_in_the_asked_form_is_read_back(order: list[int]) -> None:
    assert read_permutation(" > ".join(f"[{row + 1}]" for row in order), len(order)) == order


@given(reply=st.text(alphabet="[]0123456789>, .\nab", max_size=80), total=st.integers(1, 12))
def test_whatever_is_read_is_a_permutation(reply: str, total: int) -> None:
    order = read_permutation(reply, total)
    assert order is None or sorted(order) == list(range(total))

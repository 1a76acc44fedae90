"""What a person writes, read."""

from __future__ import annotations

import pytest

from codenib.core.errors import InputError
from codenib.serving.navigation.positions import WrittenPlace, nearest_line, parse_place


@pytest.mark.parametrize(
    ("written", "place"),
    [
        ("src/app.py:12", WrittenPlace("src/app.py", 12)),
        ("src/app.py:12:5", WrittenPlace("src/app.py", 12, 5)),
        ("src/app.py:12-14", WrittenPlace("src/app.py", 12, end_line=14)),
        (" shop.Cart.total ", WrittenPlace("shop.Cart.total")),
        ("std::vector", WrittenPlace("std::vector")),
        (":12", WrittenPlace(":12")),
    ],
)
def test_a_written_place_is_a_path_with_lines_or_a_symbol(written: str, place: WrittenPlace) -> None:
    assert parse_place(written) == place


def test_a_place_without_lines_means_all_of_them() -> None:
    assert parse_place("src/app.py").lines == (None, None)
    assert parse_place("src/app.py:3").lines == (3, 3)


def test_nothing_written_is_refused() -> None:
    with pytest.raises(InputError, match="no symbol"):
        parse_place("  ")


def test_the_nearest_line_has_the_whole_word_and_of_two_the_earlier() -> None:
    lines = ["total = 1", "subtotal = 2", "x", "print(total)"]
    assert nearest_line(lines, 2, "total") == 1
    assert nearest_line(lines, 3, "total") == 4
    assert nearest_line(lines, 1, "absent") is None

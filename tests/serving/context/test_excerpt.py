"""Lines that stand for a unit."""

from __future__ import annotations

from codenib.serving.context.excerpt import declared_as, matching_lines

LINES = [
    "",
    "def total(cart):",
    "    rate = 1",
    "    # nothing",
    "    price = cart.price",
    "    x",
    "    y",
    "    z",
]


def test_matching_lines_are_the_first_and_those_with_most_of_the_terms() -> None:
    assert matching_lines(LINES, ["price", "cart"], 3) == [1, 2, 4]
    assert matching_lines(LINES, [], 3) == [1, 2, 3]
    assert matching_lines(["only"], ["only"], 5) == [0]


def test_a_unit_is_declared_by_its_signature_or_its_first_line() -> None:
    assert declared_as("@cached\ndef total(\n    cart,\n):\n    pass\n", "Cart.total") == "def total(cart)"
    assert declared_as("\nSome prose.\nMore.\n", "") == "Some prose."

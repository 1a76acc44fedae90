"""Conditions of the preprocessor, as far as the platform decides them."""

from __future__ import annotations

import pytest

from codenib.navigation.cpp.inference.conditions import evaluate


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("0", False),
        ("defined(_WIN32) && X", False),
        ("defined _WIN32 || defined(__linux__)", True),
        ("!defined(_WIN32) && !defined(__APPLE__)", True),
        ("X", None),
        ("(defined(_WIN32))", None),
        ("__GNUC__ > 4", None),
        ("X || defined(_WIN32)", None),
    ],
)
def test_a_condition_holds_does_not_or_nobody_knows(condition: str, holds: bool | None) -> None:
    assert evaluate(condition) is holds

"""The error tree."""

from __future__ import annotations

from codenib.core.errors import InputError


def test_an_error_about_a_very_long_name_is_short_and_has_no_hint_that_repeats_it() -> None:
    error = InputError(f"nothing is called {'x' * 100_000!r}", hint=f"codenib symbols {'x' * 100_000}")

    assert error.message.startswith("nothing is called 'xxx")
    assert len(error.message) < 500
    assert error.hint == ""

"""Identifiers of code: all of a file, and those that begin at some places."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from codenib.navigation.identifiers import identifiers, identifiers_at

CODE = 'é = load()  # load\n"""load"""\nprint(é, "load", load.load)\n'


def test_names_in_comments_and_strings_are_none() -> None:
    places = {(1, 4), (1, 14), (2, 3), (3, 10), (3, 17), (3, 22)}
    assert identifiers_at(CODE.encode(), "python", places) == {(1, 4), (3, 17), (3, 22)}


def test_a_place_inside_a_name_or_outside_the_text_begins_none() -> None:
    assert identifiers_at(CODE.encode(), "python", {(1, 5), (0, 0), (9, 0), (1, 99)}) == set()


@given(st.text(st.sampled_from("ab_é('\"# =.\n1"), max_size=60))
def test_asking_at_all_places_gives_all_identifiers(text: str) -> None:
    places = {(line, at) for line, row in enumerate(text.split("\n"), 1) for at in range(len(row) + 1)}
    found = {(line, at) for line, at, _ in identifiers(text.encode(), "python")}
    assert identifiers_at(text.encode(), "python", places) == found

"""The code tokenizer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codenib.units.tokens import fold, hashes_of, hyphenated, joined, term_hash, terms_of, words_of


@pytest.mark.parametrize(
    ("word", "terms"),
    [
        ("getUserName", ("get", "user", "nam", "getusernam")),
        ("HTTPServer2", ("http", "server", "httpserver2")),
        ("__init__", ("init",)),
        ("snake_case_word", ("snak", "cas", "word", "snakecaseword")),
        ("utf8", ("utf", "utf8")),
        ("x", ()),
        ("größe_über", ("größ", "über", "größeüber")),
        ("404", ("404",)),
        ("1234567890", ()),
        ("a" * 65, ()),
    ],
)
def test_a_word_gives_its_parts_and_itself(word: str, terms: tuple[str, ...]) -> None:
    assert terms_of(word) == terms


@pytest.mark.parametrize("family", [("skip_lists", "SkipList", "skiplist"), ("FileName", "filename")])
def test_a_name_has_one_term_however_its_parts_are_joined(family: tuple[str, ...]) -> None:
    assert len({terms_of(word)[-1] for word in family}) == 1


def test_hyphens_join_words_of_which_one_says_nothing_alone() -> None:
    text = '<p v-if="x"> sign-in; i = len-offset; a->b; --dry-run, x-1, up-to-date'
    assert list(hyphenated(text)) == [("v", "if"), ("sign", "in")]
    assert joined("v", "if") == terms_of("vIf")[-1]


@pytest.mark.parametrize(
    "family", [("save", "saves", "saved", "saving"), ("query", "queries"), ("map", "mapped")]
)
def test_inflections_of_a_word_fold_together(family: tuple[str, ...]) -> None:
    assert len({fold(word) for word in family}) == 1


@pytest.mark.parametrize("word", ["class", "status", "string", "this", "bus", "axis"])
def test_words_that_only_look_inflected_stay(word: str) -> None:
    assert fold(word) == word


@given(st.text(max_size=80))
def test_every_word_of_a_text_is_found_whole_by_itself(text: str) -> None:
    for word in words_of(text):
        assert words_of(word) == [word]
        assert terms_of(word) == terms_of(word)
        assert hashes_of(word) == tuple(term_hash(term) for term in terms_of(word))


def test_term_names_are_stable_across_versions() -> None:
    assert hex(term_hash("session")) == "0xb5a5888da19ff824"

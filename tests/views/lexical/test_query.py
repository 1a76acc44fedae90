"""From an issue text to weighted terms."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codenib.views.lexical.query import query_terms


def weights(text: str) -> dict[str, float]:
    return {term.text: term.weight for term in query_terms(text)}


def test_stop_words_are_left_out_unless_there_is_nothing_else() -> None:
    assert set(weights("where is the session")) == {"session"}
    assert weights("what is this") != {}


def test_identifiers_weigh_more_than_words() -> None:
    found = weights("the parser calls read_config when asked")
    assert found["readconfig"] > found["parser"]


@pytest.mark.parametrize(
    ("question", "term"),
    [
        ("insert into the skip list", "skiplist"),
        ("where is v-if compiled", "vif"),
        ("go-to definition", "goto"),
        ("who is signed in", "signin"),
        ("users that are logged in", "loggedin"),
        ("the C++ parser", "cpp"),
    ],
)
def test_neighbouring_words_are_asked_for_as_one_word_too(question: str, term: str) -> None:
    assert term in weights(question)


def test_words_are_joined_neither_over_stop_words_nor_in_an_issue() -> None:
    assert set(weights("list of the sessions for a view")) == {"list", "session", "view"}
    assert "skiplist" not in weights("Skip list\n\nThe skip list fails.")


def test_the_title_weighs_more_than_the_body() -> None:
    found = weights("Login fails\n\nThe cookie is lost.")
    assert found["login"] > found["cooki"]


def test_templates_links_and_hashes_are_noise() -> None:
    found = weights(
        "Crash on start\n<!-- please search first -->\n### Steps to reproduce\n- [x] I read the manual\n"
        "see https://example.org/readme/page commit deadbeefdeadbeef\nthe widget explodes"
    )
    assert {"widget", "explod", "crash"} <= set(found)
    assert not {"search", "manual", "exampl", "deadbeefdeadbeef"} & set(found)


@given(st.text(max_size=300))
def test_any_text_gives_distinct_terms_of_positive_weight(text: str) -> None:
    terms = query_terms(text)
    assert len({term.text for term in terms}) == len(terms)
    assert all(term.weight > 0 for term in terms)

"""Coloured lines are the text, cut at line breaks and nowhere changed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codenib.adapters.ui.highlight import HighlightedFiles, highlight

LANGUAGES = [
    "python",
    "javascript",
    "typescript",
    "go",
    "rust",
    "cpp",
    "html",
    "markdown",
    "no such language",
    "",
]


@given(st.text(max_size=200), st.sampled_from(LANGUAGES))
def test_the_runs_of_a_text_are_the_text(text: str, language: str) -> None:
    lines = highlight(text, language)

    assert "\n".join("".join(run for _, run in line) for line in lines) == text


def test_keywords_names_and_strings_have_classes() -> None:
    (line,) = highlight('def save(x): return "a"', "python")

    assert [run for run in line if run[0]] == [
        ("k", "def"),
        ("f", "save"),
        ("n", "x"),
        ("k", "return"),
        ("s", '"a"'),
    ]


@pytest.mark.parametrize("language", ["python", ""])
def test_markup_in_source_stays_text(language: str) -> None:
    (line,) = highlight("<script>alert(1)</script>", language)

    assert "".join(run for _, run in line) == "<script>alert(1)</script>"


def test_the_files_looked_at_last_are_coloured_once() -> None:
    files = HighlightedFiles(most=2)
    first = files.lines("a = 1", "python")

    assert files.lines("a = 1", "python") is first
    files.lines("b", "python"), files.lines("c", "python")
    assert files.lines("a = 1", "python") is not first

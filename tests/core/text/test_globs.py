"""Path globs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codenib.core.text.globs import path_filter


@pytest.mark.parametrize(
    ("glob", "path", "accepted"),
    [
        ("*.py", "a/b/c.py", True),
        ("*.py", "a/b/c.pyi", False),
        ("src", "src/a.py", True),
        ("src/", "lib/src/a.py", True),
        ("src/*.py", "src/a.py", True),
        ("src/*.py", "src/a/b.py", False),
        ("src/**", "src/a/b.py", True),
        ("src/**/*.py", "src/b.py", True),
        ("/src/a.py", "src/a.py", True),
        ("./src", "src/a.py", True),
        ("*.{ts,tsx}", "x/y.tsx", True),
        ("[ab].c", "a.c", True),
        ("[!ab].c", "a.c", False),
        ("a?.c", "ab.c", True),
        ("a.c", "axc", False),
    ],
)
def test_globs_match_as_people_expect(glob: str, path: str, accepted: bool) -> None:
    accepts = path_filter([glob])
    assert accepts is not None
    assert accepts(path) is accepted


def test_exclusions_win_and_alone_they_exclude_from_everything() -> None:
    accepts = path_filter(["!tests"])
    assert accepts is not None
    assert accepts("src/a.py")
    assert not accepts("tests/a.py")


def test_no_globs_filter_nothing() -> None:
    assert path_filter([]) is None
    assert path_filter([""]) is None


@given(st.lists(st.text(max_size=12), max_size=4), st.text(max_size=20))
def test_any_glob_compiles(globs: list[str], path: str) -> None:
    accepts = path_filter(globs)
    assert accepts is None or accepts(path) in (True, False)

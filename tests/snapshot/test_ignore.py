"""gitignore patterns on paths that are on no disk."""

from __future__ import annotations

import pytest

from codenib.snapshot.ignore import ignored

PATHS = [
    "a.py",
    "d/a.py",
    "d/e/b.py",
    "x/d/c.py",
    "data.csv",
    "keep.csv",
    ":odd[1]*.py",
    "ü b.py",
    "o/p/q.js",
]


@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        ("", set()),
        ("# a comment\n\n", set()),
        ("a.py\n", {"a.py", "d/a.py"}),
        ("/a.py\n", {"a.py"}),
        ("d/\n", {"d/a.py", "d/e/b.py", "x/d/c.py"}),
        ("/d/\n", {"d/a.py", "d/e/b.py"}),
        ("a.py/\n", set()),
        ("*.csv\n!keep.csv\n", {"data.csv"}),
        ("/d/*\n!/d/e/\n", {"d/a.py"}),
        ("/d/\n!/d/a.py\n", {"d/a.py", "d/e/b.py"}),  # git: no way back from an excluded folder
        ("**/e/\no/**/q.js\n", {"d/e/b.py", "o/p/q.js"}),
        (":odd*\r\nü*\r\n", {":odd[1]*.py", "ü b.py"}),
        ("ü b.py", {"ü b.py"}),
    ],
)
def test_patterns_mean_what_they_mean_in_gitignore(patterns: str, expected: set[str]) -> None:
    assert ignored(patterns.encode(), PATHS) == expected


def test_thousands_of_paths_pass_through() -> None:
    paths = [f"some/longer/folder/name/{number}.py" for number in range(20_000)]
    assert ignored(b"*7.py\n", paths) == {path for path in paths if path.endswith("7.py")}

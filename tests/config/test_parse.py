"""What a `codenib.toml` says is checked: what is wrong is named with its file, line and the nearest key."""

from __future__ import annotations

import pytest

from codenib.config.keys import MAX_BYTES
from codenib.config.parse import MAX_LINE, parse_file
from codenib.core.errors import InputError


def values(text: str, *, repository: bool = True) -> dict[str, object]:
    found = parse_file(text.encode(), "codenib.toml", repository=repository)
    return {name: setting.value for name, setting in found.items()}


def test_tables_and_dotted_keys_are_the_same() -> None:
    tables = """
views = ["lexical", "dense"]
[search]
k = 5
budget = "fast"
[paths]
exclude = [
  "gen/**",
  "*.min.js",
]
[languages]
"*.inc" = "php"
"""
    dotted = (
        'views = ["lexical", "dense"]\nsearch.k = 5\nsearch.budget = "fast"\n'
        'paths.exclude = ["gen/**", "*.min.js"]\nlanguages."*.inc" = "php"\n'
    )
    assert (
        values(tables)
        == values(dotted)
        == {
            "views": ("lexical", "dense"),
            "search.k": 5,
            "search.budget": "fast",
            "paths.exclude": ("gen/**", "*.min.js"),
            "languages": (("*.inc", "php"),),
        }
    )


def test_a_value_knows_the_line_that_says_it() -> None:
    found = parse_file(b"# mine\n\n[search]\nk = 5\n", "codenib.toml", repository=True)
    assert found["search.k"].where == "codenib.toml:4"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("serach.k = 5", r"^codenib.toml:1: there is no key serach.k; the nearest is search.k$"),
        ("[search]\n\nkk = 5", r"^codenib.toml:3: there is no key search.kk; the nearest is search.k$"),
        ("max_tokens = 5", r"the nearest is (map|explore).max_tokens"),
        ("[nothing]", "there is no key nothing"),
        ("search = 5", "there is no key search"),
        ("a.b.c = 1", "there is no key a.b"),
        ("[search]\nk = 'ten'", r"^codenib.toml:2: search.k must be a whole number from 0 to 1,000,000, not"),
        ("search.k = -1", "a whole number from 0"),
        ("search.k = true", "a whole number from 0"),
        ("explore.max_tokens = 0", "from 1 to"),
        ("views = 'lexical'", "views must be a list of views"),
        ("views = ['lexicel']", "views must be a list of views"),
        ("views = []", "views must be a list of views"),
        ("search.tests = 'never'", "must be one of 'auto', 'include', 'exclude', 'lower'"),
        ("paths.exclude = [1]", "must be a list of path globs"),
        ("paths.exclude = ['!a']", "names no path"),
        ("[languages]\n'*.inc' = 'phq'", r"codenib.toml:1: .* is in no language .*; the nearest is php"),
        ("search.k = \n", r"codenib.toml is not TOML: .*line 1"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        values(text)


@pytest.mark.parametrize(
    "line",
    ["embedder = 'x'", "model = 'x'", "llm_url = 'http://x'", "search.reranker = 'llm:x'",
     "sandbox = 'off'", "background = 'on'", "toolbox = '/x'", "history_commits = 5",
     "repository_file = 'on'"],
)  # fmt: skip
def test_a_repository_decides_nothing_that_is_the_users(line: str) -> None:
    with pytest.raises(InputError, match=r"codenib.toml:1: .* can only be set in your own file"):
        values(line)
    assert len(values(line, repository=False)) == 1


@pytest.mark.parametrize("view", ["graph", "zoekt"])
def test_a_repository_asks_for_no_view_that_starts_outside_programs(view: str) -> None:
    with pytest.raises(InputError, match=f"codenib.toml:1: {view} starts outside programs"):
        values(f"views = ['lexical', '{view}']")
    assert values(f"views = ['lexical', '{view}']", repository=False) == {"views": ("lexical", view)}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("#" * (MAX_BYTES + 1), "larger than"),
        ("x" * (MAX_LINE + 1) + " = 1", "codenib.toml:1 is longer than"),
        ("views = [" + "[\n" * 9_000, "nested too deep"),
        ("views = " + "[{a=" * 240, "nested too deep"),
        ("\n".join(".".join("a" * 450) + f".b{line} = 1" for line in range(30)), "there is no key a.a"),
        ("search.k = " + "9" * 900, "a whole number from 0"),
        ("paths.exclude = ['" + "{a,b}" * 9 + "']", "codenib.toml:1: paths.exclude: .* stands for 512 globs"),
        ("paths.exclude = ['" + "a*/**/" * 150 + "']", "too many choices and wildcards"),
        ("paths.exclude = [\n" + "".join(f"'{n}*',\n" for n in range(150)) + "]", "too many choices"),
        ("[languages]\n" + "".join(f"'{n}*' = 'php'\n" for n in range(150)), "too many choices"),
    ],
)  # fmt: skip
def test_a_hostile_file_is_bounded(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        values(text)


def test_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(InputError, match=r"codenib.toml is not UTF-8"):
        parse_file(b"\xff\xfe", "codenib.toml", repository=True)

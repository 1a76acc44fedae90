"""The order of units within and over files."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.gitrepo import GitRepo

from codenib.core.views import ViewKind
from codenib.serving.search.lexical import FRONT, SPREAD, places_in_file, spread_values
from codenib.serving.workspace import Workspace


def test_a_unit_is_placed_behind_the_better_ones_of_its_file() -> None:
    files = np.array([0, 0, 1, 0, 1])
    values = np.array([1.0, 3.0, 2.0, 2.0, 5.0])
    assert places_in_file(files, values).tolist() == [2, 0, 1, 1, 0]


@given(st.lists(st.tuples(st.integers(0, 3), st.floats(0, 5)), max_size=40))
def test_places_count_from_zero_in_each_file_and_follow_the_values(rows: list[tuple[int, float]]) -> None:
    files = np.array([file for file, _ in rows], np.int64)
    values = np.array([value for _, value in rows], np.float64)
    places = places_in_file(files, values)
    for file in set(files.tolist()):
        mine = np.flatnonzero(files == file)
        assert sorted(places[mine].tolist()) == list(range(len(mine)))
        by_place = values[mine][np.argsort(places[mine])]
        assert all(left >= right for left, right in pairwise(by_place))


@pytest.mark.parametrize("files", [1, 3, 40, 4000], ids=lambda files: f"{files} files")
def test_the_best_spread_values_are_those_of_a_whole_sort(files: int) -> None:
    chance = np.random.default_rng(files)
    owners = np.sort(chance.integers(0, files, 5000))
    raw = np.round(chance.exponential(size=5000), 2)  # with ties
    whole = raw * SPREAD ** places_in_file(owners, raw)
    rows, few = spread_values(owners, raw, SPREAD, 10)
    best = np.partition(whole, -10)[-10]
    assert np.array_equal(rows[few >= best], np.flatnonzero(whole >= best))
    assert np.array_equal(few[few >= best], whole[whole >= best])


@pytest.mark.parametrize("route", ["lexical", "semantic", "hybrid"])
def test_tests_inside_of_a_source_file_are_lowered_and_can_be_excluded(
    git_repo: Callable[..., GitRepo], route: str
) -> None:
    """Rust keeps tests beside the code that they test: the mark is the unit's, not the file's."""
    repository = git_repo("parser")
    repository.commit(
        {
            "src/parse.rs": "pub fn parse_header(text: &str) -> u8 {\n    split(text)\n}\n\n"
            "#[cfg(test)]\nmod tests {\n    #[test]\n    fn parse_header_parse_header() {\n"
            '        parse_header("parse header");\n        parse_header("header");\n    }\n}\n'
        }
    )
    with Workspace(repository.path) as workspace:
        workspace.index((ViewKind.LEXICAL, ViewKind.DENSE))
        answers = workspace.search("parse the header", route=route).items
        assert [(item.symbol, item.marks) for item in answers[:2]] == [
            ("parse_header", ()),
            ("tests.parse_header_parse_header", ("test",)),
        ]
        without = workspace.search("parse the header", route=route, tests="exclude").items
        assert [item.symbol for item in without] == ["parse_header"]
        files = workspace.search("parse the header", route=route, level="file").items
        assert [(item.path, item.marks) for item in files] == [("src/parse.rs", ())]
        named = workspace.search("parse_header_parse_header", route=route).items
        assert named[0].symbol == "tests.parse_header_parse_header"


@pytest.mark.parametrize(
    ("query", "symbol"),
    [
        ("who is signed in", "sign_in"),
        ("skip list", "skiplist"),
        ("v-if", "compileBranch"),
        ("skip_list", "skiplist"),
    ],
)
def test_words_meet_names_that_write_them_as_one(
    git_repo: Callable[..., GitRepo], query: str, symbol: str
) -> None:
    repository = git_repo("words")
    repository.commit(
        {
            "a.js": "function sign_in() {\n  open();\n}\n\n"
            "function sign(signed) {\n  return signed.signing;\n}\n\n"
            "function skiplist() {\n  list();\n}\n\nfunction compileBranch() {\n  // v-if\n}\n",
        }
    )
    with Workspace(repository.path) as workspace:
        assert workspace.search(query, route="lexical").items[0].symbol == symbol


def test_the_first_places_show_other_files_and_the_next_ones_further_functions(
    git_repo: Callable[..., GitRepo],
) -> None:
    repository = git_repo("shop")
    many = "".join(f"def price_{n}(cart):\n    return cart.price + {n}\n\n\n" for n in range(8))
    others = {f"shop/part{n}.py": f"def total(cart):\n    return cart.price * {n}\n" for n in range(4)}
    repository.commit({"shop/prices.py": many, **others})
    with Workspace(repository.path) as workspace:
        workspace.index((ViewKind.LEXICAL,))
        answer = workspace.search("the price of a cart", route="lexical", k=10)
    paths = [item.path for item in answer.items]
    assert len(set(paths[:FRONT])) == FRONT
    assert paths[FRONT:].count("shop/prices.py") == 10 - FRONT
    scores = [item.score for item in answer.items]
    assert scores == sorted(scores, reverse=True)

"""Every question of the page equals the JSON of the command with that name (invariant 9)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from click.testing import CliRunner
from tests.adapters.ui.conftest import Visit, running_pages
from tests.gitrepo import GitRepo

from codenib.adapters.cli.main import cli
from codenib.adapters.ui.questions import QUESTIONS, SearchParameters, parse_parameters
from codenib.core.errors import InputError
from codenib.serving.workspace import Workspace

#: What differs from call to call, and says nothing of the answer.
_TIMES = (
    "seconds",
    "costs_ms",
    "refreshed",
    "expected_ms",
    "measured",
    "estimate_ms",
    "steps",
    "note",
    "words",
)

#: question → parameters of the page, words of the command line
ASKED: dict[str, tuple[dict[str, Any], list[str]]] = {
    "search": (
        {"query": "total price", "k": 3, "tests": "exclude", "paths": ["shop", "!*.md"], "explain": True},
        ["total price", "-k", "3", "--tests", "exclude", "--paths", "shop", "--paths", "!*.md", "--explain"],
    ),
    "plan": ({"query": "who calls convert"}, ["who calls convert"]),
    "regex": ({"pattern": r"def \w+", "k": 2, "context": 1}, [r"def \w+", "-k", "2", "--context", "1"]),
    "read": ({"place": "shop/cart.py:2-4"}, ["shop/cart.py:2-4"]),
    "units": ({"place": "shop/cart.py"}, ["shop/cart.py"]),
    "history": ({"place": "shop/cart.py:1-3"}, ["shop/cart.py:1-3"]),
    "blame": ({"place": "shop/cart.py"}, ["shop/cart.py"]),
    "explore": ({"query": "total price", "max_tokens": 900}, ["total price", "--max-tokens", "900"]),
    "map": ({"max_tokens": 300}, ["--max-tokens", "300"]),
    "overview": ({"folder": "shop", "k": 5}, ["shop", "-k", "5"]),
    "modules": ({"open": ["shop"], "tests": "include"}, ["--open", "shop", "--tests", "include"]),
    "updates": ({"k": 3}, ["-k", "3"]),
    "def": ({"where": "convert"}, ["convert"]),
    "refs": ({"where": "convert"}, ["convert"]),
    "callers": ({"where": "convert"}, ["convert"]),
    "callees": ({"where": "Cart.total_price"}, ["Cart.total_price"]),
    "deps": ({"where": "convert", "incoming": True}, ["convert", "--in"]),
    "graph": ({"where": "convert"}, ["convert"]),
    "path": ({"start": "Cart.total_price", "goal": "convert"}, ["Cart.total_price", "convert"]),
    "symbols": ({"query": "cart"}, ["cart"]),
    "outline": ({"place": "shop/cart.py"}, ["shop/cart.py"]),
    "status": ({}, []),
}


@pytest.fixture
def visit(shop: GitRepo, monkeypatch: pytest.MonkeyPatch) -> Iterator[Visit]:
    monkeypatch.setenv("CODENIB_BACKGROUND", "off")
    with Workspace(shop.path) as workspace:
        workspace.index()
    with running_pages(shop.path) as visit:
        visit.enter()
        yield visit


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _timeless(each) for name, each in value.items() if name not in _TIMES}
    return [_timeless(each) for each in value] if isinstance(value, list) else value


def test_every_question_answers_as_its_command(shop: GitRepo, visit: Visit) -> None:
    assert set(ASKED) == set(QUESTIONS)
    for question, (params, words) in ASKED.items():
        printed = CliRunner().invoke(
            cli, ["-C", str(shop.path), question, *words, "--json"], catch_exceptions=False
        )
        expected = json.loads(printed.stdout)
        answer = visit.ask("shop", question, **params)
        # A process that stays says more: what it would have asked, had it been there.
        assert answer.get("note", "").startswith(expected.get("note", ""))
        assert _timeless(answer) == _timeless(expected), question
        if question not in ("path", "history"):
            assert answer["items"], question


def test_a_search_of_the_page_has_the_same_reply_and_the_source_of_each_item(visit: Visit) -> None:
    params = {"query": "total price", "k": 4}
    drawn = visit.ask("shop", "page-search", **params)

    assert _timeless(drawn["reply"]) == _timeless(visit.ask("shop", "search", **params))
    assert len(drawn["excerpts"]) == len(drawn["reply"]["items"])
    for item, excerpt in zip(drawn["reply"]["items"], drawn["excerpts"], strict=True):
        text = visit.ask("shop", "read", place=item["path"])["items"][0]["text"].split("\n")
        lines = ["".join(run[1] for run in line) for line in excerpt["lines"]]
        assert lines == [text[number - 1] for number in excerpt["numbers"]]


def test_an_unknown_parameter_is_named() -> None:
    with pytest.raises(InputError, match="rerank"):
        parse_parameters(SearchParameters, [("query", "x"), ("rerank", "llm:anything")])

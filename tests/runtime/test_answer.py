"""Answers: found in what a model wrote, and held against the snapshot."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.gitrepo import GitRepo

from codenib.core.source import Span
from codenib.runtime.answer import AgentAnswer, AnswerLocation, Located, locate_answer, parse_answer
from codenib.runtime.query import compile_views
from codenib.runtime.views import Contexts, load_views

GOOD = '{"summary": "s", "locations": [{"path": "a.py", "start_line": 3, "end_line": 4}]}'


@pytest.fixture
def contexts(shop: GitRepo) -> Iterator[Contexts]:
    with load_views(compile_views(shop.path, set())) as opened:
        yield opened


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"Here: {GOOD}",
        f"```json\n{GOOD}\n```",
        f'First {{"locations": [{{"path": "old.py"}}]}} then {GOOD}',
        f"{{not json}} {GOOD} and {{more}}",
        GOOD.replace("3", '"3"'),
        GOOD.replace('"end_line": 4', '"end_line": 4, "symbol": null, "confidence": 0.5'),
    ],
)
def test_the_last_object_of_the_shape_is_the_answer(text: str) -> None:
    answer = parse_answer(text)
    assert answer is not None
    assert answer.locations == (AnswerLocation("a.py", 3, 4),)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "It is in a.py, line 3.",
        '{"summary": "s"}',
        '{"summary": "s", "locations": "a.py"}',
        '{"summary": "s", "locations": ["a.py"]}',
        '{"summary": "s", "locations": [{"start_line": 3}]}',
        '{"summary": "s", "locations": [{"path": "a.py", "start_line": "three"}]}',
        '{"summary": 3, "locations": []}',
        GOOD[:-1],
    ],
)
def test_what_has_not_the_shape_is_no_answer(text: str) -> None:
    assert parse_answer(text) is None


@given(st.text(alphabet='{}[]":,a1 \\\n', max_size=60).map(lambda text: text + GOOD))
def test_an_answer_behind_anything_is_found_or_part_of_it(text: str) -> None:
    answer = parse_answer(text)
    assert answer is None or answer.locations == (AnswerLocation("a.py", 3, 4),)


def test_nesting_without_end_is_no_answer() -> None:
    assert parse_answer('{"a":' * 3000) is None


def test_an_answer_may_commit_to_nothing() -> None:
    assert parse_answer('{"summary": "nowhere", "locations": []}') == AgentAnswer("nowhere", ())


def test_locations_are_held_against_the_snapshot(contexts: Contexts) -> None:
    answer = AgentAnswer(
        "s",
        (
            AnswerLocation("./shop/cart.py", 5, 900),
            AnswerLocation("shop/tax.py", 5, 4),
            AnswerLocation("shop/order.py", symbol="place_order()"),
            AnswerLocation(symbol="Cart.add"),
            AnswerLocation("shop/gone.py", 1, 2),
            AnswerLocation("shop/tax.py", 90, 91),
            AnswerLocation("shop/tax.py"),
            AnswerLocation("shop/tax.py", symbol="missing"),
            AnswerLocation("../x.py", 1, 2),
        ),
    )
    located = locate_answer(answer, contexts)
    assert located.spans == [
        Span("shop/cart.py", 5, 6),
        Span("shop/tax.py", 4, 5),
        Span("shop/order.py", 5, 6),
        Span("shop/cart.py", 2, 4),
    ]
    assert [line.partition(": ")[2] for line in located.unusable] == [
        "shop/gone.py is not a file of this snapshot; near: shop/order.py",
        "the file has 5 lines, not 90",
        "neither lines nor a symbol are given",
        "no missing in the file",
        "../x.py is outside the repository",
    ]


def test_overlapping_spans_count_once_in_the_order_given() -> None:
    located = Located(
        (
            AnswerLocation("a.py", 10, 20),
            AnswerLocation("a.py", 20, 30),
            AnswerLocation("b.py", 10, 20),
            AnswerLocation("a.py", 21, 25),
        )
    )
    assert located.spans == [Span("a.py", 10, 20), Span("b.py", 10, 20), Span("a.py", 21, 25)]

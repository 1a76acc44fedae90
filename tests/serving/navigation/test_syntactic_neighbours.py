"""Callers, callees, subtypes and imports by name, without an engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from tests.gitrepo import GitRepo

from codenib.core.answers import SnapshotRef
from codenib.core.errors import InputError
from codenib.core.symbols import GraphAnswer, Symbol, SymbolEdge
from codenib.core.views import ViewKind
from codenib.serving.navigation.syntactic_neighbours import append_named
from codenib.serving.workspace import Workspace

FILES = {
    "shop/__init__.py": "",
    "shop/cart.py": (
        '"""Cäsar counts: total( is no call here."""\n\n\n'
        "class Cart:\n    def total(self):\n        return add(1)\n\n\n"
        "class GiftCart(Cart):\n    rows: list[Cart]\n\n\n"
        "def add(price):\n    # total() is no call either\n    return price\n"
    ),
    "shop/page.py": (
        "from shop.cart import Cart, add\n\n\n"
        'def page(cart: Cart):\n    text = "Grüße: total()"; cart.total()\n    return add(2), text\n\n\n'
        "def outer():\n    def inner(cart):\n        return cart.total()\n    return inner\n"
    ),
    "tests/test_cart.py": "from shop.cart import Cart\n\n\ndef test_total():\n    assert Cart().total()\n",
    "web/cart.ts": "export class Box implements Cart {}\nexport function total() { return 1 }\n",
    "go/shop.go": (
        "package shop\n\ntype Base struct{}\n\ntype Shop struct {\n\tBase\n\tname string\n}\n\n"
        "type Other struct {\n\tbase Base\n}\n"
    ),
    "notes.md": "Call total() often.\n",
}


@pytest.fixture
def workspace(git_repo: Callable[..., GitRepo]) -> Iterator[Workspace]:
    repository = git_repo()
    repository.commit(FILES)
    with Workspace(repository.path) as opened:
        yield opened


def around(answer: GraphAnswer) -> list[str]:
    return [each.qualified for each in answer.symbols if each.depth]


def test_callers_are_the_functions_around_calls_sources_before_tests(workspace: Workspace) -> None:
    answer = workspace.neighbours("Cart.total", "callers")
    assert around(answer) == ["page", "outer.inner", "test_total"]
    assert [(edge.kind, edge.path, edge.line) for edge in answer.edges] == [
        ("call", "shop/page.py", 5),
        ("call", "shop/page.py", 11),
        ("call", "tests/test_cart.py", 5),
    ]
    assert (answer.backends, answer.total, answer.truncated) == ({}, 3, False)
    assert answer.note.startswith("by name: ")
    assert ViewKind.GRAPH not in workspace.status().views  # nothing was built for it
    first = workspace.neighbours("Cart.total", "callers", k=1)
    assert (around(first), first.total, first.truncated, len(first.edges)) == (["page"], 3, True, 1)
    assert "one step" in workspace.neighbours("Cart.total", "callers", depth=2).note


def test_a_place_means_the_name_that_stands_there(workspace: Workspace) -> None:
    assert around(workspace.neighbours("shop/page.py:6", "callers", name="add")) == ["Cart.total", "page"]


def test_callees_are_the_declarations_of_called_names(workspace: Workspace) -> None:
    assert around(workspace.neighbours("page", "callees")) == ["Cart.total", "add"]


def test_subtypes_have_the_name_among_their_bases(workspace: Workspace) -> None:
    answer = workspace.neighbours("Cart", "subtypes")
    assert [(each.qualified, each.kind) for each in answer.symbols if each.depth] == [("GiftCart", "class")]
    assert around(workspace.neighbours("go/shop.go:3", "subtypes", name="Base")) == ["Shop"]


def test_files_depend_by_their_imports(workspace: Workspace) -> None:
    assert around(workspace.neighbours("shop/cart.py", "dependents")) == [
        "shop/page.py",
        "tests/test_cart.py",
    ]
    assert around(workspace.neighbours("shop/page.py")) == ["shop/cart.py"]
    with pytest.raises(InputError, match="known to the graph alone"):
        workspace.neighbours("shop/page.py", "callers")


def test_who_uses_a_symbol_says_how(workspace: Workspace) -> None:
    answer = workspace.neighbours("Cart", "dependents")
    assert {edge.kind for edge in answer.edges} == {"import", "reference", "call"}
    called = workspace.neighbours("Cart", "dependents", kinds=["call"])
    assert around(called) == ["test_total"]


def symbol(number: int, name: str, line: int, depth: int = 1) -> Symbol:
    return Symbol(number, name, name, "function", "a.cpp", line, line + 2, depth=depth)


def answer(*symbols: Symbol) -> GraphAnswer:
    edges = tuple(SymbolEdge(each.id, 0, "call", each.path, each.line, 1) for each in symbols if each.depth)
    return GraphAnswer(symbols, edges, SnapshotRef("1", None, dirty=False), len(symbols) - 1, False, 0.0)


def test_overloads_are_added_by_name_beside_one_that_is_known() -> None:
    start = symbol(0, "size", 1, depth=0)
    known = answer(start, symbol(1, "reserve", 10))
    # The second is the one that is known, as syntax sees it.
    named = answer(start, symbol(1, "reserve", 20), symbol(2, "reserve", 11), symbol(3, "reserve", 30))
    found = append_named(known, named, k=10)
    assert [(each.line, each.scope) for each in found.symbols[1:]] == [(10, ""), (20, "name"), (30, "name")]
    assert found.total == 3
    assert {(edge.source, edge.line) for edge in found.edges} == {
        (1, 10),
        *((each.id, each.line) for each in found.symbols[2:]),
    }

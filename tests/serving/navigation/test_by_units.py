"""Declarations by name or file, from syntax alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.gitrepo import GitRepo

from codenib.core.errors import InputError
from codenib.serving.workspace import Workspace

FILES = {
    "shop/cart.py": (
        "class Cart:\n    def total(self):\n        return 1\n\n\ndef cart_of(user):\n    return Cart()\n"
    ),
    "shop/old_cart.py": "def make_cart():\n    return 2\n",
    "tests/test_cart.py": "def cart():\n    return 3\n",
    "data.bin": "\0\0",
    "README.md": "# Cart\n\nA shop.\n",
}


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    repository = GitRepo(tmp_path / "shop")
    repository.commit(FILES)
    with Workspace(repository.path) as opened:
        yield opened


def test_exact_names_come_first_then_beginnings_then_the_rest(workspace: Workspace) -> None:
    found = workspace.navigator.symbols("cart")
    assert [(each.path, each.qualified, each.kind) for each in found.symbols] == [
        ("shop/cart.py", "Cart", "class"),
        ("tests/test_cart.py", "cart", "function"),
        ("shop/cart.py", "cart_of", "function"),
        ("shop/old_cart.py", "make_cart", "function"),
    ]
    assert (found.total, found.truncated, found.backends) == (4, False, {})
    assert [each.qualified for each in workspace.navigator.symbols("cart", k=1).symbols] == ["Cart"]
    assert workspace.navigator.symbols("cart", k=1).truncated


def test_other_words_are_of_the_place(workspace: Workspace) -> None:
    assert [each.qualified for each in workspace.navigator.symbols("Cart.total").symbols] == ["Cart.total"]
    assert [each.qualified for each in workspace.navigator.symbols("old_cart.cart").symbols] == ["make_cart"]
    assert workspace.navigator.symbols("nothing.total").total == 0
    assert workspace.navigator.symbols("..").total == 0


def test_an_outline_has_the_depth_of_each_declaration(workspace: Workspace) -> None:
    shown = workspace.navigator.outline("shop/cart.py")
    assert [(each.qualified, each.depth, each.line) for each in shown.symbols] == [
        ("Cart", 0, 1),
        ("Cart.total", 1, 2),
        ("cart_of", 0, 6),
    ]


@pytest.mark.parametrize("path", ["data.bin", "README.md", "nowhere.py"])
def test_a_file_without_declarations_is_an_error_with_a_command(workspace: Workspace, path: str) -> None:
    with pytest.raises(InputError) as raised:
        workspace.navigator.outline(path)
    assert raised.value.hint

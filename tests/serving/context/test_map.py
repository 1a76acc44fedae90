"""A map shows what matters of a repository, within its budget."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.gitrepo import GitRepo

from codenib.core.errors import InputError
from codenib.serving.workspace import Workspace

FILES = {
    "shop/cart.py": "class Cart:\n    def add_item(self, item):\n        return check_item(item)\n",
    "shop/check.py": "def check_item(item):\n    return item\n\n\ndef rarely_used():\n    return 1\n",
    "shop/order.py": "def place_order(cart):\n    check_item(cart)\n    return check_item(cart)\n",
    "tests/test_cart.py": "def test_add_item():\n    check_item(1)\n",
}


@pytest.fixture
def shop(git_repo: Callable[..., GitRepo]) -> GitRepo:
    repository = git_repo("shop")
    repository.commit(FILES)
    return repository


def test_the_names_that_others_use_come_first(shop: GitRepo) -> None:
    with Workspace(shop.path) as workspace:
        drawn = workspace.map(max_tokens=40)
    assert drawn.ranked_by == ("names", "history")
    assert drawn.declarations[0].symbol == "check_item"
    assert "4 files: shop/ 3, tests/ 1" in drawn.text
    assert "1 def check_item(item)" in drawn.text
    assert "rarely_used" not in drawn.text
    assert drawn.omitted == drawn.total - len(drawn.declarations) > 0


def test_a_query_draws_its_own_map(shop: GitRepo) -> None:
    with Workspace(shop.path) as workspace:
        drawn = workspace.map(max_tokens=1000, query="place an order")
    assert drawn.ranked_by == ("names", "history", "query")
    assert drawn.total == len(drawn.declarations)
    assert "shop/\n  cart.py\n" in drawn.text
    order = [each.symbol for each in drawn.declarations]
    assert order.index("place_order") < order.index("test_add_item")


def test_a_maintained_map_equals_a_rebuilt_one(
    shop: GitRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Workspace(shop.path) as workspace:
        workspace.map()
        shop.write("shop/order.py", "def place_order(cart):\n    return rarely_used()\n")
        shop.remove("tests/test_cart.py")
        workspace.update()
        maintained = workspace.map()
    monkeypatch.setenv("CODENIB_HOME", str(tmp_path / "other"))
    with Workspace(shop.path) as workspace:
        rebuilt = workspace.map()
    assert maintained.text == rebuilt.text
    assert maintained.declarations == rebuilt.declarations


def test_a_map_without_room_is_empty(shop: GitRepo) -> None:
    with Workspace(shop.path) as workspace:
        assert (workspace.map(max_tokens=3).text, workspace.map(max_tokens=3).tokens) == ("", 0)
        with pytest.raises(InputError, match="0 tokens"):
            workspace.map(max_tokens=0)


def test_a_map_of_c_and_typescript_shows_what_is_exported(git_repo: Callable[..., GitRepo]) -> None:
    repository = git_repo("mixed")
    poll = "static int loop_poll(void) {\n  return 1;\n}\n"
    use = "loop_run(); loop_poll(); LOOP_STOP(x); createStore(); localHelper();\n"
    repository.commit(
        {
            "loop.h": "#define LOOP_STOP(h) \\\n  do { \\\n    stop(h); \\\n  } while (0)\n",
            "loop.c": f"{poll}\nint loop_run(void) {{\n  return loop_poll();\n}}\n",
            "store.ts": "function localHelper() {\n  return 1\n}\n\nexport function createStore() {}\n",
            **{f"use_{at}.c": f"void use_{at}(void) {{\n  {use}}}\n" for at in range(3)},
        }
    )
    with Workspace(repository.path) as workspace:
        drawn = workspace.map()
    order = [each.symbol for each in drawn]
    assert "LOOP_STOP" not in order
    assert set(order[:2]) == {"loop_run", "createStore"}
    assert set(order[2:4]) == {"loop_poll", "localHelper"}
    assert "do {" not in drawn.text

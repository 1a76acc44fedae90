"""The ordinary tools, over the snapshot."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.gitrepo import GitRepo

from codenib.runtime.context.messages import ToolCall
from codenib.runtime.query import compile_views
from codenib.runtime.tools.ordinary import GREP_MATCHES, LIST_ENTRIES, READ_LINES, ordinary_tools
from codenib.runtime.tools.registry import Observation
from codenib.runtime.views import Contexts, load_views

Use = Callable[..., Observation]


@pytest.fixture
def contexts(shop: GitRepo) -> Iterator[Contexts]:
    shop.commit({"shop/__init__.py": ""})
    shop.commit({"big/long.txt": "".join(f"line {number}\n" for number in range(1, 1001))})
    shop.commit({f"many/f{number:03}.txt": "x\n" for number in range(LIST_ENTRIES + 10)})
    with load_views(compile_views(shop.path, set())) as opened:
        yield opened


@pytest.fixture
def use(contexts: Contexts) -> Use:
    def use(name: str, **arguments: Any) -> Observation:
        return ordinary_tools(shell=True).dispatch(ToolCall("1", name, arguments), contexts)

    return use


def test_grep_gives_places_and_says_when_there_are_more(use: Use) -> None:
    found = use("grep", pattern=r"def total_\w+")
    assert found.text == "shop/cart.py:5: def total_price(self):"
    assert (found.provider, found.total, found.truncated) == ("trigram", 1, False)
    many = use("grep", pattern="line", paths=["big/**"])
    assert many.text.count("\n") == GREP_MATCHES
    assert many.text.endswith("[1000 matches in 1 files; narrow the pattern or paths]")
    assert use("grep", pattern="CART", ignore_case=True, paths=["shop/order.py"]).total == 3
    assert use("grep", pattern="nowhere_at_all").text == "No line matches."


def test_read_numbers_lines_and_says_how_to_go_on(use: Use) -> None:
    assert use("read", path="shop/tax.py", start_line=4, end_line=5).text == (
        "shop/tax.py:4-5 of 5 lines\n4\tdef with_tax(price):\n5\t    return price * (1 + RATE)"
    )
    long = use("read", path="big/long.txt")
    assert long.text.startswith(
        f"big/long.txt:1-{READ_LINES} of 1000 lines; go on with start_line=401\n1\tline 1\n"
    )
    assert long.truncated
    assert use("read", path="big/long.txt", start_line="990", end_line=5000).text.endswith("1000\tline 1000")


def test_read_takes_a_path_however_a_model_writes_it(use: Use, contexts: Contexts) -> None:
    texts = {
        use("read", path=path).text
        for path in ("shop/tax.py", "./shop/tax.py", "/shop/tax.py", f"{contexts.workspace.root}/shop/tax.py")
    }
    assert len(texts) == 1
    for path in ("../secret", "shop/../../secret", "/../x"):
        assert use("read", path=path).failed


def test_read_sees_the_snapshot_and_not_a_later_edit(use: Use, shop: GitRepo) -> None:
    before = use("read", path="shop/tax.py").text
    shop.write("shop/tax.py", "changed\n")
    assert use("read", path="shop/tax.py").text == before


def test_an_empty_file_is_said_to_be_so(use: Use) -> None:
    assert use("read", path="shop/__init__.py").text == "shop/__init__.py is empty"


def test_read_of_lines_that_are_none_fails(use: Use) -> None:
    assert use("read", path="shop/tax.py", start_line=5, end_line=2).failed
    assert (
        use("read", path="shop/tax.py", start_line=0).text == "read: 'start_line' must be at least 1, not 0"
    )


def test_list_shows_one_level_and_says_when_there_is_more(use: Use) -> None:
    root = use("list").text.split("\n")
    assert root == ["big/  (1 files)", f"many/  ({LIST_ENTRIES + 10} files)", "shop/  (4 files)", "README.md"]
    assert use("list", path="./shop/").text == "__init__.py\ncart.py\norder.py\ntax.py"
    assert use("list", path="many").text.endswith(f"[{LIST_ENTRIES + 10} entries; {LIST_ENTRIES} are shown]")
    assert use("list", path="nowhere").failed


def test_shell_runs_in_the_worktree_without_keys(use: Use, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "hidden-value")
    monkeypatch.setenv("DATABASE_URL", "postgres://user:hidden-value@host/db")
    monkeypatch.setenv("TZ", "Mars/Olympus")
    shown = use("shell", command="ls; env; exit 3")
    assert "README.md" in shown.text
    assert "Mars/Olympus" in shown.text
    assert "hidden-value" not in shown.text
    assert shown.text.endswith("[exit 3]")


def test_shell_is_not_there_unless_asked_for(contexts: Contexts) -> None:
    done = ordinary_tools().dispatch(ToolCall("1", "shell", {"command": "ls"}), contexts)
    assert done.text == "There is no tool 'shell'. Tools: grep, read, list."

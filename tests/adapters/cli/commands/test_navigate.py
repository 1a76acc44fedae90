"""Navigation as a user and a script see it: real processes, the real Python engine where it is installed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.adapters.cli.test_commands import Terminal
from tests.gitrepo import GitRepo

from codenib.manifest.home import tools_folder
from codenib.navigation.tools.locate import Toolbox

FILES = {
    "shop/cart.py": (
        "class Cart:\n    def total(self) -> int:\n        return 1\n\n\nclass GiftCart(Cart):\n    pass\n"
    ),
    "shop/page.py": (
        "from shop.cart import Cart\n\n\n"
        "def page(cart: Cart) -> int:\n"
        "    return cart.total()\n\n\n"
        "def front() -> int:\n"
        "    return page(Cart())\n"
    ),
    "shop/__init__.py": "",
    "notes.rb": "def helper\n  1\nend\n",
}


@pytest.fixture
def terminal(git_repo: Callable[..., GitRepo]) -> Terminal:
    repository = git_repo("shop")
    repository.commit(FILES)
    return Terminal(repository)


@pytest.fixture
def engine() -> None:
    if Toolbox(tools_folder()).find("basedpyright") is None:
        pytest.skip("basedpyright is not installed (codenib tools install python)")


@pytest.mark.usefixtures("engine")
def test_definitions_and_references_have_the_documented_shape(terminal: Terminal) -> None:
    answer = terminal.json("def", "shop/page.py:5:17", "--provider", "static")
    assert {"snapshot", "provider", "granularity", "total", "items"} <= answer.keys()
    assert (answer["provider"], answer["granularity"], answer["total"]) == ("static", "occurrence", 1)
    assert answer["items"] == [
        {
            "path": "shop/cart.py",
            "line": 2,
            "column": 8,
            "end_line": 2,
            "end_column": 13,
            "text": "    def total(self) -> int:",
            "scope": "project",
        }
    ]
    answer = terminal.json("refs", "Cart.total")
    assert [(each["path"], each["line"]) for each in answer["items"]] == [
        ("shop/cart.py", 2),
        ("shop/page.py", 5),
    ]
    shown = terminal.run("refs", "Cart.total", "--no-declaration")
    assert "shop/page.py:5:17: return cart.total()" in shown.stdout
    assert "static, basedpyright engine" in shown.stderr


@pytest.mark.usefixtures("engine")
def test_the_graph_commands_answer_from_the_real_engine(terminal: Terminal, tmp_path: Path) -> None:
    terminal.run("index", "--views", "graph")
    callers = terminal.json("callers", "page")
    assert [each["qualified"] for each in callers["items"]] == ["front"]
    callees = terminal.run("callees", "shop.page.page").stdout
    assert "Cart.total" in callees
    subtypes = terminal.json("deps", "Cart", "--subtypes")
    assert [each["qualified"] for each in subtypes["items"]] == ["GiftCart"]
    assert "Cart.total" in terminal.run("path", "front", "Cart.total").stdout
    assert "shop/cart.py:1" in terminal.run("symbols", "cart").stdout
    assert [each["qualified"] for each in terminal.json("outline", "shop/cart.py")["items"]] == [
        "Cart",
        "Cart.total",
        "GiftCart",
    ]
    drawing = tmp_path / "graph.svg"
    terminal.run("graph", "page", "--svg", str(drawing), "--html", str(tmp_path / "graph.html"))
    assert drawing.read_text().startswith("<svg")
    assert "Cart.total" in (tmp_path / "graph.html").read_text()
    status = terminal.run("status").stdout
    assert "python: basedpyright engine" in status


@pytest.mark.usefixtures("engine")
def test_static_equals_live_at_every_sampled_name(terminal: Terminal) -> None:
    found = terminal.json("compare-navigation", "-n", "15")
    assert found["definitions"]["match_rate"] == found["references"]["match_rate"] == 1.0
    assert found["definitions"]["n"] > 5
    assert found["items"] == []


@pytest.mark.usefixtures("engine")
def test_live_sees_an_edit_that_was_not_indexed(terminal: Terminal) -> None:
    terminal.repository.write("shop/page.py", "\n\n" + FILES["shop/page.py"])
    answer = terminal.json("def", "shop/page.py:7:17", "--provider", "live")
    assert answer["provider"] == "live"
    assert [(each["path"], each["line"]) for each in answer["items"]] == [("shop/cart.py", 2)]


def test_a_language_without_an_engine_is_answered_by_name(terminal: Terminal) -> None:
    answer = terminal.json("def", "notes.rb:1:5")
    assert (answer["provider"], answer["granularity"], answer["completeness"]) == (
        "syntactic",
        "name",
        "unknown",
    )
    assert [(each["path"], each["line"]) for each in answer["items"]] == [("notes.rb", 1)]


@pytest.mark.parametrize(
    ("args", "named"),
    [
        (("def", "absent.py:1:1"), "absent.py"),
        (("def", "notes.rb:99:1"), "99"),
        (("refs", "nothing_like_it_anywhere"), "nothing_like_it_anywhere"),
        (("deps", "notes.rb", "--kind", "sideways"), "sideways"),
        (("graph", "notes.rb"), "where to draw"),
        (("import-scip", "README"), "README"),
    ],
)
def test_bad_input_names_itself_and_the_command_that_helps(
    terminal: Terminal, args: tuple[str, ...], named: str
) -> None:
    done = terminal.run(*args, code=2)
    assert named in done.stderr
    assert "try: " in done.stderr


def test_uses_that_nobody_resolved_are_answered_by_name_and_never_called_none(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CODENIB_TOOLBOX", str(tmp_path / "no-tools"))
    done = terminal.run("callers", "front")
    assert "not known: no engine resolved uses here" in done.stderr
    answer = terminal.json("callers", "page")
    assert [(each["qualified"], each["line"]) for each in answer["items"]] == [("front", 8)]
    assert (answer["completeness"], answer["provider"]) == ("unknown", "syntactic")
    assert answer["note"].startswith("by name: no fresh graph")


#: What builds, maintains, ranks or draws: a question by name of an indexed repository needs none of it.
UNNEEDED = (
    *("codenib.compiler.checkouts", "codenib.compiler.engines", "codenib.compiler.stale_syntax"),
    *("codenib.compiler.verify", "codenib.core.history", "codenib.navigation.scip.imported"),
    *("codenib.planner.words", "codenib.serving.context", "codenib.serving.search.learned"),
    *("codenib.serving.search.lexical", "codenib.snapshot.history", "codenib.views.dense.store"),
    *("anyio", "concurrent.futures", "faiss", "mcp", "pygments", "regex", "rich", "starlette", "tree_sitter"),
)


def test_a_question_by_name_loads_nothing_that_builds_ranks_or_draws(terminal: Terminal) -> None:
    terminal.run("index", "--views", "lexical,trigram")
    code = (
        "import sys\nfrom codenib.__main__ import main\n"
        f"sys.argv = ['codenib', '-C', {str(terminal.repository.path)!r}, 'def', 'Cart']\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code\n"
        f"sys.stderr.write(str([name for name in {UNNEEDED!r} if name in sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "shop/cart.py:1" in done.stdout
    assert done.stderr.splitlines()[-1] == "[]"

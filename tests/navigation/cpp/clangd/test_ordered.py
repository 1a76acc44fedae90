"""The index that a live clangd starts from: made to its end, once, however busy the machine is."""

from __future__ import annotations

from math import inf
from pathlib import Path

import pytest

from codenib.manifest.home import tools_folder
from codenib.navigation.cpp.clangd.ordered import Allowance, IndexOrder, index_in_order
from codenib.navigation.cpp.compile_commands import CompileCommand, write_commands
from codenib.navigation.tools.locate import ExternalTool, Toolbox

FILES = {"one.c": "int one(void) { return 1; }\n", "two.c": "int two(void) { return 2; }\n"}


@pytest.fixture(scope="module")
def clangd() -> ExternalTool:
    tool = Toolbox(tools_folder()).find("clangd")
    if tool is None:
        pytest.skip("clangd is not installed (codenib tools install cpp)")
    return tool


@pytest.fixture
def order(tmp_path: Path) -> IndexOrder:
    root = tmp_path / "project"
    root.mkdir()
    for path, text in FILES.items():
        (root / path).write_text(text)
    commands = [CompileCommand(str(root / path), str(root), ("cc", str(root / path))) for path in FILES]
    (tmp_path / "work").mkdir()
    write_commands(commands, tmp_path / "work")
    return IndexOrder(root, commands, sorted(FILES))


def index(clangd: ExternalTool, order: IndexOrder, allowed: Allowance) -> set[str]:
    """The files that the index is of, after indexing as far as is allowed."""
    work = order.root.parent / "work"
    index_in_order(clangd, order, work, trusted=True, allowed=allowed)
    return {path.name.partition(".c.")[0] for path in (work / ".cache" / "clangd" / "index").glob("*.idx")}


def after(steps: int) -> Allowance:
    """Closed after so many files."""
    left = iter(range(steps))
    return Allowance(inf, lambda: next(left, None) is None)


def test_an_index_that_was_interrupted_is_begun_anew(clangd: ExternalTool, order: IndexOrder) -> None:
    assert index(clangd, order, after(0)) == {"one"}
    assert index(clangd, order, after(2)) == {"one", "two"}


def test_an_index_that_took_all_that_is_allowed_is_left_to_the_server(
    clangd: ExternalTool, order: IndexOrder
) -> None:
    assert index(clangd, order, Allowance(0.0, lambda: False)) == {"one"}
    assert index(clangd, order, Allowance(inf, lambda: False)) == {"one"}

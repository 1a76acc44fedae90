"""Notebooks in the graph of Python and before the live server: places of the file and of its cells."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.gitrepo import GitRepo
from tests.navigation.following import assert_as_rebuilt, indexed, need, updated_group

from codenib.core.updates import FOLLOWED
from codenib.serving.workspace import Workspace

pytestmark = pytest.mark.tools
MODEL = "def run(value, scale=1):\n    return value * scale\n"


def notebook(*cells: list[str], indent: int | None = 1) -> str:
    rows = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": cell} for cell in cells]
    return json.dumps({"cells": rows, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=indent)


USE = notebook(
    ["%matplotlib inline\n", "from model import run\n"],
    ["def twice(value):\n", '    """Of a "value"."""\n', "    return run(value, scale=2)"],
    ["twice(run(3))"],
)


@pytest.fixture
def project(tmp_path: Path) -> Iterator[tuple[GitRepo, Workspace]]:
    need("python")
    with indexed(tmp_path / "project", {"model.py": MODEL, "use.ipynb": USE}) as found:
        yield found


def test_what_a_notebook_uses_is_among_the_references_as_the_live_server_has_them(
    project: tuple[GitRepo, Workspace],
) -> None:
    _, workspace = project
    static = workspace.references("model.py:1", name="run", provider="static")
    assert static.completeness == "all"
    assert [each.cell for each in static.locations if each.path == "use.ipynb"] == [(1, 2), (2, 3), (3, 1)]
    assert all(each.text[each.column : each.end_column] == "run" for each in static.locations)
    live = workspace.references("model.py:1", name="run", provider="live")
    assert live.locations == static.locations
    line = next(each.line for each in static.locations if each.cell == (3, 1))
    for provider in ("static", "live"):
        found = workspace.definition(f"use.ipynb:{line}", name="twice", provider=provider)
        assert [(each.path, each.cell) for each in found.locations] == [("use.ipynb", (2, 1))]


def test_a_notebook_follows_edits_of_it_and_of_what_it_uses(project: tuple[GitRepo, Workspace]) -> None:
    repo, workspace = project
    repo.write("use.ipynb", USE.replace("twice", "double"))
    done = updated_group(workspace, "python")
    assert (done.how, [each.path for each in done.rederived]) == (FOLLOWED, ["use.ipynb"])
    repo.write("model.py", MODEL.replace("def run(value", "def run(what, value"))
    assert "use.ipynb" in [each.path for each in updated_group(workspace, "python").rederived]
    assert_as_rebuilt(workspace)


def test_a_notebook_whose_lines_cannot_be_told_apart_is_named_as_not_resolved(
    project: tuple[GitRepo, Workspace],
) -> None:
    repo, workspace = project
    repo.write("packed.ipynb", notebook(["from model import run\n", "run(1)"], indent=None))
    updated_group(workspace, "python")
    answer = workspace.references("model.py:1", name="run", provider="static")
    assert (answer.completeness, answer.unresolved) == ("partial", 1)
    assert {each.scope for each in answer.locations if each.path == "packed.ipynb"} == {"name"}
    assert_as_rebuilt(workspace)

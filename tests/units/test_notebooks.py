"""Notebooks by their cells."""

from __future__ import annotations

import json
from collections.abc import Callable

from tests.gitrepo import GitRepo
from tests.units.test_outline import units_of

from codenib.core.views import ViewKind
from codenib.serving.workspace import Workspace
from codenib.units.extract import extract
from codenib.units.notebooks import sources_only

PLOT = {"data": {"image/png": "iVBORw0KGgo" * 2000}, "output_type": "display_data"}
CELLS = [
    {"cell_type": "markdown", "metadata": {}, "source": ["# Load the data\n", "Reads the sales.\n"]},
    {"cell_type": "code", "outputs": [PLOT], "source": ["def load_sales(path):\n", "    return read(path)"]},
    {"cell_type": "code", "outputs": [], "source": []},
    {"cell_type": "code", "outputs": [], "source": "plot(load_sales('a'))"},
]
NOTEBOOK = json.dumps({"cells": CELLS, "metadata": {"cells": "none"}, "nbformat": 4}, indent=1) + "\n"


def line_of(text: str) -> int:
    return next(number for number, line in enumerate(NOTEBOOK.split("\n"), 1) if text in line)


def test_a_unit_is_the_source_of_a_cell_at_its_lines() -> None:
    first, second, third = line_of("# Load"), line_of("def load_sales"), line_of("plot(")
    assert [unit for unit in units_of(NOTEBOOK, "notebook") if "output" not in unit] == [
        f"{first}-{first + 1} cell cell 1: Load the data",
        f"{second}-{second + 1} cell cell 2",
        f"{third}-{third} cell cell 3",
    ]


def test_only_cells_are_text_and_lines_stay_where_they_are() -> None:
    text = sources_only(NOTEBOOK.encode()).decode().split("\n")
    assert len(text) == len(NOTEBOOK.split("\n"))
    assert text[line_of("def load_sales") - 1] == NOTEBOOK.split("\n")[line_of("def load_sales") - 1]
    assert not any("iVBOR" in line or "cell_type" in line for line in text)


def test_a_notebook_of_the_old_format_has_cells_too() -> None:
    old = {"worksheets": [{"cells": [{"cell_type": "code", "input": ["x = 1\n", "y = 2"]}]}]}
    assert [unit for unit in units_of(json.dumps(old, indent=1), "notebook") if "cell 1" in unit]


def test_json_that_is_no_notebook_is_cut_into_windows() -> None:
    assert units_of('{"a": ["cells"]}\n', "notebook") == ["1-1 window"]
    assert extract(b'{"cells": [}', "notebook").rows[-1].kind == "window"


def test_a_notebook_with_a_plot_is_found_by_its_code_and_not_by_the_plot(
    git_repo: Callable[..., GitRepo],
) -> None:
    repository = git_repo("notebook")
    repository.commit({"a.ipynb": NOTEBOOK})
    with Workspace(repository.path) as workspace:
        workspace.index((ViewKind.LEXICAL, ViewKind.TRIGRAM, ViewKind.DENSE))
        for route in ("lexical", "semantic"):
            items = workspace.search("load sales", route=route).items
            assert {item.kind for item in items} == {"cell"}
        match = workspace.regex("def load_").items[0]
        assert (match.line, match.text.strip()) == (line_of("def load"), '"def load_sales(path):\\n",')
        assert workspace.regex("iVBORw0").total == 0
        assert "iVBOR" in workspace.read("a.ipynb", line_of("iVBOR"), line_of("iVBOR")).text

"""The repository at a glance: what is known of each file, and which parts use which."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.gitrepo import GitRepo
from tests.serving.navigation.test_navigator import Backends

from codenib.core.requests import ModulesRequest, OverviewRequest
from codenib.core.views import ViewKind
from codenib.serving.workspace import Workspace

FILES = {
    "shop/load/read.py": "def read_cart(): pass\n",
    "shop/load/more.py": "def more(): read_cart()\n",
    "shop/show/page.py": "def page(): read_cart(); more()\n\n\n\n\n",
    "shop/util.py": "def helper(): page()\n",
    "shop/load/back.py": "def back(): page()\n",
    "tests/test_page.py": "def test_page(): page()\n",
    "README.md": "# Shop\n",
    "logo.png": "\0\1",
}
VIEWS = [ViewKind.LEXICAL, ViewKind.TRIGRAM, ViewKind.HISTORY]


@pytest.fixture
def repository(tmp_path: Path) -> GitRepo:
    made = GitRepo(tmp_path / "shop")
    made.commit(FILES)
    return made


def test_without_a_graph_uses_are_not_known_rather_than_none(repository: GitRepo) -> None:
    with Workspace(repository.path, find_backends=Backends()) as workspace:
        workspace.index(VIEWS)
        answer = workspace.explorer.overview(OverviewRequest())
        drawn = workspace.explorer.modules(ModulesRequest())

    assert answer.total == 7
    assert answer.unmeasured == 1
    assert {item.used for item in answer} == {None}
    assert all(item.commits == 1 for item in answer)
    assert "not known" in answer.note
    assert (drawn.uses, drawn.note) == ((), answer.note)


def test_what_is_not_listed_is_counted_by_folder(repository: GitRepo) -> None:
    with Workspace(repository.path, find_backends=Backends()) as workspace:
        workspace.index(VIEWS)
        answer = workspace.explorer.overview(OverviewRequest("shop", k=1))

    assert [item.path for item in answer] == ["shop/show/page.py"]
    assert (answer.total, answer.truncated) == (5, True)
    assert sum(rest.files for rest in answer.rest) == 4
    assert sum(rest.lines for rest in answer.rest) + answer.items[0].lines == answer.lines


def test_modules_count_uses_and_number_their_rings(repository: GitRepo) -> None:
    with Workspace(repository.path, find_backends=Backends()) as workspace:
        workspace.index([*VIEWS, ViewKind.GRAPH])
        folders = workspace.explorer.modules(ModulesRequest(opened=["shop"]))
        files = workspace.explorer.modules(ModulesRequest(opened=["shop", "shop/load", "shop/show"]))
        used = {item.path: item.used for item in workspace.explorer.overview(OverviewRequest())}

    uses = {(use.source, use.to): (use.often, use.mutual) for use in folders.uses}
    assert uses == {
        ("shop/show", "shop/load"): (2, True),
        ("shop/load", "shop/show"): (1, True),
        ("shop/util.py", "shop/show"): (1, False),
    }
    assert {item.path: item.cycle for item in folders} == {"shop/show": 1, "shop/load": 1, "shop/util.py": 0}
    assert folders.cycles == 1
    assert files.cycles == 0 or {item.path for item in files if item.cycle} <= {item.path for item in files}
    assert ("shop/load/back.py", "shop/show/page.py") in {(use.source, use.to) for use in files.uses}
    assert used["shop/show/page.py"] == 3  # a test, a helper and another file use it
    assert used["README.md"] is None


def test_after_an_edit_the_last_graph_counts_and_the_answer_says_so(repository: GitRepo) -> None:
    with Workspace(repository.path, find_backends=Backends()) as workspace:
        workspace.index([*VIEWS, ViewKind.GRAPH])
    repository.write("shop/util.py", "def helper(): page()\n# edited\n")
    with Workspace(repository.path, find_backends=Backends()) as workspace:
        answer = workspace.explorer.modules(ModulesRequest(opened=["shop"]))

    assert answer.uses
    assert answer.note == "uses are those of the last graph; 1 files changed since"

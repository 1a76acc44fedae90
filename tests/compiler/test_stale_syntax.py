from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.gitrepo import GitRepo
from tests.views.graph.toy import ToyBackend

from codenib.compiler.collect import collect
from codenib.core.views import ViewKind
from codenib.serving.workspace import Workspace

GRAPH = (ViewKind.GRAPH,)
GOOD = "def pier(): ...\n\npier()\n"


@pytest.fixture
def harbour(git_repo: Callable[..., GitRepo]) -> GitRepo:
    repo = git_repo()
    repo.commit({"a.py": "x = 1\n", "b.py": "def harbour(): ...\n"})
    return repo


def open_toy(repo: GitRepo) -> Workspace:
    return Workspace(repo.path, find_backends=lambda tools, languages: {"toy": [ToyBackend()]})


def stale_after(workspace: Workspace) -> list[str]:
    done = workspace.maintenance.graph_update(workspace.index(GRAPH))
    assert done is not None
    return done.stale


def test_the_readable_text_of_an_unfinished_file_survives_gc_and_a_new_process(harbour: GitRepo) -> None:
    with open_toy(harbour) as workspace:
        workspace.index(GRAPH)
        harbour.write("a.py", GOOD)  # never committed: only the local store has it
        assert stale_after(workspace) == []
        harbour.write("a.py", "def (\n" + GOOD)
        assert stale_after(workspace) == ["a.py"]
    collect(keep=1)
    with open_toy(harbour) as workspace:
        harbour.write("b.py", "def harbour(): ...\n\nharbour()\n")
        assert stale_after(workspace) == ["a.py"]
        found = workspace.references("a.py:2", name="pier", provider="static")
        assert [place.line for place in found.locations] == [2, 4]
        assert workspace.verify(GRAPH)[ViewKind.GRAPH] == []


def test_a_file_that_goes_or_is_taken_back_is_no_longer_stale(harbour: GitRepo) -> None:
    with open_toy(harbour) as workspace:
        workspace.index(GRAPH)
        for path in ("a.py", "b.py"):
            harbour.write(path, "def (\n")
        assert stale_after(workspace) == ["a.py", "b.py"]
        (harbour.path / "a.py").unlink()
        harbour.write("b.py", "def harbour(): ...\n")
        assert "parse" not in workspace.index(GRAPH).manifest.views[ViewKind.GRAPH].error
        assert workspace.verify(GRAPH)[ViewKind.GRAPH] == []


def test_a_switch_of_many_files_holds_none(harbour: GitRepo) -> None:
    names = [f"m{number}.py" for number in range(50)]
    harbour.commit(dict.fromkeys(names, "x = 1\n"))
    with open_toy(harbour) as workspace:
        workspace.index(GRAPH)
        for name in names:
            harbour.write(name, "x = (\n")
        assert stale_after(workspace) == []

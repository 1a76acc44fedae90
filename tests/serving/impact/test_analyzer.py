"""What a change reaches: from the graph, the tests' marks and the history; and what is not known."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from pathlib import Path

import pytest
from tests.gitrepo import GitRepo
from tests.views.graph.toy import ToyBackend

import codenib
from codenib.core.errors import InputError
from codenib.core.protocols import FactBackend
from codenib.core.symbols import ImpactAnswer, ImpactPart
from codenib.core.views import ViewKind
from codenib.navigation.tools.locate import Toolbox
from codenib.serving.workspace import Workspace

FILES = {
    "shop/load.py": "def load_cart(): pass\n",
    "shop/cart.py": "def show_cart(): load_cart()\n",
    "shop/page.py": "def page(): show_cart()\n",
    "checks/test_page.py": "def check_page(): page()\n",
    "README.md": "# Shop\n",
}


def toy(tools: Toolbox, languages: Set[str]) -> Mapping[str, Sequence[FactBackend]]:
    return {"toy": [ToyBackend()]}


@pytest.fixture
def repository(tmp_path: Path) -> GitRepo:
    repo = GitRepo(tmp_path / "shop")
    repo.commit(FILES)
    for number in range(3):
        edited = {path: f"{FILES[path]}# {number}\n" for path in ("shop/load.py", "shop/page.py")}
        repo.commit(edited)
        repo.commit({"README.md": f"# Shop {number}\n"})
    return repo


@pytest.fixture
def workspace(repository: GitRepo) -> Iterator[Workspace]:
    with Workspace(repository.path, find_backends=toy) as opened:
        yield opened


def reached(answer: ImpactAnswer, relation: str) -> list[tuple[str, str]]:
    return [(item.path, item.symbol) for item in answer if item.relation == relation]


def part(answer: ImpactAnswer, relation: str) -> ImpactPart:
    return next(each for each in answer.parts if each.relation == relation)


def test_dependents_tests_and_companions_of_a_symbol_come_from_the_graph_and_the_history(
    workspace: Workspace,
) -> None:
    workspace.index([ViewKind.GRAPH, ViewKind.HISTORY])
    answer = workspace.impact("load_cart")
    assert [each.qualified for each in answer.changed] == ["load_cart"]
    assert reached(answer, "dependent") == [("shop/cart.py", "show_cart")]
    assert reached(answer, "test") == [("checks/test_page.py", "check_page")]
    assert reached(answer, "companion") == [("shop/page.py", "")]
    assert (part(answer, "dependent").provider, part(answer, "companion").provider) == ("static", "git")
    assert part(answer, "companion").completeness == "all"
    assert part(answer, "test").completeness == "limited", "a framework may call what no test names"
    far = workspace.impact("load_cart", depth=2)
    assert reached(far, "dependent") == [("shop/cart.py", "show_cart"), ("shop/page.py", "page")]


def test_without_a_graph_dependents_are_by_name_and_their_completeness_is_unknown(
    workspace: Workspace,
) -> None:
    answer = workspace.impact("load_cart")
    assert reached(answer, "dependent") == [("shop/cart.py", "show_cart")]
    for relation in ("dependent", "test"):
        assert (part(answer, relation).provider, part(answer, relation).completeness) == (
            "syntactic",
            "unknown",
        )
    assert reached(answer, "test") == []


def test_edits_of_the_worktree_are_the_change_when_nothing_else_is_given(
    repository: GitRepo, workspace: Workspace
) -> None:
    repository.write("shop/cart.py", "def show_cart(): load_cart() + 1\n")
    answer = workspace.impact()
    assert [(each.path, each.qualified) for each in answer.changed] == [("shop/cart.py", "show_cart")]
    assert ("shop/page.py", "page") in reached(answer, "dependent")


@pytest.mark.parametrize("applied", [True, False], ids=["applied", "not yet applied"])
def test_a_diff_means_the_same_before_and_after_it_is_applied(
    repository: GitRepo, workspace: Workspace, applied: bool
) -> None:
    repository.write("shop/cart.py", "def show_cart(): load_cart() + 1\n")
    diff = repository.git("diff")
    if not applied:
        repository.git("checkout", "shop/cart.py")
    answer = workspace.impact(diff=f"{diff}\n")
    assert [each.qualified for each in answer.changed] == ["show_cart"]
    assert ("shop/page.py", "page") in reached(answer, "dependent")


def test_a_diff_of_other_files_says_that_it_fits_nowhere(workspace: Workspace) -> None:
    diff = "--- a/shop/cart.py\n+++ b/shop/cart.py\n@@ -1,1 +1,1 @@\n-def other():\n+def another():\n"
    answer = workspace.impact(diff=diff)
    assert "neither before nor after" in answer.note
    assert [each.qualified for each in answer.changed] == ["show_cart"]


def test_uses_of_what_was_removed_are_named_and_labelled_as_by_name(
    repository: GitRepo, workspace: Workspace
) -> None:
    workspace.index([ViewKind.GRAPH])
    repository.write("shop/load.py", "def fetch_cart(): pass\n")
    answer = workspace.impact()
    gone = [each for each in answer.changed if each.kind.startswith("removed")]
    assert [each.qualified for each in gone] == ["load_cart"]
    (use,) = [item for item in answer if item.of == "load_cart"]
    assert (use.path, use.line, use.text.strip()) == ("shop/cart.py", 1, "def show_cart(): load_cart()")
    assert part(answer, "dependent").completeness == "unknown"


def test_prose_is_no_code_and_nothing_is_claimed_of_it(repository: GitRepo, workspace: Workspace) -> None:
    repository.write("README.md", "# Another shop\n")
    answer = workspace.impact()
    assert not answer.changed
    assert "README.md" in answer.note
    assert part(answer, "dependent").completeness == "unknown"


def test_a_folder_without_git_has_no_edits_and_no_companions(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def one():\n    pass\n")
    with codenib.open(tmp_path) as workspace:
        with pytest.raises(InputError, match="git"):
            workspace.impact()
        assert part(workspace.impact("one"), "companion").completeness == "unknown"


def test_two_kinds_of_change_at_once_are_refused(workspace: Workspace) -> None:
    with pytest.raises(InputError, match="one of them"):
        workspace.impact("load_cart", since="HEAD")


def test_a_name_with_several_meanings_is_taken_as_a_change_of_each(
    repository: GitRepo, workspace: Workspace
) -> None:
    repository.write("shop/other.py", "def load_cart(): pass\n")
    answer = workspace.impact("load_cart")
    assert {each.path for each in answer.changed} == {"shop/load.py", "shop/other.py"}
    assert "2 declarations have this name" in answer.note
    assert ("shop/cart.py", "show_cart") in reached(answer, "dependent")


def test_a_clean_worktree_has_no_consequences_and_says_why(workspace: Workspace) -> None:
    answer = workspace.impact()
    assert not answer.changed
    assert "nothing is different from HEAD" in answer.note
    assert {each.completeness for each in answer.parts} == {"all"}

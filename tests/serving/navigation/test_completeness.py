"""What an answer of the graph claims: everything only where every file was resolved."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from pathlib import Path

import pytest
from tests.gitrepo import GitRepo
from tests.serving.navigation.test_navigator import Backends
from tests.views.graph.toy import ToyBackend

from codenib.core.facts import BY_NAME
from codenib.core.protocols import FactBackend
from codenib.core.requests import NeighboursRequest
from codenib.navigation.tools.locate import Toolbox
from codenib.serving.workspace import Workspace

FILES = {
    "shop/load.py": "def load_cart\n",
    "shop/cart.py": "def show_cart load_cart\n",
    "tests/cart.py": "def check_cart load_cart\n",
}
Open = Callable[[dict[str, str]], Workspace]


@pytest.fixture
def opened(tmp_path: Path) -> Open:
    def open_files(files: dict[str, str]) -> Workspace:
        repository = GitRepo(tmp_path / "shop")
        repository.commit(files)
        return Workspace(repository.path, find_backends=Backends())

    return open_files


def test_places_say_how_their_files_were_read(opened: Open) -> None:
    with opened(FILES) as workspace:
        answer = workspace.references("load_cart", provider="static")
        assert [(each.path, each.scope) for each in answer] == [
            ("shop/cart.py", "project"),
            ("shop/load.py", "project"),
            ("tests/cart.py", "loose"),
        ]
        assert (answer.completeness, answer.unresolved) == ("all", 0)
        assert answer.note == "1 in files that no project includes"
        users = workspace.navigator.neighbours(NeighboursRequest("load_cart", "dependents"))
        assert {each.name: each.scope for each in users if each.depth} == {
            "show_cart": "project",
            "check_cart": "loose",
        }
        assert (users.completeness, users.note) == ("all", "1 in files that no project includes")


def test_files_without_facts_are_counted_and_the_same_name_in_them_is_labelled(opened: Open) -> None:
    with opened({**FILES, "shop/fast.pyx": "load_cart\n"}) as workspace:
        answer = workspace.references("load_cart", provider="static")
        assert (answer.completeness, answer.unresolved, answer.total) == ("partial", 1, 4)
        assert [(each.path, each.line, each.scope) for each in answer][-1] == ("shop/fast.pyx", 1, "name")
        assert answer.note == (
            "1 file not resolved: shop/fast.pyx; 1 in files that no project includes, 1 by name"
        )
        limited = workspace.references("load_cart", provider="static", limit=3)
        assert (len(limited), limited.total) == (3, 4)
        users = workspace.navigator.neighbours(NeighboursRequest("load_cart", "dependents"))
        assert (users.completeness, users.unresolved) == ("partial", 1)
        assert [(each.path, each.scope) for each in users if each.depth][-1] == ("shop/fast.pyx", "name")
        assert users.note.endswith("1 in files that no project includes, 1 by name")
        found = workspace.definition("load_cart", provider="static")
        assert (found.completeness, found.unresolved) == ("all", 0)


def test_a_file_without_facts_falls_to_names_and_not_to_what_is_around(opened: Open) -> None:
    with opened({**FILES, "shop/fast.pyx": "load_cart\n"}) as workspace:
        workspace.references("load_cart", provider="static")
        answer = workspace.references("shop/fast.pyx:1:1")
        assert (answer.provider, answer.granularity, answer.completeness) == ("syntactic", "name", "unknown")
        assert {each.path for each in answer} == {*FILES, "shop/fast.pyx"}


def test_what_an_import_without_a_package_hides_is_by_name(opened: Open) -> None:
    far = "def fetch load_cart\n# load_cart\nagain(load_cart(1))\n"
    with opened({**FILES, "far/far.py": far}) as workspace:
        answer = workspace.references("load_cart", provider="static")
        assert [(each.line, each.scope) for each in answer if each.path == "far/far.py"] == [
            (1, "partial"),
            (2, "name"),
            (3, "name"),
        ]
        assert (answer.completeness, answer.unresolved) == ("partial", 1)
        assert answer.note.startswith("1 file with imports that lead to no package: far/far.py; ")
        callers = workspace.navigator.neighbours(NeighboursRequest("load_cart", "callers"))
        assert [(each.path, each.line, each.scope) for each in callers if each.depth] == [
            ("far/far.py", 1, "name")
        ]
        assert (callers.completeness, callers.unresolved, callers.total) == ("partial", 1, 1)
        edges = [(each.kind, each.path, each.line) for each in callers.edges]
        assert edges == [("call", "far/far.py", 3)]


def test_uses_through_values_of_unknown_types_are_by_name_with_who_has_them(opened: Open) -> None:
    check = "def check(): any.load_cart(1); any.load_cart(2)\n"
    loose = f"{check}def keep(): any.load_cart\nany.x # load_cart('load_cart')\n"
    with opened({**FILES, "shop/loose.py": loose}) as workspace:
        answer = workspace.references("load_cart", provider="static")
        named = [(each.path, each.line, each.column) for each in answer.locations if each.scope == BY_NAME]
        assert named == [("shop/loose.py", 1, 17), ("shop/loose.py", 1, 35), ("shop/loose.py", 2, 16)]
        assert answer.completeness == "partial"
        assert answer.note.endswith("3 where the type of what has the name is not known")
        callers = workspace.navigator.neighbours(NeighboursRequest("load_cart", "callers"))
        assert (callers.completeness, callers.unknown) == ("partial", 3)
        assert [each.qualified for each in callers.symbols if each.scope == BY_NAME] == ["check"]
        assert [(edge.kind, edge.line, edge.often) for edge in callers.edges[-1:]] == [("call", 1, 2)]
        users = workspace.navigator.neighbours(NeighboursRequest("load_cart", "dependents"))
        assert [each.qualified for each in users.symbols if each.scope == BY_NAME] == ["check", "keep"]


def test_what_is_outside_the_repository_may_be_used_through_unknown_types_too(opened: Open) -> None:
    with opened({**FILES, "shop/loose.py": "far\nany.far(1)\n"}) as workspace:
        answer = workspace.references("shop/loose.py:1", provider="static")
        assert (answer.asked, answer.completeness) == ("unknown.far", "partial")
        assert [(each.line, each.column, each.scope == BY_NAME) for each in answer.locations] == [
            (1, 0, False),
            (2, 4, True),
        ]


class RubyToy(ToyBackend):
    """The same for another language."""

    group = "other"
    languages = frozenset({"ruby"})


def test_a_name_that_two_languages_declare_is_claimed_for_both(tmp_path: Path) -> None:
    repository = GitRepo(tmp_path / "shop")
    repository.commit({**FILES, "bin/load.rb": "def load_cart\n", "far/run.rb": "def run\n"})

    def find_backends(tools: Toolbox, languages: Set[str]) -> Mapping[str, Sequence[FactBackend]]:
        return {"toy": [ToyBackend()], "other": [RubyToy()]}

    with Workspace(repository.path, find_backends=find_backends) as workspace:
        answer = workspace.references("load_cart", provider="static")
        assert [each.path for each in answer] == [
            "bin/load.rb",
            "shop/cart.py",
            "shop/load.py",
            "tests/cart.py",
        ]
        assert (answer.completeness, answer.unresolved) == ("partial", 1)
        assert "1 file with imports that lead to no package: far/run.rb" in answer.note
        assert answer.position.path == "shop/load.py"

"""What the last graph answers for files that changed since."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.gitrepo import GitRepo
from tests.serving.navigation.test_navigator import Backends, places

from codenib.core.views import ViewKind
from codenib.serving.navigation.lag import LineShift
from codenib.serving.workspace import Workspace
from codenib.views.history.lines import hunks_between

FILES = {
    "shop/load.py": "def load_cart(): pass\n",
    "shop/cart.py": "def show_cart(): load_cart()\n",
    "shop/page.py": "def page(): show_cart(); load_cart()\n",
    "README.md": "# Shop\n",
}
texts = st.lists(st.sampled_from("abcde"), max_size=12)


@given(texts, texts)
def test_a_shifted_line_has_the_same_text(old: list[str], new: list[str]) -> None:
    shift = LineShift(hunks_between(old, new))
    for line in range(1, len(old) + 1):
        now = shift.line_now(line)
        if now is not None:
            assert old[line - 1] == new[now - 1]
            assert shift.line_before(now) == line
    changed = sum(shift.line_now(line) is None for line in range(1, len(old) + 1))
    added = sum(shift.line_before(line) is None for line in range(1, len(new) + 1))
    assert len(old) - changed == len(new) - added


@pytest.fixture
def repository(tmp_path: Path) -> GitRepo:
    made = GitRepo(tmp_path / "shop")
    made.commit(FILES)
    return made


@pytest.fixture
def backends() -> Backends:
    return Backends()


@pytest.fixture
def edited(repository: GitRepo, backends: Backends) -> Iterator[Workspace]:
    """A workspace whose graph is two files behind: one has a new line above, the other another use."""
    with Workspace(repository.path, find_backends=backends) as first:
        first.index([ViewKind.LEXICAL, ViewKind.TRIGRAM, ViewKind.GRAPH])
    repository.write("shop/cart.py", "\ndef show_cart(): load_cart()\n")
    repository.write("shop/new.py", "def fresh():\n    load_cart()\n")
    with Workspace(repository.path, find_backends=backends) as later:
        yield later


def test_known_places_move_with_their_lines_and_new_lines_are_by_name(
    edited: Workspace, backends: Backends
) -> None:
    answer = edited.references("shop/load.py:1:5")
    assert answer.provider == "static"
    assert places(answer) == [
        ("shop/cart.py", 2, 17),
        ("shop/load.py", 1, 4),
        ("shop/new.py", 2, 4),
        ("shop/page.py", 1, 25),
    ]
    assert answer.completeness == "partial"
    assert answer.behind == ("shop/cart.py", "shop/new.py")
    assert "2 files behind" in answer.note
    assert backends.toy.runs == 1


def test_a_graph_of_the_same_code_claims_no_more_than_it_did(repository: GitRepo, backends: Backends) -> None:
    repository.commit({"shop/fast.pyx": "load_cart()\n"})
    with Workspace(repository.path, find_backends=backends) as first:
        first.index([ViewKind.LEXICAL, ViewKind.TRIGRAM, ViewKind.GRAPH])
        before = first.references("load_cart")
    repository.write("README.md", "# The shop\n")
    with Workspace(repository.path, find_backends=backends) as later:
        answer = later.references("load_cart")
    assert (before.completeness, before.unresolved) == ("partial", 1)
    assert (places(answer), answer.completeness) == (places(before), "partial")
    assert answer.note == before.note
    assert backends.toy.runs == 1


def test_a_definition_of_a_moved_use_is_known(edited: Workspace) -> None:
    answer = edited.definition("shop/cart.py:2:18")
    assert (answer.provider, places(answer)) == ("static", [("shop/load.py", 1, 4)])


def test_what_is_new_to_the_graph_is_answered_by_name(edited: Workspace) -> None:
    answer = edited.references("fresh")
    assert (answer.provider, places(answer)) == ("syntactic", [("shop/new.py", 1, 4)])
    assert "no fresh graph" in answer.note


def test_neighbours_are_those_of_the_graph_and_new_uses_by_name(edited: Workspace) -> None:
    answer = edited.neighbours("load_cart", "dependents")
    assert [(each.path, each.line, each.name) for each in answer.symbols if each.depth] == [
        ("shop/cart.py", 2, "show_cart"),
        ("shop/page.py", 1, "page"),
        ("shop/new.py", 1, "fresh"),
    ]
    assert answer.behind == ("shop/cart.py", "shop/new.py")
    assert answer.total == 3
    named = {each.id: each.name for each in answer.symbols}
    assert {(named[edge.source], named[edge.to], edge.path) for edge in answer.edges} >= {
        ("fresh", "load_cart", "shop/new.py")
    }


def test_a_second_question_has_the_same_graph(edited: Workspace) -> None:
    first = edited.neighbours("load_cart", "dependents")  # publishes the text views of the files as they are
    again = edited.neighbours("load_cart", "dependents")
    assert (again.symbols, again.behind) == (first.symbols, first.behind)
    assert edited.definition("shop/cart.py:2:18").provider == "static"


def test_a_chain_is_that_of_the_last_graph(edited: Workspace) -> None:
    chain = edited.navigator.path("page", "load_cart")
    assert [each.name for each in chain.symbols] == ["page", "load_cart"]
    assert chain.behind


def test_prose_leaves_the_graph_as_good_as_fresh(repository: GitRepo, backends: Backends) -> None:
    with Workspace(repository.path, find_backends=backends) as first:
        first.index([ViewKind.LEXICAL, ViewKind.TRIGRAM, ViewKind.GRAPH])
    repository.write("README.md", "# Another\n")
    with Workspace(repository.path, find_backends=backends) as later:
        answer = later.references("shop/load.py:1:5")
    assert (answer.provider, answer.completeness, answer.behind) == ("static", "all", ())


def test_files_that_went_are_left_out(repository: GitRepo, backends: Backends) -> None:
    with Workspace(repository.path, find_backends=backends) as first:
        first.index([ViewKind.LEXICAL, ViewKind.TRIGRAM, ViewKind.GRAPH])
    (repository.path / "shop/page.py").unlink()
    with Workspace(repository.path, find_backends=backends) as later:
        assert {path for path, _, _ in places(later.references("shop/load.py:1:5"))} == {
            "shop/cart.py",
            "shop/load.py",
        }
        users = later.neighbours("load_cart", "dependents")
        assert [each.path for each in users.symbols if each.depth] == ["shop/cart.py"]

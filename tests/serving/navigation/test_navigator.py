"""What navigation answers, who answers, and what it says when it cannot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from pathlib import Path

import pytest
from tests.gitrepo import GitRepo
from tests.views.graph.toy import ToyBackend

from codenib.core.errors import InputError, StateError
from codenib.core.navigation import Position
from codenib.core.protocols import FactBackend
from codenib.core.symbols import NavigationAnswer
from codenib.core.views import Status, ViewKind
from codenib.navigation.tools.locate import Toolbox
from codenib.serving.workspace import Workspace

FILES = {
    "shop/load.py": "def load_cart\n",
    "shop/cart.py": "def show_cart load_cart\n",
    "shop/page.py": "def page show_cart load_cart\n",
    "README.md": "# Shop\n",
    "bin/run.rb": "def helper\n  1\nend\n",
}


class Backends:
    """The toy engine as the only backend."""

    def __init__(self) -> None:
        self.toy = ToyBackend()

    def __call__(self, tools: Toolbox, languages: Set[str]) -> Mapping[str, Sequence[FactBackend]]:
        return {"toy": [self.toy]}


@pytest.fixture
def backends() -> Backends:
    return Backends()


@pytest.fixture
def repository(tmp_path: Path) -> GitRepo:
    made = GitRepo(tmp_path / "shop")
    made.commit(FILES)
    return made


@pytest.fixture
def workspace(repository: GitRepo, backends: Backends) -> Iterator[Workspace]:
    with Workspace(repository.path, find_backends=backends) as opened:
        yield opened


def places(answer: NavigationAnswer) -> list[tuple[str, int, int]]:
    return [(each.path, each.line, each.column) for each in answer.locations]


def test_static_builds_the_graph_and_names_who_answered(workspace: Workspace) -> None:
    answer = workspace.references("shop/cart.py:1:16", provider="static")
    assert places(answer) == [("shop/cart.py", 1, 14), ("shop/load.py", 1, 4), ("shop/page.py", 1, 19)]
    assert (answer.provider, answer.backend, answer.granularity) == ("static", "toy 1", "occurrence")
    assert (answer.total, answer.completeness) == (3, "all")
    limited = workspace.references("load_cart", provider="static", limit=2)
    assert (len(limited.locations), limited.total, limited.completeness) == (2, 3, "limited")


@pytest.mark.parametrize(
    ("where", "name"),
    [
        ("shop/cart.py:1:15", ""),
        ("shop/cart.py:1:14", ""),  # a 0-based column
        ("shop/cart.py:1", "load_cart"),
        ("load_cart", ""),
        ("shop.load.load_cart", ""),
        ("shop/load.py", "load_cart"),
    ],
)
def test_a_place_may_be_written_in_many_ways(workspace: Workspace, where: str, name: str) -> None:
    answer = workspace.definition(where, name=name, provider="static")
    assert places(answer) == [("shop/load.py", 1, 4)]


def test_a_position_is_asked_as_it_is(workspace: Workspace) -> None:
    answer = workspace.definition(Position("shop/cart.py", 1, 16), provider="static")
    assert places(answer) == [("shop/load.py", 1, 4)]


def test_a_line_means_its_one_declaration(workspace: Workspace) -> None:
    assert workspace.definition("shop/cart.py:1", provider="static").asked == "show_cart"


def test_a_name_with_several_meanings_has_the_neighbours_of_all(
    repository: GitRepo, workspace: Workspace
) -> None:
    repository.write("other.py", "def load_cart\ndef other load_cart\n")
    workspace.index([ViewKind.GRAPH])
    found = workspace.neighbours("load_cart", "dependents")
    assert [each.path for each in found.starts] == ["other.py", "shop/load.py"]
    assert {each.name for each in found if each.depth} == {"show_cart", "page", "other"}
    assert {edge.to for edge in found.edges} == {each.id for each in found.starts}
    assert (found.total, found.completeness) == (3, "all")
    assert found.note == "2 declarations have this name"
    few = workspace.neighbours("load_cart", "dependents", k=1)
    assert (len([each for each in few if each.depth]), few.completeness) == (1, "limited")
    chain = workspace.navigator.path("page", "load_cart")
    assert [each.name for each in chain] == ["page", "load_cart"]
    both = workspace.references("load_cart", provider="static")
    assert places(both) == [
        ("other.py", 1, 4),
        ("other.py", 2, 10),
        ("shop/cart.py", 1, 14),
        ("shop/load.py", 1, 4),
        ("shop/page.py", 1, 19),
    ]
    assert both.note == "2 declarations have this name"


@pytest.mark.parametrize("where", ["shop/cart.py:99:1", "shop/absent.py:1:1", "nothing_like_it", " "])
def test_a_wrong_place_is_an_error_with_a_command(workspace: Workspace, where: str) -> None:
    with pytest.raises(InputError) as raised:
        workspace.definition(where, provider="static")
    assert raised.value.hint


def test_no_question_builds_a_graph_or_starts_a_server_unless_it_waits(
    workspace: Workspace, backends: Backends
) -> None:
    assert workspace.definition("helper").provider == "syntactic"
    assert workspace.references("shop/cart.py:1:5").provider == "syntactic"
    assert workspace.neighbours("helper", "dependents").backends == {}
    assert [each.name for each in workspace.navigator.symbols("helper").symbols] == ["helper"]
    assert [each.name for each in workspace.navigator.outline("bin/run.rb").symbols] == ["helper"]
    unknown = workspace.navigator.path("page", "load_cart")
    assert unknown.symbols == ()
    assert "not known without a graph" in unknown.note
    assert backends.toy.runs == 0
    assert workspace.definition("load_cart", wait=True).provider == "static"
    assert backends.toy.runs == 1
    assert [each.name for each in workspace.navigator.path("page", "load_cart").symbols] == [
        "page",
        "load_cart",
    ]


def test_a_resident_process_starts_the_server_beside_its_first_answer(workspace: Workspace) -> None:
    workspace.navigator.resident = True
    started: list[Position] = []
    workspace.navigator.servers.require = lambda path: "server 1"  # type: ignore[method-assign]
    workspace.navigator.servers.start_beside = started.append  # type: ignore[assignment]
    answer = workspace.definition("shop/cart.py:1:15")
    assert answer.provider == "syntactic"
    assert started == [Position("shop/cart.py", 1, 14)]


def test_a_file_without_facts_is_answered_by_name_and_says_so(workspace: Workspace) -> None:
    workspace.index([ViewKind.LEXICAL, ViewKind.TRIGRAM, ViewKind.GRAPH])
    answer = workspace.definition("bin/run.rb:1:5")
    assert (answer.provider, answer.granularity, answer.completeness) == ("syntactic", "name", "unknown")
    assert places(answer) == [("bin/run.rb", 1, 4)]
    assert "no semantic backend" in answer.note
    with pytest.raises(StateError):
        workspace.definition("bin/run.rb:1:5", provider="static")


def test_a_past_commit_has_its_own_graph_and_no_live_server(
    repository: GitRepo, workspace: Workspace
) -> None:
    first = repository.head()
    repository.commit({"shop/load.py": "\n\ndef load_cart\n"})
    answer = workspace.definition("load_cart", provider="static", at=first)
    assert places(answer) == [("shop/load.py", 1, 4)]
    assert answer.snapshot.commit == first
    assert places(workspace.definition("load_cart", provider="static")) == [("shop/load.py", 3, 4)]
    with pytest.raises(InputError):
        workspace.definition("load_cart", provider="live", at=first)


def test_lines_are_those_of_the_snapshot_that_answered(repository: GitRepo, workspace: Workspace) -> None:
    answer = workspace.references("load_cart", provider="static")
    repository.write("shop/cart.py", "gone\n")
    assert workspace.lines(answer) == [
        "def show_cart load_cart",
        "def load_cart",
        "def page show_cart load_cart",
    ]


def test_a_search_after_an_edit_does_not_wait_for_the_graph(
    repository: GitRepo, workspace: Workspace, backends: Backends
) -> None:
    workspace.index([ViewKind.LEXICAL, ViewKind.GRAPH])
    runs = backends.toy.runs
    repository.write("shop/cart.py", "def another\n")
    with Workspace(repository.path, find_backends=backends) as later:
        later.search("another")
    assert backends.toy.runs == runs
    assert workspace.status().views[ViewKind.GRAPH].status is Status.STALE
    workspace.update()
    assert backends.toy.runs == runs + 1
    assert workspace.status().views[ViewKind.GRAPH].status is Status.FRESH


def test_the_graph_answers_who_uses_whom(workspace: Workspace) -> None:
    workspace.index([ViewKind.GRAPH])
    uses = workspace.neighbours("page")
    assert sorted(each.name for each in uses.symbols) == ["load_cart", "page", "show_cart"]
    used = workspace.neighbours("load_cart", "dependents")
    assert sorted(each.name for each in used.symbols if each.depth) == ["page", "show_cart"]
    assert used.total == 2
    assert {(edge.kind, edge.path) for edge in used.edges} == {
        ("reference", "shop/cart.py"),
        ("reference", "shop/page.py"),
    }
    chain = workspace.navigator.path("page", "load_cart")
    assert [each.name for each in chain.symbols] == ["page", "load_cart"]
    assert workspace.navigator.path("load_cart", "page").symbols == ()
    of_file = workspace.neighbours("shop/page.py")
    assert sorted(each.name for each in of_file.symbols if each.depth) == ["load_cart", "show_cart"]
    assert of_file.backends == {"toy": "toy 1"}


def test_symbols_and_outlines_name_their_places(workspace: Workspace) -> None:
    workspace.index([ViewKind.GRAPH])
    found = workspace.navigator.symbols("cart", k=1)
    assert (found.total, found.truncated) == (2, True)
    shown = workspace.navigator.outline("shop/cart.py")
    assert [(each.qualified, each.kind, each.line) for each in shown.symbols] == [
        ("show_cart", "function", 1)
    ]
    with pytest.raises(InputError):
        workspace.navigator.outline("README.md")


def test_verify_runs_the_backends_again_and_finds_the_graph_equal(
    repository: GitRepo, workspace: Workspace, backends: Backends
) -> None:
    workspace.index([ViewKind.GRAPH])
    repository.write("README.md", "# Another shop\n")
    workspace.update()
    assert backends.toy.runs == 1  # prose took the facts over
    assert workspace.verify([ViewKind.GRAPH]) == {ViewKind.GRAPH: []}
    assert backends.toy.runs == 2


def test_trust_is_remembered_and_belongs_to_the_profile(workspace: Workspace) -> None:
    kept = workspace.index([ViewKind.GRAPH], trust=True).manifest.views[ViewKind.GRAPH]
    assert kept.fields["trusted"] == "yes"
    assert workspace.index([ViewKind.GRAPH]).nothing_to_do
    again = workspace.index([ViewKind.GRAPH], trust=False).manifest.views[ViewKind.GRAPH]
    assert again.fields["trusted"] == "no"


def test_an_answer_by_name_is_of_the_revision_asked_for(repository: GitRepo, workspace: Workspace) -> None:
    repository.commit({"bin/run.rb": "def renamed\n  1\nend\n"})
    answer = workspace.definition("helper", at="HEAD~1")
    assert answer.provider == "syntactic"
    assert places(answer) == [("bin/run.rb", 1, 4)]
    with pytest.raises(InputError, match=r"nothing is called 'helper'$"):
        workspace.definition("helper", at="HEAD")
    with pytest.raises(InputError, match="nothing is called 'renmaed'; near: renamed") as misspelt:
        workspace.definition("renmaed", at="HEAD")
    assert misspelt.value.hint == "codenib symbols renamed"

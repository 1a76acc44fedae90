"""Places to look at, in order, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from pathlib import Path

import pytest
from tests.gitrepo import GitRepo
from tests.views.graph.toy import ToyBackend

from codenib.core.protocols import FactBackend
from codenib.core.views import ViewKind
from codenib.navigation.tools.locate import Toolbox
from codenib.serving.navigation.route import route_for_query, route_for_symbols
from codenib.serving.workspace import Workspace

FILES = {
    "shop/load.py": "def load_cart\n",
    "shop/cart.py": "def show_cart load_cart\n",
    "shop/page.py": "def page show_cart\n",
}


def toy(tools: Toolbox, languages: Set[str]) -> Mapping[str, Sequence[FactBackend]]:
    return {"toy": [ToyBackend()]}


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    repository = GitRepo(tmp_path / "shop")
    repository.commit(FILES)
    with Workspace(repository.path, find_backends=toy) as opened:
        yield opened


def test_two_symbols_are_joined_by_their_chain_of_uses_in_either_direction(workspace: Workspace) -> None:
    workspace.index([ViewKind.GRAPH])
    for ends in (["page", "load_cart"], ["load_cart", "page"]):
        answer = route_for_symbols(workspace.navigator, ends, k=10)
        assert [anchor.symbol for anchor in answer.anchors] == ["page", "show_cart", "load_cart"]
        assert (answer.how, answer.total) == ("shortest path", 3)
    assert answer.anchors[0].why == "start"
    assert answer.anchors[1].why == "reference from page at line 1"


def test_one_symbol_begins_where_it_is_declared(workspace: Workspace) -> None:
    workspace.index([ViewKind.LEXICAL, ViewKind.GRAPH])
    answer = route_for_symbols(workspace.navigator, ["show_cart"], k=10)
    assert (answer.anchors[0].path, answer.anchors[0].why) == ("shop/cart.py", "declared here")


def test_a_question_is_answered_without_a_graph_by_its_results_alone(workspace: Workspace) -> None:
    answer = route_for_query(workspace.searcher, workspace.navigator, "load cart", k=2)
    assert len(answer.anchors) == 2
    assert all(anchor.why.startswith("matches") for anchor in answer.anchors)
    assert not workspace.navigator.has_graph

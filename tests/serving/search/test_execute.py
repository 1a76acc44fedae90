"""Routes, fusions, expansion and reranking as a caller sees them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.gitrepo import GitRepo
from tests.serving.navigation.test_navigator import Backends
from tests.serving.search.rerankers.tiny import write_cross_encoder

from codenib.core.answers import Route
from codenib.core.errors import InputError, StateError
from codenib.core.views import ViewKind
from codenib.serving.search.rerankers.choose import open_reranker
from codenib.serving.search.rerankers.documents import documents_of
from codenib.serving.workspace import Workspace

FILES = {
    "shop/load.py": "def load_cart(): return {1: 2}\n",
    "shop/cart.py": "def show_cart(): return load_cart()\n",
    "shop/page.py": "def page(): return show_cart()\n",
    "shop/other.py": "def other_cart_thing(): return {}\n",
}


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    repository = GitRepo(tmp_path / "shop")
    repository.commit(FILES)
    with Workspace(repository.path, find_backends=Backends()) as opened:
        yield opened


def test_the_structural_route_answers_who_uses_a_name(workspace: Workspace) -> None:
    answer = workspace.search("who uses load_cart", route="structural")
    assert (answer.plan.route, answer.plan.expansion) == (Route.STRUCTURAL, "one-hop")
    assert [item.path for item in answer.items][:2] == ["shop/cart.py", "shop/load.py"]


def test_auto_takes_the_structural_route_once_the_graph_is_there(workspace: Workspace) -> None:
    question = "who uses load_cart"
    assert workspace.search(question).plan.route is Route.HYBRID
    workspace.index([ViewKind.LEXICAL, ViewKind.TRIGRAM, ViewKind.GRAPH])
    assert workspace.search(question).plan.route is Route.STRUCTURAL


def test_seeds_bring_their_neighbours_in(workspace: Workspace) -> None:
    found = [item.path for item in workspace.search("page", route="structural").items]
    assert found[:2] == ["shop/page.py", "shop/cart.py"]
    files = workspace.search("page", route="structural", level="file").items
    assert [item.path for item in files][:2] == ["shop/page.py", "shop/cart.py"]
    scores = [item.score for item in workspace.search("page", route="structural").items]
    assert scores == sorted(scores, reverse=True)
    only = workspace.search("page", route="structural", paths=["shop/page.py"]).items
    assert {item.path for item in only} == {"shop/page.py"}


def test_semantic_expands_when_asked(workspace: Workspace) -> None:
    answer = workspace.search("show cart", route="semantic", expand=True)
    assert answer.plan.expansion == "dense-graph"
    assert answer.items


def test_reciprocal_ranks_are_an_option_of_hybrid(shop: GitRepo) -> None:
    with Workspace(shop.path) as workspace:
        answer = workspace.search("convert currency", route="hybrid", fusion="rrf")
    assert answer.plan.fusion == "rrf"
    assert answer.items[0].score <= 2 / 61 + 1e-6


@pytest.mark.parametrize("spec", ["wizard", "onnx:/nowhere", "llm:"])
def test_a_wrong_reranker_fails_before_any_work(shop: GitRepo, spec: str) -> None:
    with Workspace(shop.path) as workspace, pytest.raises(InputError):
        workspace.search("currency", reranker=spec, refresh="never")


def test_a_named_reranker_alone_orders_the_first_and_files_follow(shop: GitRepo, tmp_path: Path) -> None:
    question, spec = "the price of everything in another currency", f"onnx:{write_cross_encoder(tmp_path)}"
    with Workspace(shop.path) as workspace:
        plain = workspace.search(question, tests="include")
        read = workspace.search(question, tests="include", reranker=spec)
        files = workspace.search(question, tests="include", reranker=spec, level="file")
        texts = documents_of(plain.items, {item.path: workspace.read(item.path).text for item in plain.items})
        reranker = open_reranker(spec)
        assert reranker is not None
        scores = reranker.scores(question, texts)
        assert workspace.searcher.costs.medians()[f"rerank:{spec}"] > 0
    order = sorted(range(len(texts)), key=lambda row: -scores[row])
    assert [item.symbol for item in read.items] == [plain.items[row].symbol for row in order]
    assert [item.path for item in files.items] == list(dict.fromkeys(item.path for item in read.items))


def test_a_route_whose_view_cannot_be_is_refused_never_changed(shop: GitRepo) -> None:
    with Workspace(shop.path) as workspace:
        workspace.index([ViewKind.LEXICAL])
        with pytest.raises(StateError, match="dense view"):
            workspace.search("currency", route="semantic", refresh="never")

"""Neighbours in the graph of ranked units, and their fusion with a dense pool."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.gitrepo import GitRepo
from tests.serving.navigation.test_navigator import Backends

from codenib.core.requests import CURRENT
from codenib.core.views import ViewKind
from codenib.serving.search.structural import NEIGHBOURS, fuse_neighbours, neighbours_of
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


def test_neighbours_are_unique_and_at_most_ten(workspace: Workspace) -> None:
    seed = next(item for item in workspace.search("show_cart", k=50).items if item.symbol == "show_cart")
    pinned = workspace.snapshots.pin(ViewKind.GRAPH, CURRENT)[0]
    found = neighbours_of(pinned, seed)
    assert {item.path for item in found} == {"shop/load.py", "shop/page.py"}
    assert len(found) <= NEIGHBOURS


def test_the_fusion_adds_weighted_reciprocal_ranks(workspace: Workspace) -> None:
    pool = workspace.search("show_cart page other", route="lexical").items
    pinned = workspace.snapshots.pin(ViewKind.GRAPH, CURRENT)[0]
    scores = {item.path: item.score for item in fuse_neighbours(pinned, pool)}
    ranks = {item.path: rank for rank, item in enumerate(pool, 1)}
    assert scores["shop/other.py"] == pytest.approx(1 / (60 + ranks["shop/other.py"]), abs=1e-6)
    assert scores["shop/load.py"] > 0.5 / (60 + 10)
    assert max(scores.values()) > 1 / 61  # found both ways

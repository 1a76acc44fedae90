"""Places of a name that nobody resolved: what was not searched is said, never taken for none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.gitrepo import GitRepo
from tests.serving.navigation.test_navigator import Backends

from codenib.core.navigation import Position
from codenib.core.requests import SnapshotRequest
from codenib.core.views import ViewKind
from codenib.serving.navigation.by_name import count_unknown_calls, places_in_files, unknown_name_at
from codenib.serving.workspace import Workspace

FILES = {"a.py": "def load_cart\n", "b.py": "def show\n(load_cart)\nany.far(far) # far\n"}


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    repository = GitRepo(tmp_path / "shop")
    repository.commit(FILES)
    with Workspace(repository.path, find_backends=Backends()) as opened:
        opened.references("load_cart", provider="static")
        yield opened


def test_files_that_there_is_no_time_to_search_are_unknown(workspace: Workspace) -> None:
    found = places_in_files(workspace.snapshots, "load_cart", FILES, SnapshotRequest())
    assert [each.path for each in found.places] == ["a.py", "b.py"]
    assert (found.unknown, found.note) == (2, "")
    hasty = places_in_files(workspace.snapshots, "load_cart", FILES, SnapshotRequest(), timeout_s=0)
    assert not hasty.whole
    assert hasty.unknown == len(hasty.places) + 1
    assert hasty.note == "there was no time to search every file for the name"


def test_a_name_is_unknown_in_code_where_nothing_says_what_it_is(workspace: Workspace) -> None:
    graph = workspace.snapshots.pin_ready(ViewKind.GRAPH, None).graph
    at = [(2, 3), (3, 4), (3, 7), (3, 9), (3, 15)]
    names = [unknown_name_at(graph, Position("b.py", line, column)) for line, column in at]
    assert names == ["", "far", "far", "far", ""]
    assert count_unknown_calls(graph, "b.py", 1, 3) == 1
    assert count_unknown_calls(graph, "b.py", 1, 2) == 0

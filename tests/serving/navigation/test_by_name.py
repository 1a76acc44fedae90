"""Places of a name that nobody resolved: what was not looked at is counted, never taken for none."""

from __future__ import annotations

from pathlib import Path

from tests.gitrepo import GitRepo
from tests.serving.navigation.test_navigator import Backends

from codenib.core.requests import SnapshotRequest
from codenib.core.views import ViewKind
from codenib.serving.navigation.by_name import Patience, places_in_files, unknown_tokens
from codenib.serving.workspace import Workspace

FILES = {"a.py": "def load_cart\n", "b.py": "def show\n(load_cart)\n"}
NOW = SnapshotRequest()


def test_what_there_is_no_time_for_is_unknown(tmp_path: Path) -> None:
    repository = GitRepo(tmp_path / "shop")
    repository.commit(FILES)
    with Workspace(repository.path, find_backends=Backends()) as workspace:
        workspace.references("load_cart", provider="static")
        snapshots = workspace.snapshots
        found = places_in_files(snapshots, "load_cart", FILES, NOW)
        assert [each.path for each in found.places] == ["a.py", "b.py"]
        assert (found.unknown, found.note) == (2, "")
        hasty = places_in_files(snapshots, "load_cart", FILES, NOW, patience=Patience(search_s=0))
        assert not hasty.whole
        assert hasty.unknown == len(hasty.places) + 1
        assert hasty.note == "there was no time to search every file for the name"
        graph = snapshots.pin_ready(ViewKind.GRAPH, None).graph
        hasty = unknown_tokens(snapshots, graph, "load_cart", FILES, NOW, patience=Patience(look_s=-1))
        assert (hasty.places, hasty.left, hasty.unknown) == ((), 2, 2)
        assert hasty.note == "2 further places of the name were not looked at"

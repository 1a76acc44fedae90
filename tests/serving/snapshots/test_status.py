"""`status`: what is there, whoever opens and closes it meanwhile, and whether answers use it."""

from __future__ import annotations

from collections.abc import Callable

from tests.gitrepo import GitRepo
from tests.serving.navigation.test_navigator import Backends
from tests.views.graph.toy import ToyBackend

import codenib
from codenib.core.views import Status, ViewKind
from codenib.manifest.home import home
from codenib.serving.workspace import Workspace


def test_a_file_that_vanishes_while_it_is_looked_at_counts_nothing(git_repo: Callable[..., GitRepo]) -> None:
    repo = git_repo()
    repo.commit({"a.rb": "def a\nend\n"})
    with codenib.open(repo.path) as workspace:
        workspace.index()
        before = workspace.status()
        for name in (
            "blobs.sqlite-log",
            "records.sqlite-log",
        ):  # listed, and gone when it is asked for its size
            (home() / name).symlink_to("gone")
        assert workspace.status().shared_bytes == before.shared_bytes


def test_a_view_that_other_tools_made_is_stale_as_no_answer_uses_it(git_repo: Callable[..., GitRepo]) -> None:
    repo = git_repo()
    repo.commit({"a.py": "def load\nload\n"})
    backends = Backends()
    with Workspace(repo.path, find_backends=backends) as workspace:
        workspace.index([ViewKind.GRAPH])
        assert workspace.status().views[ViewKind.GRAPH].status is Status.FRESH
    backends.toy = ToyBackend(version="2")
    with Workspace(repo.path, find_backends=backends) as workspace:
        found = workspace.status()
        assert not found.fresh
        assert {kind: record.status for kind, record in found.views.items()} == {
            ViewKind.LEXICAL: Status.FRESH,
            ViewKind.TRIGRAM: Status.FRESH,
            ViewKind.GRAPH: Status.STALE,
        }

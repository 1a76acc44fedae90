"""`status` while other processes open and close what it looks at."""

from __future__ import annotations

from collections.abc import Callable

from tests.gitrepo import GitRepo

import codenib
from codenib.manifest.home import home


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

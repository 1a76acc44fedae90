"""Snapshots of test repositories, with their state and store in a folder of the test."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.gitrepo import GitRepo

from codenib.core.source import SourceSnapshot
from codenib.snapshot.blobs import BlobSource, LocalBlobs
from codenib.snapshot.repository import locate
from codenib.snapshot.take import take


class Camera:
    """Takes snapshots of folders and reads their files back."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.store = LocalBlobs(home / "blobs.db")

    def state(self, path: Path) -> Path:
        return self.home / locate(path).worktree_key

    def take(self, repo: GitRepo | Path, at: str | None = None) -> SourceSnapshot:
        path = repo.path if isinstance(repo, GitRepo) else repo
        return take(locate(path), self.state(path), self.store, at)

    def text(self, repo: GitRepo | Path, snapshot: SourceSnapshot) -> dict[str, str]:
        """The content of each file, through the blob reader; every one must be there."""
        path = repo.path if isinstance(repo, GitRepo) else repo
        files = snapshot.source_files()
        with closing(BlobSource.of(locate(path), self.home / "blobs.db").open()) as blobs:
            contents = list(blobs.read([file.digest for file in files]))
        assert None not in contents
        return {file.path: (data or b"").decode() for file, data in zip(files, contents, strict=True)}


@pytest.fixture
def camera(tmp_path: Path) -> Iterator[Camera]:
    camera = Camera(tmp_path / "home")
    yield camera
    camera.store.close()

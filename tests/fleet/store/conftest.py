"""Stores of a fleet for tests, and small repositories whose snapshots are published."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.gitrepo import GitRepo

from codenib.core.requests import CURRENT
from codenib.fleet.store.objects import ObjectStore
from codenib.manifest.store import Store
from codenib.serving.workspace import Workspace
from codenib.snapshot.repository import locate

FILES = {
    "app/session.py": "class Session:\n    # what a user did\n    def save(self):\n        return 1\n",
    "app/login.py": "from app.session import Session\n\n\ndef login(user):\n    return Session().save()\n",
    "README.md": "# App\n\nKeeps sessions.\n",
}


@pytest.fixture(params=["file", "memory"])
def objects(request: pytest.FixtureRequest, tmp_path: Path) -> ObjectStore:
    """A store of each kind that needs no server."""
    if request.param == "file":
        return ObjectStore.open((tmp_path / "a store").as_uri())
    return ObjectStore.open(f"memory:///{secrets.token_hex(8)}")


@dataclass
class Indexed:
    """A repository with the snapshot of its worktree published in the home."""

    repo: GitRepo
    store: Store
    snapshot: str

    def index(self) -> str:
        """Publish the worktree as it is now."""
        with Workspace(self.repo.path) as workspace:
            workspace.search("session", refresh="auto")
            self.snapshot = workspace.reader.snapshot(CURRENT).id
        return self.snapshot


@pytest.fixture
def indexed(git_repo: Callable[..., GitRepo]) -> Indexed:
    repo = git_repo("app")
    repo.commit(FILES)
    built = Indexed(repo, Store(locate(repo.path).key), "")
    built.index()
    return built

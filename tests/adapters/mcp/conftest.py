"""The repository of the serving tests, for servers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.gitrepo import GitRepo
from tests.serving.conftest import SHOP


@pytest.fixture(autouse=True)
def no_engines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Navigation goes by names: language servers take seconds to start, and are not on every machine."""
    monkeypatch.setenv("CODENIB_TOOLBOX", str(tmp_path / "no-tools"))


@pytest.fixture
def shop(git_repo: Callable[..., GitRepo]) -> GitRepo:
    """A small committed repository."""
    repository = git_repo("shop")
    repository.commit(SHOP)
    return repository

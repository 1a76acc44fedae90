"""Fixtures for all tests: git without the user's configuration, and repositories to work on."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from tests.gitrepo import GitRepo

# Every skip is reported at the end of the run, and fails where engines are required.
pytest_plugins = ["pytester", "tests.skipped"]

# Tests have homes of their own, but share the engines and servers that `make tools` installs.
os.environ.setdefault("CODENIB_TOOLBOX", str(Path(__file__).parent.parent / ".tools" / "box"))

# How long an example takes says how busy the machine is.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


@pytest.fixture(autouse=True, scope="session")
def plain_git() -> Iterator[None]:
    """No test depends on the user's or the system's git configuration, or on a hook that runs the tests."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("GIT_")]:
            patch.delenv(name)
        patch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
        patch.setenv("GIT_CONFIG_SYSTEM", os.devnull)
        # git reads ~/.config/git/ignore whatever the rest says.
        patch.setenv("GIT_CONFIG_COUNT", "1")
        patch.setenv("GIT_CONFIG_KEY_0", "core.excludesFile")
        patch.setenv("GIT_CONFIG_VALUE_0", os.devnull)
        yield


@pytest.fixture(autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Each test starts with no state, in a home of its own."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("CODENIB_HOME", str(home))
    return home


@pytest.fixture
def git_repo(tmp_path: Path) -> Callable[..., GitRepo]:
    """Makes repositories under `tmp_path`: `git_repo()`, `git_repo("other", "--bare")`."""

    def make(name: str = "repo", *init: str) -> GitRepo:
        return GitRepo(tmp_path / name, *init)

    return make

"""Trust belongs to a repository: another one put at its path does not inherit it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.gitrepo import GitRepo

from codenib.adapters.cli.main import cli
from codenib.manifest.store import Store
from codenib.manifest.trust import grant, is_trusted, revoke, trust_records
from codenib.snapshot.repository import locate


def trusted(path: Path) -> bool:
    repository = locate(path)
    return is_trusted(Store(repository.key).folder, repository)


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    """A trusted clone."""
    origin = GitRepo(tmp_path / "origin")
    origin.commit({"a.c": "int a;\n"})
    clone = origin.clone(tmp_path / "clone")
    repository = locate(clone.path)
    grant(Store(repository.key).folder, repository)
    return clone


def replace_by_another_clone(repo: GitRepo) -> None:
    """The same repository, cloned anew: somebody else may have put it there."""
    origin = repo.git("config", "remote.origin.url")
    repo.path.rename(repo.path.with_name("moved"))
    GitRepo(Path(origin.removeprefix("file://"))).clone(repo.path)


def replace_contents(repo: GitRepo) -> None:
    """Another history inside the same git folder."""
    git_folder = repo.path / ".git"
    other = GitRepo(repo.path.with_name("other"))
    other.commit({"evil.c": "int evil;\n"})
    for path in list(git_folder.iterdir()):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    shutil.copytree(other.path / ".git", git_folder, dirs_exist_ok=True)
    repo.git("config", "remote.origin.url", f"file://{repo.path.with_name('origin')}")


def point_elsewhere(repo: GitRepo) -> None:
    """A fork: it has every commit of its origin, and more."""
    repo.git("config", "remote.origin.url", "https://example.org/fork")


def replace_by_a_folder(repo: GitRepo) -> None:
    shutil.rmtree(repo.path)
    repo.path.mkdir()


@pytest.mark.parametrize(
    "change", [replace_by_another_clone, replace_contents, point_elsewhere, replace_by_a_folder],
)  # fmt: skip
def test_another_repository_at_the_path_is_not_trusted(
    repo: GitRepo, change: Callable[[GitRepo], None]
) -> None:
    assert trusted(repo.path)
    change(repo)
    assert not trusted(repo.path)


def test_trust_that_ended_does_not_come_back(repo: GitRepo) -> None:
    origin = repo.git("config", "remote.origin.url")
    point_elsewhere(repo)
    assert not trusted(repo.path) and list(trust_records()) == []
    repo.git("config", "remote.origin.url", origin)
    assert not trusted(repo.path)


def test_work_in_the_repository_leaves_it_trusted(repo: GitRepo, tmp_path: Path) -> None:
    assert trusted(repo.path)
    repo.commit({"b.c": "int b;\n"})
    repo.branch("other")
    repo.git("remote", "add", "fork", "https://example.org/fork")
    assert trusted(repo.path)
    assert trusted(repo.worktree(tmp_path / "linked", "-b", "linked").path)
    revoke(Store(locate(repo.path).key).folder)
    assert not trusted(repo.path)


def test_the_command_lists_what_is_trusted_and_revokes(repo: GitRepo) -> None:
    shown = CliRunner().invoke(cli, ["-C", str(repo.path), "trust", "--json"], catch_exceptions=False)
    [item] = json.loads(shown.stdout)["items"]
    assert item["root"] == str(repo.path) and item["commit"] == repo.head() and "since" in item
    assert str(repo.path) in CliRunner().invoke(cli, ["trust"]).stdout
    CliRunner().invoke(cli, ["-C", str(repo.path), "trust", "--revoke"], catch_exceptions=False)
    assert not trusted(repo.path)

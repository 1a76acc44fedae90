"""Where a command may index without being told that it is meant."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.gitrepo import GitRepo

from codenib.adapters.cli.main import cli
from codenib.core.errors import InputError
from codenib.serving.place import check_place


@pytest.mark.parametrize("place", ["/", "~", "/tmp"])
def test_the_root_a_home_and_what_holds_homes_are_refused(place: str) -> None:
    with pytest.raises(InputError, match="is not a project") as refusal:
        check_place(Path(place).expanduser(), named=True)
    assert "--here" in refusal.value.hint


def test_a_repository_is_accepted_and_a_home_that_is_one_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = GitRepo(tmp_path / "own")
    check_place(repo.path, named=False)
    monkeypatch.setenv("HOME", str(repo.path))
    with pytest.raises(InputError, match="is not a project"):
        check_place(repo.path, named=True)


def test_a_folder_outside_git_must_be_named_and_small(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    with pytest.raises(InputError, match="not in a git repository"):
        check_place(tmp_path, named=False)
    check_place(tmp_path, named=True)
    for number in range(20_001):
        (tmp_path / str(number)).touch()
    with pytest.raises(InputError, match="more than 20,000 files"):
        check_place(tmp_path, named=True)


@pytest.mark.parametrize("command", ["index", "search x", "status", "mcp", "watch", "serve --no-auth"])
def test_every_command_that_indexes_refuses_a_folder_that_nobody_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_home: Path, command: str
) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(cli, command.split())
    assert isinstance(result.exception, InputError)
    assert list(own_home.iterdir()) == []


def test_here_says_that_it_is_meant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.py").write_text("def total():\n    pass\n")
    monkeypatch.chdir(tmp_path)
    assert "a.py" in CliRunner().invoke(cli, ["--here", "search", "total"], catch_exceptions=False).stdout
    monkeypatch.chdir("/")
    assert "a.py" in CliRunner().invoke(cli, ["-C", str(tmp_path), "search", "total"]).stdout

"""`index` and `update`: their exit codes."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.gitrepo import GitRepo

from codenib.adapters.cli.main import cli


def test_a_view_that_cannot_be_built_here_fails_when_asked_for_and_never_an_update(
    git_repo: Callable[..., GitRepo], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = git_repo("project")
    repository.commit({"a.py": "def save(): ...\n"})
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "git").symlink_to(str(shutil.which("git")))
    for name, value in (("PATH", programs), ("HOME", tmp_path)):  # no zoekt
        monkeypatch.setenv(name, str(value))

    asked = CliRunner().invoke(cli, ["-C", str(repository.path), "index", "--views", "lexical,zoekt"])
    update = CliRunner().invoke(cli, ["-C", str(repository.path), "update"])

    assert (asked.exit_code, update.exit_code) == (4, 0)
    assert "zoekt: failed" in asked.output
    assert "zoekt: failed" in update.output

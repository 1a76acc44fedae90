"""`fleet status`: what is known of a repository without asking its source."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from click.testing import CliRunner
from tests.gitrepo import GitRepo

from codenib.adapters.cli.main import cli


def test_status_knows_the_heads_of_a_clone_in_place_and_says_that_it_does_not_know_others(
    git_repo: Callable[..., GitRepo], tmp_path: Path
) -> None:
    clone = git_repo("app")
    first = clone.commit({"a.py": "a = 1\n"})
    run = CliRunner().invoke
    assert run(cli, ["fleet", "add", str(clone.path), "--name", "app"]).exit_code == 0
    assert run(cli, ["fleet", "add", clone.path.as_uri(), "--name", "copy"]).exit_code == 0
    shown = run(cli, ["fleet", "status"]).output.splitlines()
    assert f"main {first[:10]} (not compiled)" in shown[0] and "fresh" in shown[0]
    assert shown[1] == "copy  never synced  heads unknown: codenib fleet sync --repos copy"
    second = clone.commit({"a.py": "a = 2\n"})
    assert f"main {second[:10]}" in run(cli, ["fleet", "status", "--repos", "app"]).output
    shutil.move(clone.path, tmp_path / "elsewhere")
    assert run(cli, ["fleet", "status", "--repos", "app"]).output.startswith("app  gone")

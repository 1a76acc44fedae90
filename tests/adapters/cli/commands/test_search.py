"""`codenib search` for people: why there is no answer."""

from __future__ import annotations

from collections.abc import Callable

from click.testing import CliRunner
from tests.gitrepo import GitRepo

from codenib.adapters.cli.main import cli


def test_nothing_matches_says_why_where_that_is_not_in_the_files(git_repo: Callable[..., GitRepo]) -> None:
    repo = git_repo()
    repo.commit({"pay.py": "def pay(amount):\n    return amount\n"})
    asked = ["-C", str(repo.path), "search"]
    overlong = CliRunner().invoke(cli, [*asked, "x" * 100_000])
    assert overlong.exit_code == 0
    assert (
        "a word of 100,000 characters was not searched for, as indexed words have 64 at most"
        in overlong.stderr
    )
    elsewhere = CliRunner().invoke(cli, [*asked, "pay", "--paths", "nosuch/"])
    assert "no file of this snapshot is among the paths nosuch/" in elsewhere.stderr
    assert "not searched for" not in CliRunner().invoke(cli, [*asked, "nonsense"]).stderr

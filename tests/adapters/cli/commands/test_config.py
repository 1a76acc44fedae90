"""`codenib config`, and options whose defaults are configured."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.gitrepo import GitRepo

from codenib.adapters.cli.main import cli


def run(root: Path, *words: str) -> str:
    done = CliRunner().invoke(cli, ["-C", str(root), *words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_every_key_is_printed_with_its_origin_and_an_option_comes_before_all(
    git_repo: Callable[..., GitRepo], own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = git_repo("shop")
    repo.commit({f"{name}.py": f"def pay_{name}():\n    return 1\n" for name in "abcd"})
    repo.write("codenib.toml", "[search]\nk = 2\n\n[languages]\n'*.inc' = 'php'\n")
    (own_home / "codenib.toml").write_text("embedder = 'static'\n[search]\nk = 1\n")
    printed = [" ".join(line.split()) for line in run(repo.path, "config").splitlines()]
    assert "search.k 2 (codenib.toml:2)" in printed
    assert "languages *.inc = php (codenib.toml:4)" in printed
    assert f"embedder static ({own_home / 'codenib.toml'}:1)" in printed
    items = {each["key"]: each for each in json.loads(run(repo.path, "config", "--json"))["items"]}
    assert items["languages"]["value"] == {"*.inc": "php"}
    assert (items["search.k"]["value"], items["search.k"]["origin"]) == (2, "repository")

    def results(*words: str) -> int:
        return len(json.loads(run(repo.path, "search", "pay", "--json", *words))["items"])

    assert results() == 2
    assert results("-k", "3") == 3
    monkeypatch.setenv("CODENIB_SEARCH_K", "4")
    assert results() == 4

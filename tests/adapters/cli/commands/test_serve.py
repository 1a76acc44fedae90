"""`codenib token` and what `doctor` says of MCP."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.gitrepo import GitRepo

from codenib.adapters.cli.main import cli
from codenib.adapters.mcp.clients.checks import examine_mcp
from codenib.adapters.mcp.transport.tokens import AccessTokens
from codenib.core.errors import InputError


def run(*args: str) -> str:
    found = CliRunner().invoke(cli, list(args))
    if found.exception is not None and not isinstance(found.exception, SystemExit):
        raise found.exception
    return found.output


def test_a_token_is_made_listed_and_revoked(git_repo: Callable[..., GitRepo]) -> None:
    repo = git_repo()
    made = json.loads(run("token", "create", "laptop", "--repo", str(repo.path), "--json"))["items"][0]
    assert made["repositories"] == [str(repo.path.resolve())]
    row = AccessTokens().find(made["token"])
    assert row is not None
    assert row.allows(repo.path.resolve())
    assert not row.allows(Path("/elsewhere"))
    listed = run("token", "list")
    assert made["id"] in listed
    assert made["token"] not in listed
    run("token", "revoke", "laptop")
    assert AccessTokens().find(made["token"]) is None
    assert json.loads(run("token", "list", "--json"))["items"] == []


def test_serving_without_a_token_says_how_to_make_one(git_repo: Callable[..., GitRepo]) -> None:
    with pytest.raises(InputError) as raised:
        run("-C", str(git_repo().path), "serve", "--http", "127.0.0.1:0")
    assert "codenib token create" in raised.value.hint


def test_doctor_starts_the_server_and_looks_at_the_clients(
    git_repo: Callable[..., GitRepo], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".cursor").mkdir()
    (tmp_path / ".gemini").mkdir()
    run("install", "--client", "gemini")
    states = {check.name: check.state for check in examine_mcp(str(git_repo().path))}
    assert states == {"mcp": "ok", "mcp cursor": "missing", "mcp gemini": "ok"}
    broken = examine_mcp(str(tmp_path / "nothing"))[0]
    assert broken.state == "broken"
    assert "does not exist" in broken.detail

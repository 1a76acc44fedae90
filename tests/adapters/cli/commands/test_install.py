"""`codenib install` adds one server to a client's file and `uninstall` takes exactly that out."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st
from tests.gitrepo import GitRepo

from codenib.adapters.cli.main import cli
from codenib.adapters.mcp.clients.configure import AGENTS_BLOCK, has_server, with_server, without_server
from codenib.adapters.mcp.clients.edits import added_between
from codenib.adapters.mcp.clients.known import CLIENTS, ServerEntry
from codenib.core.errors import InputError


@pytest.fixture(autouse=True)
def own_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder of its own, so that no test touches the user's files."""
    user = tmp_path / "user"
    user.mkdir()
    monkeypatch.setenv("HOME", str(user))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return user


def run(*args: str) -> Result:
    found = CliRunner().invoke(cli, list(args))
    if found.exception is not None and not isinstance(found.exception, SystemExit):
        raise found.exception
    return found


VSCODE = """// servers of mine
{
\t"servers": {
\t\t"other": {"command": "x", /* why */ "args": ["a", "b"]}, // one line
\t},
\t"inputs": [],
}
"""
CLAUDE = '{"numStartups": 3, "mcpServers": {}, "projects": {"/a": {"history": ["{\\"mcpServers\\": {"]}}}'
CODEX = '# mine\nmodel = "o3"\n\n[mcp_servers.other]\ncommand = "x"\n\n[tui]\ntheme = "dark"'


@pytest.mark.parametrize("name", list(CLIENTS))
def test_a_file_that_was_not_there_is_made_and_removed(name: str, own_user: Path) -> None:
    file = CLIENTS[name].file("user", own_user)
    run("install", "--client", name)
    text = file.read_text()
    entry: dict[str, Any] = tomllib.loads(text) if file.suffix == ".toml" else json.loads(text)
    ours = entry[CLIENTS[name].key]["codenib"]
    assert "mcp" in (ours.get("args") or ours["command"])
    assert file.stat().st_mode & 0o077 == 0
    run("uninstall", "--client", name)
    assert not file.exists()


@pytest.mark.parametrize(
    ("name", "text"),
    [("vscode", VSCODE), ("claude-code", CLAUDE), ("codex", CODEX), ("gemini", "{}"), ("cursor", "")],
)
def test_everything_else_stays_byte_for_byte(name: str, text: str, own_user: Path) -> None:
    client = CLIENTS[name]
    file = client.file("user", own_user)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode())
    file.chmod(0o640)
    run("install", "--client", name)
    assert has_server(file.read_text(), client)
    assert file.stat().st_mode & 0o777 == 0o640
    run("install", "--client", name, "--tools", "all")  # a second time: brought up to date, not added twice
    assert file.read_text().count('"all"') == 1
    run("uninstall", "--client", name)
    assert file.read_bytes() == text.encode()


def test_what_people_wrote_since_stays(own_user: Path) -> None:
    file = own_user / ".claude.json"
    file.write_text(CLAUDE)
    run("install", "--client", "claude-code")
    changed = json.loads(file.read_text())
    changed["mcpServers"]["later"] = {"command": "y"}
    file.write_text(json.dumps(changed, indent=1))
    run("uninstall", "--client", "claude-code")
    del changed["mcpServers"]["codenib"]
    assert json.loads(file.read_text()) == changed


def test_dry_run_and_print_change_nothing(own_user: Path) -> None:
    file = own_user / ".claude.json"
    file.write_text(CLAUDE)
    assert '+  "codenib"' in run("install", "--client", "claude-code", "--dry-run").output.replace(
        "    ", "  "
    )
    printed = run("install", "--client", "codex", "--print").output
    assert "[mcp_servers.codenib]" in printed
    assert file.read_text() == CLAUDE
    assert not (own_user / ".codex").exists()
    rows = json.loads(run("install", "--client", "claude-code", "--dry-run", "--json").output)
    assert (rows["items"][0]["file"], rows["items"][0]["applied"]) == (str(file), False)


@pytest.mark.parametrize("text", ["{", "[1]", '{"mcpServers": 5}', '{"a": 1} x', "nonsense"])
def test_a_file_that_cannot_be_read_is_left_alone(text: str, own_user: Path) -> None:
    file = own_user / ".claude.json"
    file.write_text(text)
    with pytest.raises(InputError) as raised:
        run("install", "--client", "claude-code")
    assert "--print" in raised.value.hint
    assert file.read_text() == text


def test_a_server_of_the_same_name_is_not_overwritten(own_user: Path) -> None:
    (own_user / ".claude.json").write_text('{"mcpServers": {"codenib": {"command": "mine"}}}')
    with pytest.raises(InputError, match="already"):
        run("install", "--client", "claude-code")


def test_project_scope_and_agents_md(git_repo: Any) -> None:
    repo: GitRepo = git_repo()
    repo.commit({"AGENTS.md": "# Rules\nBe kind."})
    run("-C", str(repo.path), "install", "--client", "claude-code", "--scope", "project", "--agents-md")
    entry = json.loads((repo.path / ".mcp.json").read_text())["mcpServers"]["codenib"]
    assert entry == {"type": "stdio", "command": "codenib", "args": ["mcp"]}
    assert AGENTS_BLOCK in (repo.path / "AGENTS.md").read_text()
    assert len(AGENTS_BLOCK.strip().split("\n")) == 5
    run("-C", str(repo.path), "uninstall", "--client", "claude-code", "--scope", "project", "--agents-md")
    assert not repo.git("status", "--porcelain")


def test_without_a_client_those_that_are_there_are_set_up(own_user: Path) -> None:
    with pytest.raises(InputError, match="no client"):
        run("install")
    (own_user / ".cursor").mkdir()
    (own_user / ".gemini").mkdir()
    run("install")
    assert (own_user / ".cursor" / "mcp.json").exists()
    assert (own_user / ".gemini" / "settings.json").exists()
    assert not (own_user / ".codex").exists()
    run("uninstall")
    assert not (own_user / ".cursor" / "mcp.json").exists()


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.dictionaries(st.text(max_size=6), VALUES, max_size=4),
    st.none()
    | st.dictionaries(
        st.text(min_size=1, max_size=6).filter(lambda name: name != "codenib"), VALUES, max_size=3
    ),
    st.sampled_from([None, 1, 2, 4, "\t"]),
)
def test_any_json_gains_our_server_and_loses_it_again(
    rest: dict[str, Any], servers: dict[str, Any] | None, indent: int | str | None
) -> None:
    client = CLIENTS["gemini"]
    whole = dict(rest) if servers is None else {**rest, "mcpServers": servers}
    whole = (
        whole if servers is not None else {key: value for key, value in whole.items() if key != "mcpServers"}
    )
    text = json.dumps(whole, indent=indent)
    after = with_server(text, client, ServerEntry("codenib"))
    found = json.loads(after)
    assert found["mcpServers"].pop("codenib") == {"command": "codenib", "args": ["mcp"]}
    assert found == {**whole, "mcpServers": servers or {}}
    assert without_server(after, client, added_between(text, after)) == text
    by_structure = json.loads(without_server(after, client, ""))
    assert by_structure == found


@pytest.mark.parametrize("name", list(CLIENTS))
def test_an_own_home_is_carried_into_ones_own_file_and_into_none_that_others_share(
    name: str, own_user: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODENIB_HOME", str(tmp_path / "state"))
    shown = run("install", "--client", name, "--print").stdout
    entry: dict[str, Any] = tomllib.loads(shown) if CLIENTS[name].form == "toml" else json.loads(shown)
    ours = entry[CLIENTS[name].key]["codenib"]
    assert (ours.get("env") or ours["environment"]) == {"CODENIB_HOME": str(tmp_path / "state")}
    if CLIENTS[name].project:
        assert "CODENIB_HOME" not in run("install", "--client", name, "--scope", "project", "--print").stdout


def test_a_client_that_names_no_folder_gets_the_repository(tmp_path: Path) -> None:
    GitRepo(tmp_path / "shop")
    shown = run("-C", str(tmp_path / "shop"), "install", "--client", "windsurf", "--print").stdout
    assert json.loads(shown)["mcpServers"]["codenib"]["args"] == ["mcp", "-C", str(tmp_path / "shop")]
    again = run("-C", str(tmp_path / "shop"), "install", "--client", "gemini", "--print").stdout
    assert json.loads(again)["mcpServers"]["codenib"]["args"] == ["mcp"]

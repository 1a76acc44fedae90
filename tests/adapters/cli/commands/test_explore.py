"""`explore` and `map` as a user and a script see them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.gitrepo import GitRepo

from codenib.adapters.cli.main import cli
from codenib.serving.context.tokens import count

FILES = {
    "src/session.py": (
        "def save_session(store):\n    store.write()\n\n\ndef drop_session(store):\n    store.clear()\n"
    ),
    "src/login.py": "from session import save_session\n\n\ndef login(user):\n    save_session(user.store)\n",
}


@pytest.fixture
def run(git_repo: Callable[..., GitRepo]) -> Callable[..., str]:
    repository = git_repo("project")
    repository.commit(FILES)

    def run(*args: str) -> str:
        done = CliRunner().invoke(cli, ["-C", str(repository.path), *args], catch_exceptions=False)
        assert done.exit_code == 0
        return done.stdout

    return run


def test_explore_prints_the_pack(run: Callable[..., str]) -> None:
    shown = run("explore", "save a session", "--max-tokens", "300")
    assert "src/session.py:1-" in shown
    assert "def save_session(store):\n    store.write()\n" in shown
    assert count(shown) <= 300


def test_explore_json_has_the_documented_shape(run: Callable[..., str]) -> None:
    answer = json.loads(run("explore", "save a session", "--max-tokens", "300", "--json"))
    assert list(answer["items"][0]) == [
        "path", "start_line", "end_line", "symbol", "kind", "text", "form", "tokens", "also", "sent_before",
    ]  # fmt: skip
    assert answer["tokenizer"] == "cl100k_base"
    assert answer["tokens"] == count(answer["text"])


def test_a_ledger_file_carries_over_to_the_next_call(run: Callable[..., str], tmp_path: Path) -> None:
    ledger = str(tmp_path / "ledger.json")
    assert "store.write()" in run("explore", "save a session", "--ledger", ledger)
    again = run("explore", "save a session", "--ledger", ledger)
    assert "store.write()" not in again
    assert "(lines already sent)" in again


def test_map_prints_and_has_the_documented_shape(run: Callable[..., str]) -> None:
    assert "def save_session(store)" in run("map", "--query", "session")
    answer = json.loads(run("map", "--max-tokens", "100", "--json"))
    assert list(answer["items"][0]) == ["path", "line", "symbol", "kind", "text", "importance"]
    assert answer["tokens"] <= 100

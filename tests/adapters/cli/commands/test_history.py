"""`codenib history` as a user and a script see it."""

from __future__ import annotations

import json
from collections.abc import Callable

import msgspec
import pytest
from tests.adapters.cli.test_commands import FILES, Terminal
from tests.gitrepo import GitRepo

import codenib


@pytest.fixture
def terminal(git_repo: Callable[..., GitRepo]) -> Terminal:
    repository = git_repo("project")
    repository.commit(FILES, "Add sessions")
    changed = FILES["src/session.py"].replace("store.clear()", "store.drop()")
    repository.commit({"src/session.py": changed}, "Drop, not clear\n\nclear() kept the keys.")
    return Terminal(repository)


def test_history_names_commit_author_day_and_reason(terminal: Terminal) -> None:
    done = terminal.run("history", "src/session.py")
    first, where, *_ = done.stdout.splitlines()
    assert first.startswith(terminal.repository.head()[:10])
    assert "Test  Drop, not clear" in first
    assert where.strip() == "src/session.py:6  +1 −1"
    assert "2 of 2 commits up to" in done.stderr
    assert "clear() kept the keys." in terminal.run("history", "src/session.py:6", "--full").stdout


def test_history_json_has_the_documented_shape(terminal: Terminal) -> None:
    answer = terminal.json("history", "src/session.py:5-6", "-k", "1")
    assert (answer["total"], answer["truncated"], answer["complete"], answer["uncommitted"]) == (
        2,
        True,
        True,
        0,
    )
    assert answer["snapshot"]["commit"] == terminal.repository.head()
    (first,) = answer["items"]
    assert first["message"] == "Drop, not clear\n\nclear() kept the keys."
    assert first["lines"] == [[6, 6]]
    assert first["committed"].endswith("Z")
    with codenib.open(terminal.repository.path) as workspace:
        same = workspace.history("src/session.py", 5, 6, k=1)
    assert answer["together"] == json.loads(msgspec.json.encode(same.together))
    assert [row["commit"] for row in answer["items"]] == [item.commit for item in same.items]


def test_history_at_a_revision_knows_nothing_later(terminal: Terminal) -> None:
    answer = terminal.json("history", "src/session.py", "--at", "HEAD~1")
    assert [row["subject"] for row in answer["items"]] == ["Add sessions"]


def test_history_is_a_view_like_the_others(terminal: Terminal) -> None:
    assert "2 commits" in terminal.run("index", "--views", "lexical,history").stdout
    terminal.repository.commit({"new.py": "x = 1\n"})
    assert terminal.json("update")["done"] == {"lexical": "maintained", "history": "maintained"}
    assert terminal.json("verify")["views"] == ["lexical", "history"]
    assert "not a file" in terminal.run("history", "none.py", code=2).stderr

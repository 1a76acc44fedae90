"""Fixes are mined from a history as they stood before each commit, and follow renames."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.gitrepo import GitRepo

from codenib.compiler.compiler import silent
from codenib.core.requests import SnapshotRequest
from codenib.core.views import ViewKind
from codenib.learning.rows import MinedHistory, is_row, mine_history, question
from codenib.serving.workspace import Workspace

CODE = "def first(a):\n    return a\n\n\ndef second(b):\n    return b\n"


@pytest.fixture
def mined(git_repo: Callable[..., GitRepo]) -> MinedHistory:
    repository = git_repo()
    repository.commit({"old.py": CODE, "test_old.py": "def test():\n    pass\n"}, "Begin")
    repository.commit(
        {"old.py": CODE.replace("return b", "return b + 1")}, "Fix the second of two answers now"
    )
    repository.git("mv", "old.py", "new.py")
    repository.commit(message="Rename it")
    repository.commit({"new.py": CODE, "test_old.py": "def test():\n    assert 1\n"}, "Back")
    with Workspace(repository.path) as workspace:
        pinned = workspace.snapshots.pin(ViewKind.HISTORY, SnapshotRequest())[0]
        return mine_history(pinned.history.commits(), pinned.open_blobs(), 10, silent)


def test_a_fix_is_its_message_with_the_functions_that_its_hunks_touch(mined: MinedHistory) -> None:
    back, fix = mined.fixes
    assert (fix.text, fix.paths, fix.symbols) == (
        "Fix the second of two answers now",
        ("old.py",),
        (("old.py", "second"),),
    )
    assert back.paths == ("new.py",), "a test is no target, and a file that is new is none"
    assert is_row(fix)
    assert not is_row(back), "one word asks nothing"


def test_an_old_fix_names_files_as_they_are_called_at_a_place(mined: MinedHistory) -> None:
    assert [fix.paths for fix in mined.named_at()] == [("new.py",), ("new.py",)]
    assert mined.named_at()[1].symbols == (("new.py", "second"),)
    assert [fix.paths for fix in mined.named_at(1)] == [("new.py",), ("old.py",)]


def test_a_question_has_neither_trailers_nor_links() -> None:
    text = "Fix it (#12)\n\nSee https://example.com/x\nSigned-off-by: A <a@b.c>\n"
    assert question(text) == "Fix it \n\nSee"

"""Questions about the past through the workspace: of the worktree, of a revision, never of the future."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.gitrepo import GitRepo

import codenib
from codenib.core.errors import InputError
from codenib.core.requests import CURRENT, HistoryRequest
from codenib.core.views import ViewKind
from codenib.serving.navigation.history import unit_histories
from codenib.serving.workspace import Workspace

Make = Callable[..., GitRepo]
CODE = "def first():\n    return 1\n\n\ndef second():\n    return 2\n"


@pytest.fixture
def repo(git_repo: Make) -> GitRepo:
    repo = git_repo()
    repo.commit({"a.py": CODE, "b.py": "x = 1\n"}, "create")
    repo.commit({"a.py": CODE.replace("return 2", "return 22")}, "second is 22\n\nBecause it must be.")
    return repo


def subjects(workspace: Workspace, path: str, *lines: int, at: str | None = None) -> list[str]:
    return [item.subject for item in workspace.history(path, *lines, at=at).items]


def test_a_file_and_lines_of_it_with_messages(repo: GitRepo) -> None:
    with codenib.open(repo.path) as workspace:
        assert subjects(workspace, "a.py") == ["second is 22", "create"]
        assert subjects(workspace, "a.py", 1, 2) == ["create"]
        answer = workspace.history(str(repo.path / "a.py"), 5, 6, k=1)
    (item,) = answer.items
    assert (answer.total, answer.truncated, answer.complete) == (2, True, True)
    assert (answer.start_line, answer.end_line, answer.commits, answer.reachable) == (5, 6, 2, 2)
    assert (item.author, item.message) == ("Test", "second is 22\n\nBecause it must be.")
    assert (item.path, item.lines, item.added, item.removed) == ("a.py", ((6, 6),), 1, 1)
    assert answer.snapshot.commit == item.commit == repo.head()


def test_nothing_after_the_revision_is_known(repo: GitRepo) -> None:
    first = repo.git("rev-parse", "HEAD~1")
    with codenib.open(repo.path) as workspace:
        assert workspace.history("a.py").total == 2
        answer = workspace.history("a.py", at=first)
        assert [item.commit for item in answer.items] == [first]
        assert answer.reachable == 1
        assert answer.snapshot.commit == first


def test_edits_cost_no_new_view_and_shift_the_lines(repo: GitRepo) -> None:
    with codenib.open(repo.path) as workspace:
        workspace.index([ViewKind.HISTORY])
        repo.write("a.py", "# top\n# top\n" + CODE.replace("return 2", "return 22"))
        assert workspace.update().views == {ViewKind.HISTORY: "reused"}
        assert subjects(workspace, "a.py", 7, 8) == ["second is 22", "create"]
        assert subjects(workspace, "a.py", 3, 4) == ["create"]
        answer = workspace.history("a.py", 1, 4)
        assert answer.uncommitted == 2
        assert workspace.history("a.py").uncommitted == 2
        assert workspace.history("b.py").uncommitted == 0
        assert workspace.history("a.py", 1, 1).items == ()


def test_a_file_that_is_not_committed_has_no_past(repo: GitRepo) -> None:
    repo.write("new.py", "x\ny\n")
    with codenib.open(repo.path) as workspace:
        answer = workspace.history("new.py")
    assert (answer.total, answer.uncommitted) == (0, 2)
    assert "in no commit" in answer.note


def test_an_empty_commit_and_an_amended_message_are_seen(repo: GitRepo) -> None:
    with codenib.open(repo.path) as workspace:
        workspace.index([ViewKind.HISTORY])
        repo.commit({}, "empty")
        assert workspace.update().views == {ViewKind.HISTORY: "maintained"}
        assert workspace.history("a.py").reachable == 3
        repo.git("reset", "-q", "--hard", "HEAD~1")
        repo.git("commit", "-q", "--amend", "-m", "better words")
        workspace.update()
        assert subjects(workspace, "a.py") == ["better words", "create"]
        assert workspace.verify([ViewKind.HISTORY]) == {ViewKind.HISTORY: []}


def test_words_alone_at_a_revision_build_no_history(repo: GitRepo) -> None:
    with codenib.open(repo.path) as workspace:
        workspace.index([ViewKind.LEXICAL, ViewKind.HISTORY])
        repo.commit({"a.py": CODE}, "third")
        workspace.search("second")
        assert workspace.status().fresh
        answer = workspace.search("second", at="HEAD~1")
        pinned = workspace.snapshots.of_snapshot(answer.snapshot.id)
        assert ViewKind.HISTORY in pinned.manifest.views  # published before
        answer = workspace.search("second", at="HEAD~2", route="lexical")
        assert ViewKind.HISTORY not in workspace.snapshots.of_snapshot(answer.snapshot.id).manifest.views


def test_units_know_the_commits_that_touched_them(repo: GitRepo) -> None:
    repo.write("a.py", "# top\n" + CODE.replace("return 2", "return 22"))
    with codenib.open(repo.path) as workspace:
        workspace.index([ViewKind.HISTORY])
        pinned, _ = workspace.snapshots.pin(ViewKind.HISTORY, CURRENT)
        units = unit_histories(pinned, workspace._compiler.history.log, "a.py")
    assert [(unit.symbol, unit.start_line, len(unit.commits)) for unit in units] == [
        ("first", 1, 1),
        ("second", 6, 2),
    ]
    assert units[1].commits[0] == repo.head()


def test_files_that_change_together(git_repo: Make) -> None:
    repo = git_repo()
    for n in range(3):
        repo.commit({"a.py": f"{n}\n", "test_a.py": f"{n}\n"})
        repo.commit({"c.py": f"{n}\n"})
    with codenib.open(repo.path) as workspace:
        assert [other.path for other in workspace.history("a.py").together] == ["test_a.py"]
        assert workspace.history("a.py", 1, 1).together == ()


def test_a_bare_repository_answers_for_its_head(repo: GitRepo, tmp_path: Path) -> None:
    bare = repo.clone(tmp_path / "bare.git", "--bare")
    with codenib.open(bare.path) as workspace:
        assert subjects(workspace, "a.py", 6) == ["second is 22", "create"]


def test_a_shallow_clone_says_that_it_is_one(repo: GitRepo, tmp_path: Path) -> None:
    clone = repo.clone(tmp_path / "clone", "--depth", "1")
    with codenib.open(clone.path) as workspace:
        answer = workspace.history("a.py")
        assert (answer.total, answer.complete) == (0, False)
        assert "unshallow" in answer.note
        clone.git("fetch", "-q", "--unshallow")
        assert workspace.update().views[ViewKind.HISTORY] == "built"
        assert subjects(workspace, "a.py") == ["second is 22", "create"]


def test_a_folder_and_a_wrong_place_are_input_errors(repo: GitRepo, tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "a.py").write_text("x\n")
    with codenib.open(tmp_path / "plain") as workspace, pytest.raises(InputError, match="not in a git"):
        workspace.history("a.py")
    with codenib.open(repo.path) as workspace:
        with pytest.raises(InputError, match="not a file"):
            workspace.history("none.py")
        with pytest.raises(InputError, match="has 6 lines"):
            workspace.history("a.py", 7, 9)


def test_the_bound_comes_from_the_environment(repo: GitRepo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODENIB_HISTORY_COMMITS", "1")
    with codenib.open(repo.path) as workspace:
        answer = workspace.history("a.py")
        assert (answer.total, answer.commits, answer.reachable, answer.complete) == (1, 1, 2, False)
        assert "older than the 1 commits" in answer.note
        monkeypatch.setenv("CODENIB_HISTORY_COMMITS", "many")
        with pytest.raises(InputError, match="CODENIB_HISTORY_COMMITS"):
            workspace.update()


def test_each_line_has_the_commit_that_git_blames(repo: GitRepo) -> None:
    moved = CODE.replace("return 2", "return 22").replace("def first", "# a comment\ndef first")
    repo.commit({"a.py": moved}, "comment")
    repo.git("mv", "a.py", "c.py")
    repo.commit({"c.py": f"{moved}\n\ndef third():\n    return 3\n"}, "third")
    blamed = repo.git("blame", "-s", "-l", "c.py").splitlines()
    with codenib.open(repo.path) as workspace:
        answer = workspace.navigator.blame(HistoryRequest("c.py"))
        by_line = {line: run.commit for run in answer for line in range(run.start_line, run.end_line + 1)}
    repo.write("c.py", f"new = 1\n{moved}")
    with codenib.open(repo.path) as workspace:
        edited = workspace.navigator.blame(HistoryRequest("c.py"))

    assert [by_line[line][:35] for line in range(1, len(blamed) + 1)] == [
        line.lstrip("^")[:35] for line in blamed
    ]
    assert (answer.uncommitted, answer.unknown) == (0, 0)
    assert (edited.items[0].commit, edited.items[0].end_line) == ("", 1)
    assert (edited.uncommitted, edited.unknown) == (1, 0)

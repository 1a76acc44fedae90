"""Commits that git itself would not make: every view of them is made, with the right counts, and answers."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.gitrepo import GitRepo
from tests.hostile.trees import raw_tree

import codenib
from codenib.adapters.cli.main import cli
from codenib.core.views import Status, ViewKind
from codenib.snapshot.history import CommitLog
from codenib.snapshot.repository import locate

_VIEWS = (ViewKind.LEXICAL, ViewKind.TRIGRAM, ViewKind.DENSE, ViewKind.HISTORY, ViewKind.GRAPH)


def commit_dated(repo: GitRepo, date: str, text: str) -> None:
    """A commit that changes `a.rb`, with a date as it stands."""
    repo.write("a.rb", text)
    repo.git("add", "-A")
    who = f"A <a@b> {date}"
    raw = f"tree {repo.git('write-tree')}\nparent {repo.head()}\n"
    raw += f"author {who}\ncommitter {who}\n\ndated {date}\n"
    command = ["git", "-C", str(repo.path), "hash-object", "-t", "commit", "-w", "--literally", "--stdin"]
    made = subprocess.run(command, input=raw.encode(), capture_output=True, check=True)
    repo.git("update-ref", "refs/heads/main", made.stdout.decode().strip())


def test_absurd_dates_are_in_the_history_and_no_view_fails(git_repo: Callable[..., GitRepo]) -> None:
    repo = git_repo()
    repo.commit({"a.rb": "def a\nend\n"})
    dates = [
        "99999999999999 +0000",
        "-1 +0000",
        "0 -9999",
        "18446744073709551615 +0000",
        "12 +99999999",
        "x y",
    ]
    for number, date in enumerate(dates):
        commit_dated(repo, date, f"def a{number}\nend\n")
    with codenib.open(repo.path) as workspace:
        views = workspace.index(_VIEWS).manifest.views
        assert {view.status for view in views.values()} == {Status.FRESH}
        assert views[ViewKind.HISTORY].counts["commits"] == len(dates) + 1
        assert not any(workspace.verify(_VIEWS).values())
    done = CliRunner().invoke(cli, ["-C", str(repo.path), "history", "a.rb", "--json"])
    assert done.exit_code == 0, done.output
    subjects = {item["subject"] for item in json.loads(done.stdout)["items"]}
    assert subjects == {"commit", *(f"dated {date}" for date in dates)}


def test_a_commit_of_the_past_with_ten_billion_files_is_left_out_and_said_to_be(
    git_repo: Callable[..., GitRepo],
) -> None:
    repo = git_repo()
    repo.commit({"a.rb": "def a\nend\n"})
    good = repo.git("rev-parse", "HEAD:a.rb")
    bomb = raw_tree(repo, *(("100644", f"f{number}".encode(), good) for number in range(10)))
    for _ in range(9):
        bomb = raw_tree(repo, *(("40000", f"d{number}".encode(), bomb) for number in range(10)))
    for tree, message in ((bomb, "comes"), ("main~1^{tree}", "goes")):
        repo.git("update-ref", "refs/heads/main", repo.git("commit-tree", tree, "-p", "main", "-m", message))
    last = repo.commit({"a.rb": "def b\nend\n"}, "last")
    log = CommitLog(locate(repo.path), memory_bytes=64 << 20)
    commits = {commit.message: commit for commit in log.read(repo.git("rev-list", last).split())}
    assert [(name, each.oversized, len(each.changes)) for name, each in commits.items()] == [
        ("last", False, 1),
        ("goes", True, 0),
        ("comes", True, 0),
        ("commit", False, 1),
    ]
    with codenib.open(repo.path) as workspace:
        view = workspace.index((ViewKind.HISTORY,)).manifest.views[ViewKind.HISTORY]
        assert (view.counts["commits"], view.counts["commits left out"]) == (2, 2)
        answer = workspace.history("a.rb")
        assert not answer.complete and "2 commits that change more files" in answer.note


@pytest.mark.parametrize("bare", [False, True])
def test_a_file_and_a_folder_of_one_name_count_once_and_the_rest_is_reported(
    git_repo: Callable[..., GitRepo], tmp_path: Path, bare: bool
) -> None:
    repo = git_repo()
    repo.commit({"good.rb": "def good\nend\n"})
    good = repo.git("rev-parse", "HEAD:good.rb")
    folder = raw_tree(repo, ("100644", b"inner.rb", good))
    entries = [(b"good.rb", "100644", good), (b"same.rb", "100644", good), (b"same.rb", "40000", folder)]
    tree = raw_tree(repo, *((mode, name, oid) for name, mode, oid in entries))
    repo.git("update-ref", "refs/heads/evil", repo.git("commit-tree", tree, "-m", "one name twice"))
    place = repo.clone(tmp_path / "bare.git", "--bare").path if bare else repo.path
    with codenib.open(place) as workspace:
        outcome = workspace.index(_VIEWS, at="evil")
        views = outcome.manifest.views
        assert {view.status for view in views.values()} == {Status.FRESH}
        assert {view.counts["files"] for kind, view in views.items() if kind is not ViewKind.HISTORY} == {2}
        assert sorted(outcome.snapshot.files) == ["good.rb", "same.rb"]
        assert sum(outcome.snapshot.skipped.values()) == 1
        assert not any(workspace.verify(_VIEWS, at="evil").values())
        assert [match.path for match in workspace.regex("def good", at="evil")] == ["good.rb", "same.rb"]

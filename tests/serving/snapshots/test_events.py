"""File events: every change of the worktree is known the moment it is made."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.gitrepo import GitRepo

from codenib.serving.snapshots.events import FileEvents
from codenib.serving.workspace import Workspace
from codenib.snapshot.repository import locate

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="exact file events are Linux's")


@pytest.fixture
def repo(git_repo: Callable[..., GitRepo]) -> GitRepo:
    repo = git_repo()
    repo.commit({"a.py": "def first():\n    pass\n", "d/b.py": "x = 1\n", ".gitignore": "out/\n"})
    return repo


@pytest.fixture
def events(repo: GitRepo) -> Iterator[FileEvents]:
    events = FileEvents(locate(repo.path))
    events.start()
    assert events.watching, events.note
    yield events
    events.close()


def change_file(repo: GitRepo) -> None:
    repo.write("d/b.py", "x = 2\n")


def make_file_in_new_folder(repo: GitRepo) -> None:
    repo.write("n/e/w/c.py", "y = 1\n")


def remove_file(repo: GitRepo) -> None:
    repo.remove("a.py")


def rename_folder(repo: GitRepo) -> None:
    (repo.path / "d").rename(repo.path / "e")


def stage_and_commit(repo: GitRepo) -> None:
    repo.git("commit", "-q", "--allow-empty", "-m", "empty")


def make_branch(repo: GitRepo) -> None:
    repo.branch("feature/one")


CHANGES = [change_file, make_file_in_new_folder, remove_file, rename_folder, stage_and_commit, make_branch]


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_known_at_once(
    repo: GitRepo, events: FileEvents, change: Callable[[GitRepo], None]
) -> None:
    moment = time.monotonic()
    assert events.unchanged_since(moment) is True
    change(repo)
    assert events.unchanged_since(moment) is False
    assert events.unchanged_since(time.monotonic()) is True


def test_files_of_new_and_renamed_folders_are_watched(repo: GitRepo, events: FileEvents) -> None:
    make_file_in_new_folder(repo)
    rename_folder(repo)
    assert events.unchanged_since(0) is False
    for path in ("n/e/w/c.py", "e/b.py"):
        moment = time.monotonic()
        repo.write(path, "z = 3\n")
        assert events.unchanged_since(moment) is False, path


def test_ignored_folders_say_nothing(repo: GitRepo) -> None:
    repo.write("out/made.txt", "1")
    events = FileEvents(locate(repo.path))
    events.start()
    moment = time.monotonic()
    repo.write("out/made.txt", "2")
    assert events.unchanged_since(moment) is True
    repo.write(".gitignore", "")
    assert events.unchanged_since(moment) is False
    moment = time.monotonic()
    repo.write("out/made.txt", "3")
    assert events.unchanged_since(moment) is False
    events.close()
    assert events.unchanged_since(moment) is None


def test_a_linked_worktree_hears_of_its_own_commits(repo: GitRepo, tmp_path: Path) -> None:
    linked = repo.worktree(tmp_path / "linked", "-b", "other")
    events = FileEvents(locate(linked.path))
    events.start()
    moment = time.monotonic()
    linked.git("commit", "-q", "--allow-empty", "-m", "empty")
    assert events.unchanged_since(moment) is False
    events.close()


def test_with_events_an_edit_is_in_the_very_next_answer(repo: GitRepo, events: FileEvents) -> None:
    with Workspace(repo.path) as workspace:
        workspace.maintenance.snapshots.unchanged_since = events.unchanged_since
        for number in range(20):
            repo.write("a.py", f"def name_{number}():\n    pass\n")
            assert workspace.search(f"name_{number}").items[0].symbol == f"name_{number}"
            assert workspace.read("a.py", 1, 1).text == f"def name_{number}():"
        looked: list[float] = []

        def unchanged(moment: float) -> bool | None:
            looked.append(moment)
            return events.unchanged_since(moment)

        workspace.maintenance.snapshots.unchanged_since = unchanged
        first, again = workspace.search("name_19"), workspace.search("name_19")
        assert first.items == again.items
        assert looked[-1] == looked[-2]  # the second question took no new look at the files

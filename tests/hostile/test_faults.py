"""Every write step of an index with a full disk or an I/O error: a clear error, and nothing is lost."""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.gitrepo import GitRepo
from tests.hostile.faults import FaultyDisk

import codenib
from codenib.core.errors import StateError
from codenib.core.views import Status, ViewKind
from codenib.manifest.home import home

_VIEWS = (ViewKind.LEXICAL, ViewKind.TRIGRAM, ViewKind.HISTORY)
_CODES = (errno.ENOSPC, errno.EIO)


@pytest.fixture
def harbour(git_repo: Callable[..., GitRepo]) -> GitRepo:
    repo = git_repo("harbour")
    repo.commit({"pier.rb": "def mooring\nend\n", "ship.rb": "def sail\nend\n"})
    return repo


def index(repo: GitRepo) -> bool:
    """Index; whether every view is fresh after it."""
    with codenib.open(repo.path) as workspace:
        views = workspace.index(_VIEWS).manifest.views.values()
    return all(view.status is Status.FRESH for view in views)


def paths(repo: GitRepo, word: str) -> list[str]:
    with codenib.open(repo.path) as workspace:
        return [match.path for match in workspace.regex(word)]


def test_a_fault_at_any_write_step_is_an_error_and_the_next_run_is_clean(harbour: GitRepo) -> None:
    step, errors = 1, 0
    while True:
        harbour.write("pier.rb", f"def mooring_{step}\nend\n")
        disk = FaultyDisk(home(), step, _CODES[step % 2])
        with disk.installed():
            try:
                assert index(harbour), step  # a fault says nothing of a view: none is published as failed
            except StateError as error:
                errors += 1
                assert error.message, step
                assert error.hint, step
        if disk.steps < step:
            break
        assert paths(harbour, f"mooring_{step}") == ["pier.rb"]
        assert paths(harbour, "sail") == ["ship.rb"]
        assert index(harbour)
        step += 1
    assert step > 20
    assert errors > step // 3


def test_a_full_disk_still_answers_from_what_is_published_and_says_so(harbour: GitRepo) -> None:
    index(harbour)
    harbour.write("pier.rb", "def moved\nend\n")
    with FaultyDisk(home(), 1, errno.ENOSPC, stays=True).installed(), codenib.open(harbour.path) as workspace:
        answer = workspace.search("mooring")
    assert [item.path for item in answer] == ["pier.rb"]
    assert answer.snapshot.stale
    assert "No space left on device" in answer.refreshed


def test_a_read_only_home_answers_for_files_that_did_not_change(harbour: GitRepo) -> None:
    index(harbour)
    with FaultyDisk(home(), 1, errno.EROFS, stays=True).installed(), codenib.open(harbour.path) as workspace:
        answer = workspace.search("mooring")
        assert workspace.status().fresh
    assert [item.path for item in answer] == ["pier.rb"]
    assert not answer.snapshot.stale


def test_a_home_that_is_a_file_is_an_error_that_names_the_variable(
    harbour: GitRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("CODENIB_HOME", str(tmp_path / "file"))
    with pytest.raises(StateError) as caught:
        paths(harbour, "mooring")
    assert "CODENIB_HOME" in caught.value.hint
    assert (tmp_path / "file").read_bytes() == b""

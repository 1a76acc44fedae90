"""Which lines a diff edits, on the side that the files have."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.gitrepo import GitRepo

import codenib
from codenib.core.errors import InputError
from codenib.core.requests import CURRENT
from codenib.core.views import ViewKind
from codenib.serving.impact.edits import EditedFile, edits_between, edits_of_diff

BEFORE = "".join(f"line {number}\n" for number in range(1, 21))
AFTER = BEFORE.replace("line 3\n", "line 3\nnew\n").replace("line 9\n", "").replace("line 15\n", "other\n")


@pytest.fixture
def repo(git_repo: Callable[..., GitRepo]) -> GitRepo:
    repo = git_repo()
    repo.commit({"a.txt": BEFORE, "old.txt": "gone\n", "dir ä/b.txt": "one\n"})
    return repo


def _edits(repo: GitRepo, diff: str) -> list[EditedFile]:
    with codenib.open(repo.path) as workspace:
        return edits_of_diff(diff, workspace.snapshots.pin(None, CURRENT)[0])


@pytest.mark.parametrize("context", ["-U0", "-U3", "-U12"])
def test_lines_are_those_of_the_side_that_the_files_have(repo: GitRepo, context: str) -> None:
    repo.write("a.txt", AFTER)
    diff = repo.git("diff", context) + "\n"
    (applied,) = _edits(repo, diff)
    assert applied.hunks == ((4, 1), (9, 0), (15, 1))
    assert applied.before == tuple(BEFORE.splitlines())
    repo.git("checkout", "a.txt")
    (waiting,) = _edits(repo, diff)
    assert waiting.hunks == ((3, 0), (9, 1), (15, 1))
    assert waiting.before is None


def test_a_removal_touches_what_is_around_it_and_nothing_beside_it() -> None:
    edited = EditedFile("a.txt", ((9, 0),))
    assert edited.touches(8, 11)
    assert edited.touches(9, 10)
    assert not edited.touches(5, 9)
    assert not edited.touches(10, 12)


def test_new_removed_and_quoted_files(repo: GitRepo) -> None:
    repo.write("new.txt", "fresh\n")
    repo.write("dir ä/b.txt", "two\n")
    (repo.path / "old.txt").unlink()
    repo.git("add", "-A")
    edits = {each.path: each for each in _edits(repo, repo.git("diff", "--cached") + "\n")}
    assert edits["new.txt"].whole
    assert (edits["old.txt"].absent, edits["old.txt"].before) == (True, ("gone",))
    assert edits["dir ä/b.txt"].hunks == ((1, 1),)


def test_the_same_edits_come_from_two_snapshots(repo: GitRepo) -> None:
    repo.write("a.txt", AFTER)
    (repo.path / "old.txt").unlink()
    with codenib.open(repo.path) as workspace:
        now = workspace.snapshots.pin(None, CURRENT)[0]
        head = workspace.snapshots.pin_ready(ViewKind.LEXICAL, "HEAD")
        edits, left_out = edits_between(head, now, 10)
        assert left_out == 0
        assert edits_between(head, now, 1) == (edits[:1], 1)
    assert [(each.path, each.hunks, each.absent) for each in edits] == [
        ("a.txt", ((4, 1), (9, 0), (15, 1)), False),
        ("old.txt", (), True),
    ]


def test_a_line_that_looks_like_a_header_is_a_line(repo: GitRepo) -> None:
    repo.write("a.txt", BEFORE.replace("line 5\n", "++ b/x\n"))
    (edited,) = _edits(repo, repo.git("diff") + "\n")
    assert edited.hunks == ((5, 1),)


def test_text_that_is_no_diff_is_refused(repo: GitRepo) -> None:
    with pytest.raises(InputError, match="unified diff"):
        _edits(repo, "hello\n")

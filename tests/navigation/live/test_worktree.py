"""What changed in a folder since the last look."""

from __future__ import annotations

from pathlib import Path

import pytest

from codenib.navigation.live.worktree import Changes, Worktree


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in (
        "a.py",
        "sub/b.py",
        "node_modules/c.py",
        ".git/d.py",
        "env/pyvenv.cfg",
        "env/lib/e.py",
        "f.txt",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    return tmp_path


def test_only_the_repositorys_own_files_are_watched(folder: Path) -> None:
    assert watch(folder).paths == ["a.py", "sub/b.py"]


def test_changes_are_told_once(folder: Path) -> None:
    worktree = watch(folder)
    (folder / "a.py").write_text("y")  # the same size, within one tick of the clock
    (folder / "sub/b.py").unlink()
    (folder / "new.py").write_text("")
    assert worktree.changes() == Changes(("new.py",), ("a.py",), ("sub/b.py",))
    assert worktree.changes() == Changes()


def test_every_one_of_many_quick_writes_is_told(folder: Path) -> None:
    worktree = watch(folder)
    for number in range(50):
        (folder / "a.py").write_text(f"{number % 10}")
        assert worktree.changes().changed == ("a.py",)


def watch(folder: Path) -> Worktree:
    return Worktree(folder, lambda name: name.endswith(".py"))

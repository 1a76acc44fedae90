"""What git would never be done with is an error that names it: a pipe, or a rule that explodes."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.gitrepo import GitRepo

import codenib


@pytest.mark.parametrize(
    "name", [".git/shallow", ".git/index", ".git/config", ".gitignore", "src/.gitignore"]
)
def test_a_pipe_in_the_place_of_a_file_is_refused_by_name(
    git_repo: Callable[..., GitRepo], name: str
) -> None:
    repo = git_repo("pipes")
    repo.commit({"src/a.rb": "def mooring\nend\n"})
    (repo.path / name).unlink(missing_ok=True)
    os.mkfifo(repo.path / name)
    with pytest.raises(codenib.InputError, match=f"{name} is not a regular file") as caught:
        codenib.open(repo.path).regex("mooring")
    assert caught.value.hint.startswith("rm ")


def test_a_pipe_among_the_rules_of_a_plain_folder_is_refused_too(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("plain")
    (folder / "a.rb").write_text("def mooring\nend\n")
    os.mkfifo(folder / ".gitignore")
    with pytest.raises(codenib.InputError, match="is not a regular file"):
        codenib.open(folder).regex("mooring")


@pytest.mark.parametrize("name", ["worktrees/linked/commondir", "worktrees/linked/HEAD", "config"])
def test_a_pipe_behind_a_linked_worktree_is_refused_by_name(
    git_repo: Callable[..., GitRepo], tmp_path: Path, name: str
) -> None:
    repo = git_repo("pipes")
    repo.commit({"src/a.rb": "def mooring\nend\n"})
    linked = repo.worktree(tmp_path / "linked", "-b", "side")
    (repo.path / ".git" / name).unlink()
    os.mkfifo(repo.path / ".git" / name)
    with pytest.raises(codenib.InputError, match="is not a regular file") as caught:
        codenib.open(linked.path).regex("mooring")
    assert str(repo.path / ".git" / name) in caught.value.message.replace("/worktrees/linked/../..", "")


def test_a_pipe_among_the_files_of_a_bare_repository_is_refused_by_name(
    git_repo: Callable[..., GitRepo],
) -> None:
    bare = git_repo("pipes.git", "--bare")
    os.mkfifo(bare.path / "packed-refs")
    with pytest.raises(codenib.InputError, match="packed-refs is not a regular file"):
        codenib.open(bare.path)


@pytest.mark.skipif(
    sys.platform != "linux", reason="needs Linux: only there the system says who waits for a pipe"
)
@pytest.mark.parametrize("what", ["an object", "a branch", "an included file"])
def test_git_does_not_wait_for_a_pipe_that_only_git_knows_of(
    git_repo: Callable[..., GitRepo], what: str
) -> None:
    repo = git_repo("pipes")
    repo.commit({"src/a.rb": "def mooring\nend\n"})
    digest = repo.git("rev-parse", "HEAD:src/a.rb")
    pipe = repo.path / ".git" / "objects" / digest[:2] / digest[2:]
    if what == "a branch":
        pipe = repo.path / ".git" / "refs" / "heads" / "main"
    if what == "an included file":
        pipe = repo.path / ".git" / "more"
        repo.git("config", "include.path", "more")
    pipe.unlink(missing_ok=True)
    os.mkfifo(pipe)
    with pytest.raises(codenib.CodenibError, match="git waits for it"):
        codenib.open(repo.path).regex("mooring")


@pytest.mark.parametrize("name", [".gitignore", ".git/info/exclude", ".codenibignore"])
def test_a_rule_that_git_is_never_done_with_is_refused_by_name(
    git_repo: Callable[..., GitRepo], name: str
) -> None:
    repo = git_repo("rules")
    repo.write(f"{'aaaa/' * 30}a.rb", "def mooring\nend\n")
    repo.write(name, "a*/**/" * 40 + "b\n")
    with pytest.raises(codenib.InputError, match=f"{name}:1 has a rule with so many") as caught:
        codenib.open(repo.path).regex("mooring")
    assert name in caught.value.hint

"""Fleets of small repositories, and a git that does something to whoever calls it from a worker."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.gitrepo import GitRepo

from codenib.fleet.catalogue.catalogue import Catalogue
from codenib.fleet.catalogue.entry import EntryOptions, entry_of

_GIT = shutil.which("git")  # before a test puts its own first
Fleet = Callable[[int], tuple[Catalogue, list[GitRepo]]]


@pytest.fixture
def fleet(git_repo: Callable[..., GitRepo]) -> Fleet:
    """Makes a fleet of so many bare repositories, read in place, called `r0`, `r1` …"""

    def make(count: int) -> tuple[Catalogue, list[GitRepo]]:
        repositories = []
        for number in range(count):
            work = git_repo(f"work{number}")
            work.commit({"a.py": f"def number_{number}():\n    return {number}\n", "b.md": "# b\n"})
            repositories.append(work.clone(work.path.with_name(f"r{number}.git"), "--bare"))
        entries = [entry_of(str(each.path), EntryOptions(), each.path.stem) for each in repositories]
        return Catalogue.open().add(entries), repositories

    return make


def commit_bare(repository: GitRepo, path: str, text: str) -> str:
    """A new commit of a bare repository, with one file changed."""
    work = repository.clone(repository.path.with_name(f"{repository.path.stem}-edit"))
    work.commit({path: text})
    work.git("push", "-q", "origin", "main")
    shutil.rmtree(work.path)
    return repository.head()


def git_with(folder: Path, when: str, then: str) -> str:
    """A PATH whose git does `then`, once, when a worker asks for files of a repository that `when` names.

    The shell code `then` has the worker's number in PPID; `folder/done` appears when it begins.
    """
    folder.mkdir(exist_ok=True)
    script = folder / "git"
    script.write_text(
        "#!/bin/sh\n"
        f'case "$*" in *{when}*ls-tree*)\n'
        "  case \"$(tr '\\0' ' ' < /proc/$PPID/cmdline)\" in ray::*|*fleet.compile.worker*)\n"
        f"    if mkdir {folder}/done 2>/dev/null; then {then}; fi;;\n"
        "  esac;;\n"
        "esac\n"
        f'exec {_GIT} "$@"\n'
    )
    script.chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"

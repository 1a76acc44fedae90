"""The catalogue's entries in, the repositories that may be asked out, each with where its views are."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from codenib.manifest.store import Store
from codenib.snapshot.repository import git_folder_key, locate


@dataclass(frozen=True, slots=True)
class FleetMember:
    """A repository of a fleet: its name there, and the folder that it is read from."""

    name: str
    path: Path


@dataclass(frozen=True, slots=True)
class PublishedPlace:
    """Where the views of a member are published: its store, and the worktree whose head counts."""

    store: Store
    worktree: str
    git_folder: Path | None


@lru_cache(maxsize=1 << 16)
def place_of(path: Path) -> PublishedPlace:
    """Where what was compiled of a repository is. A bare one is known by its folder, without asking git."""
    real = Path(os.path.realpath(path))
    if (key := git_folder_key(real)) is not None:
        return PublishedPlace(Store(key), key, real)
    repository = locate(path)
    return PublishedPlace(Store(repository.key), repository.worktree_key, repository.git_dir)


def head_commit(git_folder: Path) -> str | None:
    """The commit that HEAD names now, read from git's own files; None where they do not tell.

    For each repository that answers; a process of git would cost more than the answer.
    """
    try:
        head = (git_folder / "HEAD").read_text("utf-8").strip()
        if not head.startswith("ref: "):
            return head if _is_commit(head) else None
        name = head[5:]
        common = git_folder
        if (link := git_folder / "commondir").is_file():
            common = git_folder / link.read_text("utf-8").strip()
        loose = common / name
        if loose.is_file():
            commit = loose.read_text("utf-8").strip()
            return commit if _is_commit(commit) else None
        for line in (common / "packed-refs").read_text("utf-8").splitlines():
            commit, _, ref = line.partition(" ")
            if ref == name and _is_commit(commit):
                return commit
    except (OSError, ValueError):
        return None
    return None


def _is_commit(text: str) -> bool:
    return len(text) in (40, 64) and all(letter in "0123456789abcdef" for letter in text)

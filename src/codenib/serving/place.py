"""A path where a command was started in; an error where indexing it can hardly be meant.

A client may start a server anywhere: in `/`, in a home folder, or in a folder that is no repository. Indexing
all below took minutes and gigabytes. `--here` says that it is meant.
"""

from __future__ import annotations

import os
from pathlib import Path

from codenib.core.errors import InputError
from codenib.snapshot.repository import locate

_MOST_FILES = 20_000  # of a folder outside git that is named: an unpacked archive, not a disk


def check_place(path: str | Path, *, named: bool) -> None:
    """Raise where `path` is the root of the system, a home, or outside git and not `named` or too large."""
    repository = locate(Path(path))
    root = repository.root
    if root == Path(root.anchor) or root in _homes():
        raise InputError(
            f"{root} is not a project: all of it would be indexed",
            hint="codenib -C PROJECT …, or --here if it is meant",
        )
    if repository.kind != "folder":
        return
    if not named:
        raise InputError(
            f"{root} is not in a git repository", hint="codenib -C FOLDER …, or --here if it is meant"
        )
    if _count_files(root) > _MOST_FILES:
        raise InputError(
            f"{root} is not in a git repository and has more than {_MOST_FILES:,} files",
            hint="git init, or --here if it is meant",
        )


def _homes() -> set[Path]:
    """The user's home, what homes lie in, and other folders of the system."""
    own = Path(os.path.realpath(Path.home()))
    return {own, own.parent, *map(Path, ("/root", "/home", "/Users", "/tmp", "/var", "/usr", "/etc", "/opt"))}


def _count_files(root: Path) -> int:
    """How many files there are, counted up to the limit."""
    total = 0
    for _, folders, names in os.walk(root):
        total += len(names)
        folders[:] = [name for name in folders if name != ".git"]
        if total > _MOST_FILES:
            break
    return total

"""A checkout that this process exported in, the worktree that its links lead to out.

Only our own word counts: a mark on the disk could be a stranger's, and would open the folder that it names.
"""

from __future__ import annotations

from pathlib import Path

_worktrees: dict[Path, Path] = {}


def note_origin(checkout: Path, worktree: Path) -> None:
    """Note that `checkout` has links into `worktree`."""
    _worktrees[checkout] = worktree


def forget_origin(checkout: Path) -> None:
    """The checkout is gone."""
    _worktrees.pop(checkout, None)


def origin_of(checkout: Path) -> tuple[Path, ...]:
    """The worktree that the links of a checkout lead to; nothing where it has none."""
    worktree = _worktrees.get(checkout)
    return () if worktree is None else (worktree,)

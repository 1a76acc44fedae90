"""Listed commits in, which of them the view holds and in what order out. Pure.

A commit's *age key* is its commit time, or one more than the largest key of its parents where a clock was
wrong. It never changes, and children come after their parents, so the newest commits by (key, id) can be kept
up commit by commit: what a rebuild would choose is in what the base chose, or new.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from codenib.core.history import ListedCommit


class Aged(NamedTuple):
    """A commit with its age key: sorts from old to new."""

    key: int
    id: str


def age(listed: Iterable[ListedCommit], known: Mapping[str, int]) -> list[Aged]:
    """The keys of commits that come parents first; a parent neither known nor listed is a KeyError."""
    keys: dict[str, int] = {}
    for commit in listed:
        parents = (keys[each] if each in keys else known[each] for each in commit.parents)
        keys[commit.id] = max([commit.committed, *(key + 1 for key in parents)])
    return [Aged(key, commit) for commit, key in keys.items()]


def newest(commits: Iterable[Aged], limit: int) -> list[Aged]:
    """The newest `limit` commits, newest first."""
    return heapq.nlargest(limit, commits)

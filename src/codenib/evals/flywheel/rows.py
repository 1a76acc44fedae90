"""Repositories, or a file of rows, in; the rows of every round and those that no round trains on, out.

Rows are in the order of their commits' time, so that no round sees what came later. Either whole repositories
are left for the replay, or the latest part of each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import msgspec

from codenib.core.errors import InputError
from codenib.evals.data.clones import Clones, git
from codenib.evals.data.history_rows import RowQuality, rows_of
from codenib.evals.data.rows import LocalizeRow, chosen_rows, read_rows

REPLAYED = 0.4  # the latest share of each repository's rows, where no whole repository is left for the replay


@dataclass(frozen=True, slots=True)
class RowSource:
    """Where rows come from: a file, or the histories of the repositories; at most `per_repo` of each."""

    clones: Clones
    repos: Sequence[str]
    per_repo: int
    file: Path | None = None
    replayed: Sequence[str] = ()

    def read(self) -> list[LocalizeRow]:
        """All rows with target functions, by repository and time."""
        if self.file is not None:
            names = [*self.repos, *self.replayed]
            rows = chosen_rows(read_rows(self.file, LocalizeRow), repos=names)
        else:
            rows = [row for repo in dict.fromkeys([*self.repos, *self.replayed]) for row in self._mined(repo)]
        usable = [row for row in rows if row.gold_blocks and self.clones.has(row.repo, row.base_commit)]
        if not usable:
            raise InputError(
                "no row has target functions at a commit of a clone", hint="--repos OWNER/NAME,…"
            )
        return [row for _, mine in groupby(usable, key=_cluster) for row in self._latest(list(mine))]

    def _mined(self, repo: str) -> list[LocalizeRow]:
        clone = self.clones.find(repo)
        name = clone.name if Path(repo).is_absolute() else repo  # ids and reports carry no machine's paths
        rows = rows_of(clone, name, "HEAD", self.per_repo, RowQuality())
        return [msgspec.convert({**row, "repo": repo}, LocalizeRow) for row in rows]

    def _latest(self, rows: list[LocalizeRow]) -> list[LocalizeRow]:
        clone = self.clones.find(rows[0].repo)
        commits = list(dict.fromkeys(row.base_commit for row in rows))
        times = git(clone, "log", "--no-walk=unsorted", "--format=%ct", *commits).stdout.split()
        at = dict(zip(commits, map(int, times), strict=True))
        ordered = sorted(rows, key=lambda row: (at[row.base_commit], row.id))
        return ordered[-self.per_repo :]


@dataclass(frozen=True, slots=True)
class SplitRows:
    """The rows of each round in order, and the rows of the replay, which nothing is learned from."""

    rounds: tuple[tuple[LocalizeRow, ...], ...]
    replay: tuple[LocalizeRow, ...]


def split_rows(rows: Sequence[LocalizeRow], rounds: int, replayed: Sequence[str] = ()) -> SplitRows:
    """Split every repository's rows by time; `replayed` names repositories that are only replayed."""
    apart = [name.lower() for name in replayed]
    parts: list[list[LocalizeRow]] = [[] for _ in range(rounds)]
    replay: list[LocalizeRow] = []
    for cluster, found in groupby(sorted(rows, key=_cluster), key=_cluster):
        mine = list(found)  # sorting is stable: the order of time stays
        if any(name in cluster for name in apart):
            replay += mine
            continue
        learned = mine if apart else mine[: round(len(mine) * (1 - REPLAYED))]
        replay += mine[len(learned) :]
        for number in range(rounds):
            parts[number] += learned[len(learned) * number // rounds : len(learned) * (number + 1) // rounds]
    if not replay or not any(parts):
        raise InputError(
            f"{len(rows)} rows are too few: some are learned from and others are replayed",
            hint="--per-repo 40, or more repositories",
        )
    return SplitRows(tuple(map(tuple, parts)), tuple(replay))


def _cluster(row: LocalizeRow) -> str:
    return row.cluster

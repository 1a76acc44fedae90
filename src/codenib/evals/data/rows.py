"""A file of rows in, checked values out: localization rows and transitions (JSON Lines, one object each)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from codenib.core.errors import InputError
from codenib.evals.metrics.scoring import SourceBlock


class GoldBlock(msgspec.Struct, frozen=True):
    path: str
    start_line: int
    end_line: int
    symbol: str = ""


class LocalizeRow(msgspec.Struct, frozen=True):
    """A question, the commit that it is asked at, and the files and functions that answer it."""

    id: str
    repo: str
    base_commit: str
    query: str
    gold_files: tuple[str, ...]
    gold_blocks: tuple[GoldBlock, ...] = ()
    language: str = ""
    source: str = ""
    kind: str = ""  # behavioral, file hint ... where rows are synthesized

    @property
    def cluster(self) -> str:
        """The repository, however its name is written."""
        return self.repo.lower()

    @property
    def targets(self) -> list[SourceBlock]:
        return [SourceBlock(each.path, each.start_line, each.end_line) for each in self.gold_blocks]


class Transition(msgspec.Struct, frozen=True, rename={"start": "from", "goal": "to"}):
    """One commit and the next on the first-parent line."""

    repo: str
    step: int
    start: str
    goal: str
    language: str = ""
    subject: str = ""
    changed_source_files: tuple[str, ...] = ()
    source_changing: bool = True

    @property
    def cluster(self) -> str:
        return self.repo.lower()


Row = TypeVar("Row", LocalizeRow, Transition)


def read_rows(file: Path, kind: type[Row]) -> list[Row]:
    """Every row of a file; a wrong one is named with its line."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}", hint="--rows FILE") from error
    rows: list[Row] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            rows.append(msgspec.json.decode(line, type=kind))
        except msgspec.DecodeError as error:
            raise InputError(f"{file}:{number}: {error}", hint="docs/evaluation.md has the format") from error
    if not rows:
        raise InputError(f"{file} has no rows", hint="--rows FILE")
    return rows


def chosen_rows(
    rows: Sequence[Row], *, repos: Sequence[str] = (), limit: int | None = None, per_repo: int | None = None
) -> list[Row]:
    """Rows of some repositories (part of the name is enough), in order; at most so many, and of each."""
    wanted = [each.lower() for each in repos]
    kept: list[Row] = []
    counts: dict[str, int] = {}
    for row in rows:
        if wanted and not any(each in row.cluster for each in wanted):
            continue
        counts[row.cluster] = counts.get(row.cluster, 0) + 1
        if per_repo is None or counts[row.cluster] <= per_repo:
            kept.append(row)
    if not kept:
        raise InputError(f"no row is of {', '.join(repos)}", hint="--repo NAME, or none for all")
    return kept[:limit]


def digest_of(rows: Sequence[Row]) -> str:
    """What names this set of rows in a header."""
    return hashlib.sha256(msgspec.json.encode(list(rows))).hexdigest()[:16]

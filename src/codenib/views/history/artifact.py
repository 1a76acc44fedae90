"""A folder of segments: which commits the view holds, kept up by dropping and adding some.

A maintained artifact hard-links the segments that it keeps. Small and worn segments are folded into the new
one, so that their number stays logarithmic and an update costs what changed.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from codenib.core.errors import StateError
from codenib.core.history import Commit
from codenib.views.history.segment import CommitSegment, write_segment
from codenib.views.history.window import Aged

FORMAT = 1
FILE = "history.json"
_WORN = 0.25  # a segment with a larger share of dead commits is rewritten
_SEGMENTS = 8


class _Entry(msgspec.Struct):
    name: str
    dead: list[int]


class _File(msgspec.Struct):
    format: int
    commit: str
    reachable: int
    segments: list[_Entry]


@dataclass(frozen=True, slots=True)
class Artifact:
    """An opened artifact: the commit that it is for, how many commits that reaches, and those it holds."""

    commit: str
    reachable: int
    segments: tuple[CommitSegment, ...]

    @property
    def commit_count(self) -> int:
        return sum(segment.live_count for segment in self.segments)

    def aged(self) -> list[Aged]:
        """The age keys and ids of all commits."""
        return [
            pair
            for segment in self.segments
            for row, pair in enumerate(segment.aged)
            if row not in segment.dead
        ]

    def stored(self) -> set[Aged]:
        """The age keys and ids of all commits that need not be read again: also those that are dead."""
        return {pair for segment in self.segments for pair in segment.aged}


def read_artifact(folder: Path) -> Artifact:
    """Open an artifact; its arrays are mapped."""
    try:
        about = msgspec.json.decode((folder / FILE).read_bytes(), type=_File)
        if about.format != FORMAT:
            raise ValueError(f"format {about.format}")
        segments = tuple(CommitSegment(folder, entry.name, entry.dead) for entry in about.segments)
    except (OSError, ValueError, msgspec.DecodeError) as error:
        raise StateError(
            f"the history view cannot be read: {error}", hint="codenib index --rebuild"
        ) from error
    return Artifact(about.commit, about.reachable, segments)


def write_artifact(
    commit: str, reachable: int, fresh: Sequence[Aged], commits: Iterable[Commit], out: Path
) -> None:
    """Write an artifact of one new segment: `commits` are those of `fresh`, newest first."""
    name = write_segment(fresh, commits, out)
    _write_about(commit, reachable, [_Entry(name, [])], out)


def advance_artifact(
    base: tuple[Path, Artifact],
    commit: str,
    reachable: int,
    keep: set[str],
    fresh: dict[Aged, Commit],
    out: Path,
) -> None:
    """Write the artifact of the commits stored in `base` that are in `keep`, and the fresh ones.

    A dead commit that is in `keep` lives again, so that none is ever in two segments.
    """
    folder, old = base
    live = [_without(segment, keep) for segment in old.segments]
    kept, folded = _fold([segment for segment in live if segment.live_count], len(fresh))
    entries = []
    for segment in kept:
        for part in folder.glob(f"{segment.name}.*"):
            _link(part, out / part.name)
        entries.append(_Entry(segment.name, sorted(segment.dead)))
    rows = dict(fresh)
    for segment in folded:
        rows.update({segment.aged[row]: segment.commit(row) for row in segment.live()})
    if rows:
        order = sorted(rows, reverse=True)
        entries.append(_Entry(write_segment(order, (rows[each] for each in order), out), []))
    _write_about(commit, reachable, entries, out)


def _without(segment: CommitSegment, keep: set[str]) -> CommitSegment:
    dead = {row for row, (_, commit) in enumerate(segment.aged) if commit not in keep}
    if dead == segment.dead:
        return segment
    return segment.with_dead(dead)


def _fold(segments: Sequence[CommitSegment], fresh: int) -> tuple[list[CommitSegment], list[CommitSegment]]:
    """Which segments stay, and which are written anew with the fresh commits."""
    kept: list[CommitSegment] = []
    folded: list[CommitSegment] = []
    left = len(segments)
    for segment in sorted(segments, key=lambda each: (each.live_count, each.name)):
        worn = len(segment.dead) > _WORN * len(segment)
        if worn or segment.live_count <= 2 * fresh or left > _SEGMENTS:
            folded.append(segment)
            fresh += segment.live_count
            left -= 1
        else:
            kept.append(segment)
    return kept, folded


def _write_about(commit: str, reachable: int, segments: list[_Entry], out: Path) -> None:
    (out / FILE).write_bytes(msgspec.json.encode(_File(FORMAT, commit, reachable, segments)))


def _link(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError:  # a file system without hard links: share nothing, stay correct
        shutil.copyfile(source, target)

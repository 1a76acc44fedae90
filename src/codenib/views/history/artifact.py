"""A folder of segments: which commits the view holds, kept up by dropping and adding some.

A maintained artifact hard-links the segments that it shares with its base. Small and worn segments are folded
into the new one, so that their number stays logarithmic and an update costs what changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from codenib.core.errors import UNDECODABLE, StateError
from codenib.core.history import Commit
from codenib.views.history.segment import LACKING, OVERSIZED, CommitSegment, write_segment
from codenib.views.history.window import Aged
from codenib.views.segments import fold, link_segment

FORMAT = 2
FILE = "history.json"
_SEGMENTS = 8


class _SegmentEntry(msgspec.Struct):
    name: str
    dead: list[int]


class _HistoryFile(msgspec.Struct):
    """`history.json`."""

    format: int
    commit: str
    reachable: int
    segments: list[_SegmentEntry]


@dataclass(frozen=True, slots=True)
class Tip:
    """The commit that an artifact is for, and how many commits it reaches."""

    commit: str
    reachable: int


@dataclass(frozen=True, slots=True)
class Artifact:
    """An opened artifact: its folder, the commit that it is for, and the commits that it holds."""

    folder: Path
    tip: Tip
    segments: tuple[CommitSegment, ...]

    @property
    def commit_count(self) -> int:
        return sum(segment.live_count for segment in self.segments)

    @property
    def lacking_count(self) -> int:
        """How many of its commits are without their changes, because git does not have the objects."""
        return self._without(LACKING)

    @property
    def oversized_count(self) -> int:
        """How many are without their changes, because these are too many to list."""
        return self._without(OVERSIZED)

    def _without(self, reason: int) -> int:
        reasons = [segment.commits["lacking"][segment.live()] for segment in self.segments]
        return sum(int(((each & reason) != 0).sum()) for each in reasons)

    def aged(self) -> list[Aged]:
        """The age keys and ids of all commits."""
        return [segment.aged[row] for segment in self.segments for row in segment.live()]

    def stored(self) -> set[Aged]:
        """The age keys and ids of all commits that need not be read again: also those that are dead."""
        return {aged for segment in self.segments for aged in segment.aged}


def read_artifact(folder: Path) -> Artifact:
    """Open an artifact; its arrays are mapped."""
    try:
        about = msgspec.json.decode((folder / FILE).read_bytes(), type=_HistoryFile)
        if about.format != FORMAT:
            raise ValueError(f"format {about.format}")
        segments = tuple(CommitSegment(folder, entry.name, entry.dead) for entry in about.segments)
    except (OSError, *UNDECODABLE) as error:
        raise StateError(
            f"the history view cannot be read: {error}", hint="codenib index --rebuild"
        ) from error
    return Artifact(folder, Tip(about.commit, about.reachable), segments)


def write_artifact(tip: Tip, fresh: Sequence[Aged], commits: Iterable[Commit], out: Path) -> None:
    """Write an artifact of one new segment: `commits` are those of `fresh`, newest first."""
    name = write_segment(fresh, commits, out)
    _write_about(tip, [_SegmentEntry(name, [])], out)


def advance_artifact(
    base: Artifact, tip: Tip, keep: set[str], fresh: Mapping[Aged, Commit], out: Path
) -> None:
    """Write the artifact of the commits stored in `base` that are in `keep`, and the fresh ones.

    A dead commit that is in `keep` lives again, so that none is ever in two segments.
    """
    segments = sorted((_without(each, keep) for each in base.segments), key=lambda each: each.name)
    shared, folded = fold(segments, len(fresh), most=_SEGMENTS, is_full=lambda _: False)
    entries = []
    for segment in shared:
        link_segment(base.folder, segment.name, out)
        entries.append(_SegmentEntry(segment.name, sorted(segment.dead)))
    rows = dict(fresh)
    for segment in folded:
        rows.update({segment.aged[row]: segment.commit(row) for row in segment.live()})
    if rows:
        order = sorted(rows, reverse=True)
        entries.append(_SegmentEntry(write_segment(order, (rows[each] for each in order), out), []))
    _write_about(tip, entries, out)


def _without(segment: CommitSegment, keep: set[str]) -> CommitSegment:
    dead = {row for row, aged in enumerate(segment.aged) if aged.id not in keep}
    return segment if dead == segment.dead else segment.with_dead(dead)


def _write_about(tip: Tip, segments: list[_SegmentEntry], out: Path) -> None:
    about = _HistoryFile(FORMAT, tip.commit, tip.reachable, segments)
    (out / FILE).write_bytes(msgspec.json.encode(about))

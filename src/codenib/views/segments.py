"""Artifacts made of segments: a delta in, immutable segments of whole files out, most of them shared.

An artifact is a folder with `view.json`, which names its segments and the files of each that are no longer
live, and for each segment its `NAME.*` parts. A segment is a pure function of its files, so a maintained
artifact hard-links the segments that it keeps, kills what the delta removed or changed, and writes one new
segment for the rest. Folding small and worn segments into the new one keeps their number logarithmic, so an
update costs what changed (amortised), and a reader never sees more than a handful.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

import msgspec

from codenib.core.errors import UNDECODABLE, StateError
from codenib.core.protocols import Records
from codenib.core.source import Delta, SourceFile

FORMAT = 1
MAX_FILES = 8192  # bounds the memory of writing one segment; Django is one segment, Linux nine
WORN = 0.25  # a segment with a larger share of dead files is rewritten
MAX_SEGMENTS = 10

_REPAIR = "codenib index --rebuild"
MAX_LISTS = 64
_LISTS: dict[str, tuple[SourceFile, ...]] = {}

#: Writes the parts of one segment: files (in path order), records, folder, segment name.
WriteSegment = Callable[[Sequence[SourceFile], Records, Path, str], None]


class Foldable(Protocol):
    """What folding asks of a segment, whatever its rows are."""

    @property
    def dead(self) -> frozenset[int]: ...

    @property
    def live_count(self) -> int: ...

    def __len__(self) -> int: ...


FoldableT = TypeVar("FoldableT", bound=Foldable)
FactsT = TypeVar("FactsT")


@dataclass(frozen=True, slots=True)
class Segment:
    """Files written together, in path order, and the indexes of those that a later delta took away."""

    name: str
    files: tuple[SourceFile, ...]
    dead: frozenset[int]

    def __len__(self) -> int:
        return len(self.files)

    def live_files(self) -> Iterator[SourceFile]:
        return (file for index, file in enumerate(self.files) if index not in self.dead)

    @property
    def live_count(self) -> int:
        return len(self.files) - len(self.dead)


class _SegmentEntry(msgspec.Struct):
    name: str
    files: int
    dead: list[int]


class _ViewFile(msgspec.Struct):
    """`view.json`."""

    format: int
    segments: list[_SegmentEntry]


def read_segments(folder: Path) -> list[Segment]:
    """The segments of an artifact."""
    try:
        view = msgspec.json.decode((folder / "view.json").read_bytes(), type=_ViewFile)
        if view.format != FORMAT:
            raise StateError(f"{folder.name}: segment format {view.format}", hint=_REPAIR)
        return [
            Segment(entry.name, _files_of(folder, entry.name), frozenset(entry.dead))
            for entry in view.segments
        ]
    except (OSError, *UNDECODABLE) as error:
        raise StateError(f"artifact {folder.name} cannot be read: {error}", hint=_REPAIR) from error


def write_artifact(files: Sequence[SourceFile], records: Records, out: Path, write: WriteSegment) -> None:
    """Write an artifact of new segments alone."""
    _write_view(out, list(_write_new(files, records, out, write)))


def advance_artifact(base: Path, delta: Delta, records: Records, out: Path, write: WriteSegment) -> None:
    """Write the artifact that follows `base` by `delta`, sharing what it keeps."""
    gone = set(delta.removed) | {file.path for file in delta.changed}
    segments = [_kill(segment, gone) for segment in read_segments(base)]
    fresh = [*delta.added, *delta.changed]
    shared, folded = fold(segments, len(fresh), most=MAX_SEGMENTS, is_full=_is_full)
    for segment in shared:
        link_segment(base, segment.name, out)
    fresh += [file for segment in folded for file in segment.live_files()]
    fresh.sort(key=lambda file: file.path)
    _write_view(out, [*shared, *_write_new(fresh, records, out, write)])


def _kill(segment: Segment, gone: set[str]) -> Segment:
    dead = {index for index, file in enumerate(segment.files) if file.path in gone}
    return Segment(segment.name, segment.files, segment.dead | dead) if dead else segment


def fold(
    segments: Sequence[FoldableT], fresh: int, *, most: int, is_full: Callable[[FoldableT], bool]
) -> tuple[list[FoldableT], list[FoldableT]]:
    """Which segments are shared, and which are written again together with so many fresh rows.

    Those without live rows are neither. Worn segments are written again; so are small ones, and the smallest
    of more than `most`. Full segments do not count here: past `most` of them, every edit would rewrite all
    the others.
    """
    waiting = sorted((segment for segment in segments if segment.live_count), key=lambda s: s.live_count)
    open_count = sum(not is_full(segment) for segment in waiting)
    shared: list[FoldableT] = []
    folded: list[FoldableT] = []
    for segment in waiting:
        full = is_full(segment)
        worn = len(segment.dead) > WORN * len(segment)
        small = segment.live_count <= 2 * fresh
        if worn or ((small or open_count > most) and not full):
            open_count -= not full
            fresh += segment.live_count
            folded.append(segment)
        else:
            shared.append(segment)
    return shared, folded


def _is_full(segment: Segment) -> bool:
    return segment.live_count * 2 > MAX_FILES


def _write_new(
    files: Sequence[SourceFile], records: Records, out: Path, write: WriteSegment
) -> Iterator[Segment]:
    for start in range(0, len(files), MAX_FILES):
        part = tuple(files[start : start + MAX_FILES])
        rows = [(file.path, file.digest) for file in part]
        encoded = msgspec.json.encode(rows)
        name = _name_of(encoded)
        (out / f"{name}.files.json").write_bytes(encoded)
        write(part, records, out, name)
        yield Segment(name, part, frozenset())


def _write_view(out: Path, segments: Sequence[Segment]) -> None:
    entries = [_SegmentEntry(each.name, len(each), sorted(each.dead)) for each in segments]
    (out / "view.json").write_bytes(msgspec.json.encode(_ViewFile(FORMAT, entries)))


def _name_of(file_list: bytes) -> str:
    return hashlib.sha256(file_list).hexdigest()[:16]


def _files_of(folder: Path, name: str) -> tuple[SourceFile, ...]:
    """The files of a segment. Its name is the digest of their list, so a list decoded once serves all."""
    data = (folder / f"{name}.files.json").read_bytes()
    if _name_of(data) != name:
        raise StateError(f"segment {name} of {folder.name} is damaged", hint=_REPAIR)
    known = _LISTS.get(name)
    if known is None:
        rows = msgspec.json.decode(data, type=list[tuple[str, str]])
        known = tuple(SourceFile(path, digest) for path, digest in rows)
        if len(_LISTS) >= MAX_LISTS:
            _LISTS.pop(next(iter(_LISTS)), None)
        _LISTS[name] = known
    return known


def link_segment(base: Path, name: str, out: Path) -> None:
    """Share the parts of a segment with another artifact."""
    for part in base.glob(f"{name}.*"):
        try:
            os.link(part, out / part.name)
        except OSError:  # a file system without hard links: share nothing, stay correct
            shutil.copyfile(part, out / part.name)


def differing_files(
    ours: Mapping[str, FactsT],
    theirs: Mapping[str, FactsT],
    describe: Callable[[FactsT, FactsT], Iterable[str]],
) -> Iterator[str]:
    """How two artifacts differ, file by file in path order; `describe` compares what is said of one file."""
    for path in sorted(ours.keys() | theirs.keys()):
        if path not in theirs:
            yield f"{path}: only in the first"
        elif path not in ours:
            yield f"{path}: only in the second"
        else:
            yield from (f"{path}: {what}" for what in describe(ours[path], theirs[path]))

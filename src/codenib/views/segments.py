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
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from codenib.core.errors import StateError
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


@dataclass(frozen=True, slots=True)
class Segment:
    """Files written together, in path order, and the indexes of those that a later delta took away."""

    name: str
    files: tuple[SourceFile, ...]
    dead: frozenset[int]

    def live_files(self) -> Iterator[SourceFile]:
        return (file for index, file in enumerate(self.files) if index not in self.dead)

    @property
    def live_count(self) -> int:
        return len(self.files) - len(self.dead)


class _Entry(msgspec.Struct):
    name: str
    files: int
    dead: list[int]


class _ViewFile(msgspec.Struct):
    format: int
    segments: list[_Entry]


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
    except (OSError, msgspec.DecodeError) as error:
        raise StateError(f"artifact {folder.name} cannot be read: {error}", hint=_REPAIR) from error


def write_artifact(files: Sequence[SourceFile], records: Records, out: Path, write: WriteSegment) -> None:
    """Write an artifact of new segments alone."""
    _write_view(out, list(_write_new(files, records, out, write)))


def advance_artifact(base: Path, delta: Delta, records: Records, out: Path, write: WriteSegment) -> None:
    """Write the artifact that follows `base` by `delta`, sharing what it keeps."""
    gone = set(delta.removed) | {file.path for file in delta.changed}
    kept, fresh = _fold(
        [_kill(segment, gone) for segment in read_segments(base)], [*delta.added, *delta.changed]
    )
    for segment in kept:
        for part in base.glob(f"{segment.name}.*"):
            _link(part, out / part.name)
    fresh.sort(key=lambda file: file.path)
    _write_view(out, [*kept, *_write_new(fresh, records, out, write)])


def _kill(segment: Segment, gone: set[str]) -> Segment:
    dead = {index for index, file in enumerate(segment.files) if file.path in gone}
    return Segment(segment.name, segment.files, segment.dead | dead) if dead else segment


def _fold(segments: Iterable[Segment], fresh: list[SourceFile]) -> tuple[list[Segment], list[SourceFile]]:
    """Choose the segments to keep; the live files of the others join `fresh`."""
    waiting = sorted((segment for segment in segments if segment.live_count), key=lambda s: s.live_count)
    # Full segments are no crowd: past MAX_SEGMENTS of them, every edit would rewrite all the others.
    open_count = sum(not _full(segment) for segment in waiting)
    kept: list[Segment] = []
    for segment in waiting:
        small = segment.live_count <= 2 * len(fresh)
        worn = len(segment.dead) > WORN * len(segment.files)
        crowded = open_count > MAX_SEGMENTS
        if worn or ((small or crowded) and not _full(segment)):
            open_count -= not _full(segment)
            fresh = [*fresh, *segment.live_files()]
        else:
            kept.append(segment)
    return kept, fresh


def _full(segment: Segment) -> bool:
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
    entries = [_Entry(s.name, len(s.files), sorted(s.dead)) for s in segments]
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


def _link(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError:  # a file system without hard links: share nothing, stay correct
        shutil.copyfile(source, target)

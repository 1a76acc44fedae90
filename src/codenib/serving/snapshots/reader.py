"""A path, results or locations in, their source text as a snapshot has it out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from codenib.core.answers import Evidence, Passage, Readable, SnapshotRef
from codenib.core.calls.checked import check_lines, check_path
from codenib.core.errors import InputError
from codenib.core.navigation import Location
from codenib.core.requests import SnapshotRequest
from codenib.core.source import SourceUnit, Span, UnitRow
from codenib.core.views import ViewKind
from codenib.serving.snapshots.pool import Snapshots
from codenib.units.languages import NOTEBOOK_SUFFIX

if TYPE_CHECKING:  # numpy comes with the first query
    from codenib.serving.snapshots.pinned import PinnedSnapshot

_DECORATORS = 10  # lines between the beginning of a unit and its name


class SourceReader:
    """Reads the files of one repository's snapshots."""

    def __init__(self, root: Path, snapshots: Snapshots) -> None:
        self._root = root
        self._snapshots = snapshots

    def read(self, path: str, lines: tuple[int | None, int | None], request: SnapshotRequest) -> Passage:
        """The first to the last line of a file; None stands for its very first or last one."""
        if request.refresh == "auto":  # the text needs no view, so it waits for none
            pinned = self._snapshots.pin_ready(ViewKind.LEXICAL, request.at)
        else:
            pinned, _ = self._snapshots.pin(None, request)
        name = self.relative(path)
        rows = split_lines(pinned.text(name))
        check_lines(lines)
        first, last = lines[0] or 1, min(lines[1] or len(rows), len(rows))
        if rows and not 1 <= first <= last:
            what = f"{name} has {len(rows)} lines; {lines[0]}-{lines[1] or ''} is outside"
            raise InputError(what, hint=f"codenib read {name}")
        return Passage(
            path=name,
            start_line=first,
            end_line=last,
            lines=len(rows),
            language=pinned.rules.language(name),
            text="\n".join(rows[first - 1 : last]),
            snapshot=pinned.ref,
        )

    def units(self, path: str, request: SnapshotRequest) -> list[SourceUnit]:
        """The source units of a file, outermost first."""
        pinned, _ = self._snapshots.pin(None, request)
        name = self.relative(path)
        extracted, text = pinned.units(name)
        if extracted.skip:
            raise InputError(f"{name} is not indexed: {extracted.skip}", hint=f"codenib read {name}")
        rows = sorted(extracted.rows, key=lambda row: (row.start_line, row.level, -row.end_line))
        return [_unit(name, row, extracted.language, text) for row in rows]

    def declared_at(self, path: str, line: int, snapshot: str) -> SourceUnit | None:
        """The smallest named unit that begins at or a few lines above a line; None where none does."""
        extracted, text = self._snapshots.of_snapshot(snapshot).units(path)
        around = [row for row in extracted.rows if row.symbol and row.start_line <= line <= row.end_line]
        smallest = min(around, key=lambda row: row.end_line - row.start_line, default=None)
        if smallest is None or line - smallest.start_line > _DECORATORS:
            return None  # a field or a constant far inside its owner
        return _unit(path, smallest, extracted.language, text)

    def texts(self, items: Sequence[Evidence], snapshot: str) -> list[str]:
        """The source text of each result, from the snapshot that answered."""
        lines = self._lines_by_path([item.path for item in items], snapshot)
        return ["\n".join(lines[item.path][item.start_line - 1 : item.end_line]) for item in items]

    def lines(self, locations: Sequence[Location], snapshot: str) -> list[str]:
        """The line of text that each location begins in, from the snapshot that answered."""
        lines = self._lines_by_path([place.path for place in locations], snapshot)
        return ["".join(lines[place.path][place.line - 1 : place.line]) for place in locations]

    def digest(self, path: str, snapshot: str) -> str:
        """What the content of a file of a snapshot is named by; empty when it has no such file."""
        return self._snapshots.of_snapshot(snapshot).files.get(path, "")

    def snapshot(self, request: SnapshotRequest) -> SnapshotRef:
        """Which snapshot a request means."""
        return self._snapshots.pin(None, request)[0].ref

    def files(self, request: SnapshotRequest) -> list[str]:
        """The paths of a snapshot, in order."""
        return sorted(self._snapshots.pin(None, request)[0].files)

    def relative(self, path: str | PathLike[str]) -> str:
        """`path` relative to the repository's root, however the caller wrote it."""
        check_path(path)
        place = Path(path)
        if not place.is_absolute():
            return place.as_posix()
        try:
            return place.relative_to(self._root).as_posix()
        except ValueError:
            hint = "codenib -C REPOSITORY read PATH"
            raise InputError(f"{path} is outside {self._root}", hint=hint) from None

    def _lines_by_path(self, paths: Sequence[str], snapshot: str) -> dict[str, list[str]]:
        names = sorted(set(paths))
        texts = self._snapshots.of_snapshot(snapshot).texts(names)
        return {name: split_lines(text) for name, text in zip(names, texts, strict=True)}


class AnswerSource:
    """The files of an answer's places, read together from its snapshot when the first text is wanted."""

    def __init__(self, snapshots: Snapshots, snapshot: str, paths: Sequence[str]) -> None:
        self._snapshots = snapshots
        self._snapshot = snapshot
        self._paths = paths
        self._texts: dict[str, list[str]] = {}

    def lines(self, path: str, first: int, last: int) -> str:
        """Lines of a file, 1-based and inclusive."""
        if not self._texts:
            pinned = self._snapshots.of_snapshot(self._snapshot)
            names = sorted({name for name in self._paths if name in pinned.files})
            texts = zip(names, pinned.texts(names), strict=True)
            self._texts = {name: split_lines(text) for name, text in texts}
        if path not in self._texts:
            raise InputError(f"{path} is not a file of the snapshot", hint="workspace.files")
        return "\n".join(self._texts[path][first - 1 : last])


def with_cells(places: Sequence[Location], pinned: PinnedSnapshot) -> tuple[Location, ...]:
    """The places, those in notebooks with their cells."""
    from codenib.units.notebooks import cell_at

    names = sorted({place.path for place in places if place.path.endswith(NOTEBOOK_SUFFIX)})
    texts = {name: text.encode() for name, text in zip(names, pinned.texts(names), strict=True)}
    return tuple(
        replace(place, cell=cell_at(texts[place.path], place.line)) if place.path in texts else place
        for place in places
    )


def link_source(places: Sequence[Readable], snapshots: Snapshots, snapshot: str) -> None:
    """Let the places of an answer read their text from its snapshot."""
    source = AnswerSource(snapshots, snapshot, [place.span[0] for place in places])
    for place in places:
        place.read_from(source)


def _unit(path: str, row: UnitRow, language: str, text: str) -> SourceUnit:
    return SourceUnit(
        span=Span(path, row.start_line, row.end_line),
        level=row.level,
        kind=row.kind,
        language=language,
        symbol=row.symbol,
        text="\n".join(split_lines(text)[row.start_line - 1 : row.end_line]),
    )


def split_lines(text: str) -> list[str]:
    """Lines by newline alone; a final newline opens no further line."""
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines

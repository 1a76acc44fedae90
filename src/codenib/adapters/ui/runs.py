"""Folders of runs in, what the page draws of them out: traces of the agent, logs of calls, studies.

Only files below the folders that the command line named are read, and only those that a run has.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from codenib.adapters.envelopes.envelope import Envelope, whole
from codenib.adapters.envelopes.runs import TraceReply, trace_reply
from codenib.core.errors import UNDECODABLE, InputError
from codenib.runtime.traces.trace import read_trace

RunKind = Literal["trace", "study", "calls"]
_DEEPEST = 4  # folders below a named one
_MOST = 500  # runs that are listed
_LONGEST = 50_000_000  # bytes of a file that is read
_FIGURES = {".png": "image/png", ".svg": "image/svg+xml"}


class RunItem(msgspec.Struct, frozen=True):
    """A run: its path from the named folder, what it is, and a line about it."""

    path: str
    kind: RunKind
    about: str


class StudyPage(msgspec.Struct, frozen=True):
    """A study: its summary as it was written, its report's text, and the names of its figures."""

    path: str
    summary: Any
    report: str
    figures: tuple[str, ...]


class LoggedCall(msgspec.Struct, frozen=True):
    """A line of a server's log (`--log-format json`)."""

    time: str
    message: str
    ms: float | None = None
    status: int | None = None
    repository: str = ""
    request: str = ""


class RunFolders:
    """The runs below some folders."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = [folder.resolve() for folder in folders]

    @property
    def any(self) -> bool:
        """Whether there is a folder at all."""
        return bool(self._folders)

    def listed(self) -> Envelope[RunItem]:
        """Every run, by path."""
        items = sorted(
            (item for folder in self._folders for item in _runs(folder)), key=lambda item: item.path
        )
        return whole(tuple(items[:_MOST]), "files", 0.0)

    def trace(self, path: str) -> TraceReply:
        """What `codenib trace show` prints."""
        return trace_reply(read_trace(self._file(path, (".jsonl",))))

    def study(self, path: str) -> StudyPage:
        """A folder of `codenib eval`."""
        summary, report = self._file(f"{path}/summary.json", (".json",)), self._find(f"{path}/report.md")
        figures = self._find(f"{path}/figures")
        names = sorted(each.name for each in figures.glob("*")) if figures is not None else []
        names = [name for name in names if not name.endswith(".png") or f"{name[:-4]}.svg" not in names]
        try:
            value = json.loads(summary.read_bytes())
        except UNDECODABLE as error:
            raise InputError(f"{path}/summary.json is damaged: {error}") from error
        text = report.read_text("utf-8", "replace") if report is not None and report.is_file() else ""
        return StudyPage(path, value, text, tuple(name for name in names if Path(name).suffix in _FIGURES))

    def calls(self, path: str) -> Envelope[LoggedCall]:
        """The lines of a server's log that are calls."""
        lines = self._file(path, (".jsonl", ".log")).read_bytes().splitlines()
        return whole(tuple(_calls(lines)), "log", 0.0)

    def figure(self, path: str) -> tuple[bytes, str]:
        """A figure of a study, and its type."""
        file = self._file(path, tuple(_FIGURES))
        return file.read_bytes(), _FIGURES[file.suffix]

    def _file(self, path: str, suffixes: tuple[str, ...]) -> Path:
        file = self._find(path)
        if file is None or file.suffix not in suffixes or not file.is_file():
            raise InputError(f"no run at {path[:200]!r}", hint="codenib ui --runs FOLDER")
        if file.stat().st_size > _LONGEST:
            raise InputError(f"{path[:200]} has more than {_LONGEST:,} bytes", hint="codenib trace show FILE")
        return file

    def _find(self, path: str) -> Path | None:
        """A path of the list, wherever links lead it: nothing outside of the named folders."""
        name, _, rest = path.partition("/")
        for folder in self._folders:
            if folder.name == name:
                file = (folder / rest).resolve()
                if file.is_relative_to(folder) and file.exists():
                    return file
        return None


def _runs(folder: Path) -> Iterator[RunItem]:
    for place, depth in _walk(folder, 0):
        if place.is_dir():
            if (place / "summary.json").is_file() and depth <= _DEEPEST:
                yield RunItem(_name(folder, place), "study", _study(place))
        elif place.suffix in (".jsonl", ".log") and (item := _lines(folder, place)) is not None:
            yield item


def _walk(place: Path, depth: int) -> Iterator[tuple[Path, int]]:
    yield place, depth
    if depth < _DEEPEST:
        for each in sorted(place.iterdir()):
            if each.is_symlink() or each.name in ("state", "figures"):
                continue
            if each.is_dir():
                yield from _walk(each, depth + 1)
            else:
                yield each, depth + 1


def _name(folder: Path, place: Path) -> str:
    rest = place.relative_to(folder).as_posix()
    return folder.name if rest == "." else f"{folder.name}/{rest}"


def _study(place: Path) -> str:
    try:
        value = json.loads((place / "summary.json").read_bytes())
    except (OSError, *UNDECODABLE):
        return "a damaged summary"
    name = value.get("study") if isinstance(value, dict) else None
    return f"study {name}" if name else "a study"


def _lines(folder: Path, file: Path) -> RunItem | None:
    """A trace or a log of calls, told by its first line."""
    try:
        with file.open("rb") as stream:
            first = json.loads(stream.readline(1_000_000))
    except (OSError, *UNDECODABLE):
        return None
    if not isinstance(first, dict):
        return None
    if first.get("kind") == "run" and isinstance(first.get("data"), dict):
        data = first["data"]
        return RunItem(
            _name(folder, file), "trace", f"{data.get('model', '')}, policy {data.get('policy', '')}"
        )
    if {"time", "level", "message"} <= first.keys():
        return RunItem(_name(folder, file), "calls", "log of a server's calls")
    return None


def _calls(lines: Sequence[bytes]) -> Iterator[LoggedCall]:
    for line in lines:
        try:
            yield msgspec.json.decode(line, type=LoggedCall)
        except UNDECODABLE:
            continue

"""What it takes to follow an edit of one language group: its facts, its changed files, and engines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from codenib.core.errors import CannotMaintain
from codenib.core.protocols import DifferenceEngine, ResidentBackend, SurfaceEngine
from codenib.core.source import Delta
from codenib.views.graph.facts.bind import Binder
from codenib.views.graph.facts.file import FileFacts
from codenib.views.graph.maintenance.stale_syntax import StaleSyntax

#: What is replaced in a file that may answer differently: the symbols that do, or all of it.
RepairLevel = Literal["symbol", "file"]


class EngineWorkspace(Protocol):
    """The files before and after an edit, one of the two states on disk, and the engines that read it."""

    root: Path
    before: Mapping[str, str]  # paths and digests
    after: Mapping[str, str]
    delta: Delta | None  # the edit as engines see it, where stale syntax makes it another
    stale: Mapping[str, StaleSyntax]  # files that do not parse; engines read their last readable text

    def check_out(self, files: Mapping[str, str]) -> None:
        """Put these files on disk, and tell the engines in use."""
        ...

    def engine(self, backend: ResidentBackend) -> tuple[DifferenceEngine | SurfaceEngine, float]:
        """The running engine of a backend, and the seconds that starting it took."""
        ...

    def end_engine(self, group: str) -> None:
        """End a group's engine: what it has loaded no longer fits."""
        ...

    def read(self, path: str) -> bytes | None:
        """A file as it is on disk now."""
        ...


@dataclass(frozen=True, slots=True)
class ChangedFiles:
    """The paths of one group that an edit touches, in path order."""

    changed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.changed or self.added or self.removed)

    @property
    def present(self) -> list[str]:
        """Those that are there after the edit."""
        return sorted([*self.changed, *self.added])

    @property
    def reasons(self) -> dict[str, str]:
        """Why each file that is there after the edit is derived again."""
        return {**dict.fromkeys(self.changed, "edited"), **dict.fromkeys(self.added, "new")}


@dataclass(frozen=True, slots=True)
class GroupEdit:
    """A group's facts before an edit, and what the edit does to its files."""

    group: str
    facts: Mapping[str, FileFacts]
    files: ChangedFiles
    contents: Mapping[str, tuple[bytes, bytes]]  # of the edited files, before and after
    level: RepairLevel = "symbol"

    @property
    def paths_after(self) -> list[str]:
        """All files of the group after the edit."""
        return sorted((self.facts.keys() | set(self.files.added)) - set(self.files.removed))


def bind_lines(
    edit: GroupEdit, workspace: EngineWorkspace, lines: Mapping[str, bytes]
) -> tuple[dict[str, FileFacts], Sequence[FileFacts]]:
    """The facts of the files that have no new line, which stay; and those of the new lines."""
    unchanged = {
        path: facts
        for path, facts in edit.facts.items()
        if path not in lines and path not in edit.files.removed
    }
    binder = Binder(edit.group, lambda path: workspace.read(path) or b"", unchanged.values())
    for line in lines.values():
        binder.add(line)
    bound = binder.bind()
    if binder.unlisted:
        raise CannotMaintain(f"a place in {min(binder.unlisted)} is referred to for the first time")
    return unchanged, bound

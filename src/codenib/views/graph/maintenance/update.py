"""What an update of the graph did and why, as it is stored beside the artifact (`update.json`)."""

from __future__ import annotations

from pathlib import Path

import msgspec

UNCHANGED = "kept"  # nothing that the group's engine reads has changed
FOLLOWED = "followed"  # some files were derived anew, the rest is as it was
REBUILT = "rebuilt"

#: How sure it is that the facts are those of a rebuild.
BY_CONSTRUCTION = "exact by construction"
BY_REBUILDING = "rebuilt"
_NAME = "update.json"


class Rederived(msgspec.Struct, frozen=True):
    """A file whose facts were made anew, and the reason."""

    path: str
    why: str


class SymbolChange(msgspec.Struct, frozen=True):
    """A declaration of a changed file, and what the edit did to it."""

    path: str
    symbol: str
    kind: str
    change: str  # deleted, affected, shifted, unchanged or added
    line: int = 0  # 1-based, in the new text; of a deleted one in the old
    by: int = 0  # lines that it moved


class GroupUpdate(msgspec.Struct):
    """What happened to the files of one language group."""

    group: str
    how: str
    why: str = ""
    files: int = 0
    rederived: list[Rederived] = []
    names: list[str] = []  # that mean something else to other files than before
    requests: int = 0
    resolved: int = 0  # occurrences that the engine resolved anew
    moved: int = 0  # occurrences of changed files that were taken over, moved by lines
    confidence: str = BY_CONSTRUCTION
    start_s: float = 0.0  # engine start and loading, once for as long as it stays
    seconds: float = 0.0


class GraphUpdate(msgspec.Struct):
    """The whole update: groups in order, and the classification of the changed files' declarations."""

    base: str
    target: str
    groups: list[GroupUpdate] = []
    symbols: list[SymbolChange] = []
    broken: list[str] = []  # files that no longer parse, of which engines read what they can
    #: Those whose last readable text engines read instead.
    stale: list[str] = msgspec.field(default_factory=list, name="held")

    @property
    def rederived(self) -> int:
        return sum(len(group.rederived) for group in self.groups)


def write_update(update: GraphUpdate, folder: Path) -> None:
    """Store the report beside the artifact's arrays."""
    (folder / _NAME).write_bytes(msgspec.json.encode(update))


def read_update(folder: Path) -> GraphUpdate | None:
    """The report of the update that made an artifact; None when it was built from nothing."""
    try:
        return msgspec.json.decode((folder / _NAME).read_bytes(), type=GraphUpdate)
    except (OSError, msgspec.DecodeError):
        return None

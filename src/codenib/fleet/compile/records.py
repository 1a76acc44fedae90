"""What was compiled of a repository and what it cost: a file beside the catalogue in, estimates out."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from codenib.core.errors import UNDECODABLE
from codenib.core.views import ViewKind
from codenib.fleet.catalogue.catalogue import Catalogue
from codenib.fleet.catalogue.entry import RepositoryEntry
from codenib.fleet.compile.task import TEXT
from codenib.manifest.files import replace_file, with_checksum, without_checksum

#: First guesses, from bytes of source at HEAD: CPU seconds a megabyte and a floor. They are rough and fitted
#: to nothing: they order the first run; what is built once is then known.
_FIRST_S_PER_MB = {TEXT: 2.5, ViewKind.DENSE: 1.5, ViewKind.HISTORY: 2.0, ViewKind.GRAPH: 20.0}
_FLOOR_S = 0.3
_FIRST_MEMORY = 256 << 20
_MEMORY_PER_BYTE = {TEXT: 8, ViewKind.DENSE: 8, ViewKind.HISTORY: 8, ViewKind.GRAPH: 40}
#: Room above what was measured: the next commit may be larger.
_SLACK = 1.25


class MeasuredCost(msgspec.Struct, frozen=True):
    """What a task took when it was built from nothing: CPU seconds, and the memory of its processes."""

    cpu_s: float
    peak_bytes: int


class CompiledHead(msgspec.Struct, frozen=True):
    """What a branch was compiled as. `configuration` is what this user's settings were then.

    `configured` are the views that configuration named, where a run asked for those; `views` those that
    were built, or tried.
    """

    commit: str
    snapshot: str
    views: tuple[ViewKind, ...]
    configuration: str
    configured: tuple[ViewKind, ...] = ()


class BuildRecord(msgspec.Struct, frozen=True, kw_only=True):
    """What is remembered of one repository."""

    heads: Mapping[str, CompiledHead] = {}
    costs: Mapping[str, MeasuredCost] = {}


def record_file(catalogue: Catalogue, entry: RepositoryEntry) -> Path:
    """Where a repository's record is."""
    return catalogue.folder / "builds" / f"{entry.name}.json"


def read_record(file: Path) -> BuildRecord:
    """The record; an empty one where it is missing or damaged: all that costs is looking again."""
    try:
        return msgspec.json.decode(without_checksum(file.read_bytes()), type=BuildRecord)
    except (OSError, *UNDECODABLE):
        return BuildRecord()


def write_record(file: Path, record: BuildRecord) -> None:
    replace_file(file, with_checksum(msgspec.json.encode(record)))


def estimate_s(record: BuildRecord, group: str, source_bytes: int, changed: float) -> float:
    """CPU seconds that a task should take; `changed` is the share of files that differ from what was built.

    >>> estimate_s(BuildRecord(costs={"text": MeasuredCost(40.0, 0)}), "text", 0, 0.01)
    0.7
    """
    known = record.costs.get(group)
    whole = known.cpu_s if known else _FIRST_S_PER_MB.get(group, 2.5) * source_bytes / 1e6
    return round(_FLOOR_S + whole * changed, 3)


def memory_of(record: BuildRecord, group: str, source_bytes: int) -> int:
    """Bytes of memory that a task should need."""
    known = record.costs.get(group)
    if known and known.peak_bytes:
        return int(known.peak_bytes * _SLACK)
    return _FIRST_MEMORY + _MEMORY_PER_BYTE.get(group, 8) * source_bytes

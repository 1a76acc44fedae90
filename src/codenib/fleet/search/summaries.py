"""Members of a fleet in, the summaries of what is published of them now out; none of another snapshot."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from codenib.core.errors import CodenibError, StateError
from codenib.core.views import RepoManifest, Status, ViewKind
from codenib.fleet.search.members import FleetMember, PublishedPlace, place_of
from codenib.fleet.search.summary import RepoSummary
from codenib.manifest.files import replace_file
from codenib.serving.snapshots.pinned import PinnedSnapshot

#: Pins the published snapshot of a member, to summarize it.
Pin = Callable[[FleetMember], PinnedSnapshot]


@dataclass(frozen=True, slots=True)
class CurrentSummaries:
    """The summary of each member that has one, and why each other has none."""

    summaries: Mapping[str, RepoSummary]
    unavailable: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Known:
    stamp: tuple[int, ...]
    summary: RepoSummary


class SummaryCache:
    """The summaries of a fleet, in memory and beside the manifests that they are of.

    Each question looks at the times of every head and manifest in question, which takes microseconds each; a
    summary whose snapshot is no longer the published one is replaced before anything is routed by it.
    """

    def __init__(self, pin: Pin) -> None:
        self._pin = pin
        self._known: dict[Path, _Known] = {}
        self._lock = Lock()

    def current(self, members: Iterable[FleetMember]) -> CurrentSummaries:
        """The summaries of what is published now; one that is missing is made from the views."""
        summaries: dict[str, RepoSummary] = {}
        unavailable: dict[str, str] = {}
        for member in members:
            try:
                summaries[member.name] = self.summary_of(member)
            except (CodenibError, OSError) as error:
                unavailable[member.name] = error.message if isinstance(error, CodenibError) else str(error)
        return CurrentSummaries(summaries, unavailable)

    def summary_of(self, member: FleetMember) -> RepoSummary:
        """The summary of what is published of a member; a StateError when nothing is."""
        place = place_of(member.path)
        known = self._known.get(member.path)
        if known is not None and known.stamp == place.store.stamp_of(place.worktree, known.summary.snapshot):
            return known.summary
        with self._lock:
            # Looked at before it is read: what is written meanwhile is read by the next question.
            head = place.store.head(place.worktree)
            stamp = place.store.stamp_of(place.worktree, head) if head else None
            summary = self._read(member, place)
            if stamp is not None and summary.snapshot == head:
                self._known[member.path] = _Known(stamp, summary)
            return summary

    def _read(self, member: FleetMember, place: PublishedPlace) -> RepoSummary:
        manifest = published_manifest(member, place)
        file = _file(place, manifest)
        with suppress(OSError, StateError):  # none yet, or damaged: it is made again
            summary = RepoSummary.decode(file.read_bytes())
            if summary.is_of(manifest):
                return summary
        pinned = self._pin(member)
        summary = RepoSummary.of(pinned)
        file = _file(place, pinned.manifest)
        with suppress(OSError):  # a store that cannot be written to is answered from all the same
            replace_file(file, summary.encode())
            _drop_others(place, file)
        return summary


def published_manifest(member: FleetMember, place: PublishedPlace) -> RepoManifest:
    """What is published for the head of a member, with a fresh lexical view; a StateError without one."""
    head = place.store.head(place.worktree)
    manifest = place.store.manifest(head) if head else None
    if manifest is None:
        raise StateError("it was never indexed", hint=f"codenib fleet index --repos {member.name}")
    record = manifest.views.get(ViewKind.LEXICAL)
    if record is None or record.status is not Status.FRESH:
        why = f"failed: {record.error}" if record is not None and record.error else "was not built"
        raise StateError(f"its lexical view {why}", hint=f"codenib fleet index --repos {member.name}")
    return manifest


def _file(place: PublishedPlace, manifest: RepoManifest) -> Path:
    return place.store.folder / "summaries" / f"{manifest.snapshot}.msgpack"


def _drop_others(place: PublishedPlace, file: Path) -> None:
    """Remove the summaries of snapshots that are no longer published."""
    for other in file.parent.glob("*.msgpack"):
        if other != file and not place.store.used_at(other.stem):
            other.unlink(missing_ok=True)

"""A published snapshot of a local store in, the same snapshot published for the fleet out.

All objects are written first, then the publication that names them, and only then a head moves: a reader sees
one whole publication or another, and a kill at any instant loses nothing that was published.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from codenib.core.errors import StateError
from codenib.core.views import RepoManifest, Status, ViewKind, ViewRecord
from codenib.fleet.store.digests import PartDigests
from codenib.fleet.store.layout import (
    FleetHead,
    ObjectRef,
    Publication,
    head_path,
    snapshot_path,
)
from codenib.fleet.store.objects import ObjectStore
from codenib.fleet.store.sweep_guard import SweepGuard
from codenib.manifest.store import Store

_THREADS = 8
_SWEPT = "an artifact was swept while it was pushed"

#: Whether a branch may go from this head to ours; asked when it names another snapshot.
Supersedes = Callable[[FleetHead], bool]


@dataclass(frozen=True, slots=True)
class Pushed:
    """What a push did: the snapshot's head, what was sent, and the branches that now name it."""

    head: FleetHead
    sent_objects: int
    sent_bytes: int
    moved: tuple[str, ...]
    refused: tuple[str, ...]  # branches that went on meanwhile


def always(head: FleetHead) -> bool:
    """Let a branch go from any head to ours."""
    return True


def push(
    objects: ObjectStore,
    repository: str,
    store: Store,
    snapshot: str,
    *,
    refs: Sequence[str] = (),
    views: Collection[ViewKind] | None = None,
    supersedes: Supersedes = always,
) -> Pushed:
    """Publish a snapshot under `repository`, and let the branches `refs` name it.

    Views that other machines published of this snapshot stay; `views` are all that are fresh here unless
    named. A branch whose head is of another snapshot moves when `supersedes` says so of that head.
    """
    paths = [head_path(repository, ref) for ref in refs]
    path = snapshot_path(repository, snapshot)
    manifest = store.manifest(snapshot)
    if manifest is None:
        raise StateError(f"snapshot {snapshot} is not published here", hint="codenib index")
    store.touch(snapshot)
    sender, guard = _Sender(objects), SweepGuard(objects.backend)
    chosen = chosen_manifest(manifest, views)
    ours = _sent(repository, store, chosen, sender)

    def merged(now: FleetHead | None) -> FleetHead | None:
        nonlocal ours
        while (wanted := ours if now is None else _merge(objects.publication(now), ours)) is not None:
            reference = sender.send(msgspec.json.encode(wanted))
            if guard.confirm([reference.path, *(ref.path for ref in wanted.refs().values())]):
                return _head_of(wanted, reference)
            ours = _sent(repository, store, chosen, sender)  # a collection may have removed some of it
        return None

    head, _ = objects.move_head(path, merged)
    assert head is not None
    moved = [ref for ref, place in zip(refs, paths, strict=True) if _move(objects, place, head, supersedes)]
    refused = tuple(ref for ref in refs if ref not in moved)
    return Pushed(head, sender.sent_objects, sender.sent_bytes, tuple(moved), refused)


def fresh_views(publication: Publication) -> dict[ViewKind, ViewRecord]:
    """The views that can be opened of a publication."""
    views = manifest_of(publication).views
    return {kind: record for kind, record in views.items() if record.status is Status.FRESH}


def manifest_of(publication: Publication) -> RepoManifest:
    """The manifest of a publication."""
    try:
        return msgspec.json.decode(publication.manifest, type=RepoManifest)
    except ValueError as error:
        raise StateError(
            f"the manifest of {publication.snapshot} cannot be read by this version: {error}",
            hint="codenib fleet index",
        ) from error


def _move(objects: ObjectStore, path: str, head: FleetHead, supersedes: Supersedes) -> bool:
    """Let a branch name a snapshot's head; False when it went on to what ours does not supersede."""
    refused = False

    def successor(now: FleetHead | None) -> FleetHead | None:
        nonlocal refused
        refused = False
        if now is not None and now.snapshot == head.snapshot:
            return None if now.revision >= head.generation else branch
        refused = now is not None and not supersedes(now)
        return None if refused else branch

    branch = msgspec.structs.replace(head, revision=head.generation)
    objects.move_head(path, successor)
    return not refused


def chosen_manifest(manifest: RepoManifest, views: Collection[ViewKind] | None) -> RepoManifest:
    """The manifest with the views to send; what is not fresh is named without an artifact."""
    records = {
        kind: record if record.status is Status.FRESH else replace(record, artifact="")
        for kind, record in manifest.views.items()
        if views is None or kind in views
    }
    absent = [kind for kind in views or () if kind not in records or records[kind].status is not Status.FRESH]
    if absent:
        kinds = ", ".join(absent)
        raise StateError(f"not fresh in this snapshot: {kinds}", hint=f"codenib index --views {kinds}")
    return replace(manifest, views=records)


def _sent(repository: str, store: Store, manifest: RepoManifest, sender: _Sender) -> Publication:
    """A manifest's publication, with all that it names in the store of the fleet."""
    try:
        return _publication(repository, store, manifest, sender)
    except FileNotFoundError as error:
        raise StateError(f"{_SWEPT}: {error.filename}", hint="codenib update") from error


def _publication(repository: str, store: Store, manifest: RepoManifest, sender: _Sender) -> Publication:
    """Send what a manifest names; the publication that names that."""
    digests = PartDigests(store.folder / "digests.json")
    artifacts: dict[str, dict[str, ObjectRef]] = {}
    jobs: list[tuple[Path, ObjectRef]] = []
    for record in manifest.views.values():
        if record.status is Status.FRESH:
            folder = store.whole_artifact(record.artifact)
            artifacts[record.artifact] = parts = digests.parts(folder)
            jobs += [(folder / name, ref) for name, ref in parts.items()]
    tree = sender.send(msgspec.json.encode(store.tree(manifest.tree), order="sorted"))
    sender.send_files(jobs)
    digests.save()
    raw = msgspec.Raw(msgspec.json.encode(manifest))
    return Publication(repository, manifest.snapshot, raw, tree, artifacts)


def _merge(theirs: Publication, ours: Publication) -> Publication | None:
    """Our publication with what theirs has besides; None when it has all that ours would add."""
    mine, other = manifest_of(ours), manifest_of(theirs)
    views = dict(other.views)
    for kind, record in mine.views.items():
        known = views.get(kind)
        if known is None or _rank(record, known) > 0:
            views[kind] = record
    if views == other.views:
        return None
    ordered = {kind: views[kind] for kind in ViewKind if kind in views}
    listings = {**theirs.artifacts, **ours.artifacts}
    named = [record.artifact for record in ordered.values() if record.artifact]
    return msgspec.structs.replace(
        ours,
        manifest=msgspec.Raw(msgspec.json.encode(replace(mine, views=ordered))),
        artifacts={name: listings[name] for name in named},
    )


def _rank(ours: ViewRecord, theirs: ViewRecord) -> int:
    """Positive when our record of a view says more than the published one: it works, or is of this code."""
    fresh = (ours.status is Status.FRESH) - (theirs.status is Status.FRESH)
    return fresh or int(ours.status is Status.FRESH and ours.profile != theirs.profile)


def _head_of(publication: Publication, reference: ObjectRef) -> FleetHead:
    manifest = manifest_of(publication)
    views = {str(kind): record.profile for kind, record in fresh_views(publication).items()}
    return FleetHead(reference, manifest.snapshot, manifest.commit, 0, views)


class _Sender:
    """Sends objects that are not there yet, several at once, and counts them."""

    def __init__(self, objects: ObjectStore) -> None:
        self._objects = objects
        self.sent_objects = 0
        self.sent_bytes = 0

    def send(self, data: bytes) -> ObjectRef:
        ref, sent = self._objects.put(data)
        self._count(ref, sent=sent)
        return ref

    def send_files(self, jobs: Sequence[tuple[Path, ObjectRef]]) -> None:
        unique = {ref.digest: (path, ref) for path, ref in jobs}
        with ThreadPoolExecutor(_THREADS) as pool:
            for ref, sent in pool.map(lambda job: self._objects.put(*job), unique.values()):
                self._count(ref, sent=sent)

    def _count(self, ref: ObjectRef, *, sent: bool) -> None:
        self.sent_objects += sent
        self.sent_bytes += ref.size * sent

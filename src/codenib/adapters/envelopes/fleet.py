"""Repositories of a fleet in, their JSON values out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from codenib.adapters.envelopes.envelope import Envelope, UtcTime, rounded, utc
from codenib.core.views import ViewKind
from codenib.fleet.catalogue.catalogue import Catalogue
from codenib.fleet.catalogue.entry import RepositoryEntry
from codenib.fleet.catalogue.sync import SyncOutcome, current_state
from codenib.fleet.compile.compile import FleetReport
from codenib.fleet.compile.records import read_record, record_file
from codenib.fleet.store.collect import StoreCollection


class FleetRepository(msgspec.Struct, frozen=True, kw_only=True):
    """A repository of the fleet. Without `branches` its default branch, without `views` those configured."""

    name: str
    source: str
    place: Literal["mirror", "in place"]
    path: str
    branches: tuple[str, ...]
    views: tuple[ViewKind, ...]
    tenant: str
    schedule: str


class FleetStatusItem(msgspec.Struct, frozen=True, kw_only=True):
    """How a repository stands to its source; `heads` are the branches that can be compiled.

    `compiled` has the commit of each branch that `fleet index` compiled last.

    `state`: `never` synchronized, so that its heads are not known; `fresh`: the last try reached the source,
    which is now where it is read in place; `failed`: it did not, and `heads` are of the time before; `gone`:
    as failed, because nothing is at the source any more.
    """

    name: str
    tenant: str
    state: Literal["never", "fresh", "failed", "gone"]
    heads: Mapping[str, str]
    compiled: Mapping[str, str]
    default: str
    synced: UtcTime | None
    tried: UtcTime | None
    error: str


class HeadMoveItem(msgspec.Struct, frozen=True):
    """A branch that moved; null where it was not there before, or is not any more."""

    branch: str
    before: str | None
    after: str | None


class FleetSyncItem(msgspec.Struct, frozen=True, kw_only=True):
    """What came of one repository. With an `error` its last state stays; `repeat` is the command for it."""

    name: str
    state: Literal["fresh", "failed", "gone"]
    moved: tuple[HeadMoveItem, ...]
    error: str
    repeat: str
    seconds: float


class BundleItem(msgspec.Struct, frozen=True, kw_only=True):
    """A bundle: what it has, and its bytes before and after deflating; `failed` views are not in it."""

    file: str
    commit: str | None
    views: tuple[ViewKind, ...]
    failed: tuple[ViewKind, ...]
    size_bytes: int
    file_bytes: int


class StoreItem(msgspec.Struct, frozen=True, kw_only=True):
    """A store: what was looked at, and what is wrong; `unreferenced` objects are of killed writers."""

    store: str
    sampled: float
    heads: int
    objects: int
    size_bytes: int
    packs: int
    unreferenced: int
    problems: tuple[str, ...]


class StoreCollectionItem(msgspec.Struct, frozen=True, kw_only=True):
    """What a collection of a store did, or would do (`dry_run`); `objects` and `size_bytes` are before it.

    `marked` objects are removed by a run after `due`; `young` are not named by a head, and too new.
    """

    store: str
    dry_run: bool
    heads: int
    objects: int
    size_bytes: int
    retired_snapshots: int
    removed: int
    removed_bytes: int
    marked: int
    marked_bytes: int
    due: UtcTime | None
    young: int
    partial_files: int


class StoreCollectionReply(Envelope[StoreCollectionItem], kw_only=True, frozen=True):
    """`fleet gc`"""


def store_collection_reply(
    url: str, report: StoreCollection, dry_run: bool, seconds: float
) -> StoreCollectionReply:
    item = StoreCollectionItem(
        store=url,
        dry_run=dry_run,
        heads=report.heads,
        objects=report.objects,
        size_bytes=report.size_bytes,
        retired_snapshots=report.retired,
        removed=report.removed,
        removed_bytes=report.removed_bytes,
        marked=report.marked,
        marked_bytes=report.marked_bytes,
        due=utc(int(report.due_s)) if report.marked else None,
        young=report.young,
        partial_files=report.partials,
    )
    return StoreCollectionReply(
        items=(item,),
        total=1,
        truncated=False,
        snapshot=None,
        freshness=None,
        provider="store",
        seconds=rounded(seconds),
    )


class BundleReply(Envelope[BundleItem], kw_only=True, frozen=True):
    """`export` and `import`"""


class StoreReply(Envelope[StoreItem], kw_only=True, frozen=True):
    """`fleet verify`"""


class FleetListReply(Envelope[FleetRepository], kw_only=True, frozen=True):
    """`fleet list`, `fleet add` and `fleet remove`: the repositories that are there, or that it was about."""


class FleetStatusReply(Envelope[FleetStatusItem], kw_only=True, frozen=True):
    """`fleet status`"""


class FleetSyncReply(Envelope[FleetSyncItem], kw_only=True, frozen=True):
    """`fleet sync`: the repositories that were asked for, by name."""

    moved: int
    failed: int


def fleet_sync_reply(outcomes: Sequence[SyncOutcome], seconds: float) -> FleetSyncReply:
    items = tuple(
        FleetSyncItem(
            name=each.name,
            state=each.state,
            moved=tuple(
                HeadMoveItem(move.branch, move.before or None, move.after or None) for move in each.moved
            ),
            error=each.error,
            repeat=each.repeat if each.error else "",
            seconds=rounded(each.seconds),
        )
        for each in sorted(outcomes, key=lambda each: each.name)
    )
    return FleetSyncReply(
        items=items,
        total=len(items),
        truncated=False,
        snapshot=None,
        freshness=None,
        provider="git",
        seconds=rounded(seconds),
        moved=sum(bool(item.moved) for item in items),
        failed=sum(bool(item.error) for item in items),
    )


class FleetViewItem(msgspec.Struct, frozen=True):
    """What became of a view: `built`, `maintained`, `reused`, `current`, `failed`; and what it lacks."""

    view: ViewKind
    how: str
    error: str


class FleetIndexItem(msgspec.Struct, frozen=True, kw_only=True):
    """One task: views of a commit of a repository, and what they cost where they were built."""

    name: str
    branch: str
    commit: str
    indexed: str
    views: tuple[FleetViewItem, ...]
    derived_blobs: int
    cpu_s: float
    peak_bytes: int
    sent_bytes: int
    seconds: float
    error: str


class FleetFailureItem(msgspec.Struct, frozen=True):
    """Something of one repository that failed, and the command that tries it again."""

    name: str
    error: str
    hint: str
    repeat: str


class FleetIndexReply(Envelope[FleetIndexItem], kw_only=True, frozen=True):
    """`fleet index`: what was compiled; `current` branches were up to date and are not among the items.

    `lost` lists workers that ended before their work was done; it was repeated. `cpu_s` is of all workers.
    """

    repositories: int
    current: int
    failures: tuple[FleetFailureItem, ...]
    lost: tuple[str, ...]
    cpu_s: float
    driver_cpu_s: float


def fleet_index_reply(report: FleetReport) -> FleetIndexReply:
    items = tuple(
        FleetIndexItem(
            name=each.name,
            branch=each.branch,
            commit=each.commit,
            indexed=each.snapshot,
            views=tuple(FleetViewItem(kind, done.how, done.error) for kind, done in each.views.items()),
            derived_blobs=each.derived,
            cpu_s=rounded(each.cpu_s),
            peak_bytes=each.peak_bytes,
            sent_bytes=each.sent_bytes,
            seconds=rounded(each.seconds),
            error=each.error,
        )
        for each in sorted(report.results, key=lambda each: (each.name, each.branch, each.group))
    )
    return FleetIndexReply(
        items=items,
        total=len(items),
        truncated=False,
        snapshot=None,
        freshness=None,
        provider=report.on or "catalogue",
        seconds=rounded(report.seconds),
        repositories=report.repositories,
        current=report.current,
        failures=tuple(
            FleetFailureItem(each.name, each.error, each.hint, each.repeat) for each in report.failures
        ),
        lost=tuple(report.lost),
        cpu_s=rounded(report.cpu_s),
        driver_cpu_s=rounded(report.driver_cpu_s),
    )


def fleet_repository(catalogue: Catalogue, entry: RepositoryEntry) -> FleetRepository:
    return FleetRepository(
        name=entry.name,
        source=entry.source,
        place="in place" if entry.in_place else "mirror",
        path=str(catalogue.mirror_of(entry)),
        branches=entry.branches,
        views=entry.views,
        tenant=entry.tenant,
        schedule=entry.schedule,
    )


def fleet_status_item(catalogue: Catalogue, entry: RepositoryEntry) -> FleetStatusItem:
    state = current_state(catalogue, entry)
    record = read_record(record_file(catalogue, entry))
    standing: Literal["never", "fresh", "failed", "gone"]
    standing = "gone" if state.gone else "failed" if state.error else "fresh" if state.synced else "never"
    return FleetStatusItem(
        name=entry.name,
        tenant=entry.tenant,
        state=standing,
        heads=state.heads,
        compiled={branch: head.commit for branch, head in record.heads.items()},
        default=state.default,
        synced=utc(int(state.synced)) if state.synced else None,
        tried=utc(int(state.tried)) if state.tried else None,
        error=state.error,
    )

"""Reports about views, tools, clients and runs in, their JSON values out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec

from codenib.adapters.envelopes.envelope import (
    Envelope,
    Freshness,
    SnapshotId,
    UtcTime,
    freshness_of,
    rounded,
    snapshot_id,
    utc,
)
from codenib.core.answers import SnapshotRef
from codenib.core.updates import GraphUpdate, LearnedSummary, Outcome, RecentUpdate
from codenib.core.views import ViewKind, ViewRecord
from codenib.serving.installation import CollectReport
from codenib.serving.snapshots.maintenance import AuditReport
from codenib.serving.snapshots.status import StatusReport, describe_refresh


class FileCounts(msgspec.Struct, frozen=True):
    """How many files the snapshot has, and how many differ from what was indexed before."""

    total: int
    added: int
    changed: int
    removed: int
    renamed: int


class UpdateReply(Envelope[ViewRecord], kw_only=True, frozen=True):
    """`index`, `update`, `import-scip` and each update of `watch`: the views, and what was done to which."""

    changed: bool
    done: Mapping[ViewKind, str]
    files: FileCounts
    derived_blobs: int
    graph_update: GraphUpdate | None


class StatusReply(Envelope[ViewRecord], kw_only=True, frozen=True):
    """`status`: the views, and how the worktree differs from what they were built from."""

    repository: str
    root: str
    kind: str
    files: int
    skipped: Mapping[str, int]
    indexed_snapshot: str | None
    added: int
    changed: int
    removed: int
    manifests: int
    store: str
    size_bytes: int
    shared_bytes: int
    learned: tuple[LearnedSummary, ...] = ()


class UpdateItem(msgspec.Struct, frozen=True):
    """A published snapshot, when it was last used, its views, and what the graph's update did for it."""

    snapshot: SnapshotId
    used: UtcTime
    files: int
    views: tuple[ViewRecord, ...]
    graph_update: GraphUpdate | None


class UpdatesReply(Envelope[UpdateItem], kw_only=True, frozen=True):
    """`updates`: the last used first."""


class DifferenceItem(msgspec.Struct, frozen=True):
    """Something in which a maintained view differs from a rebuilt one."""

    view: ViewKind
    difference: str


class VerifyReply(Envelope[DifferenceItem], kw_only=True, frozen=True):
    """`verify`: no items where the views that were compared are equal."""

    clean: bool
    views: tuple[ViewKind, ...]


class AuditItem(msgspec.Struct, frozen=True):
    """How many files of a language group were asked for again, and which answer differently."""

    group: str
    checked: int
    differing: tuple[str, ...]


class AuditReply(Envelope[AuditItem], kw_only=True, frozen=True):
    """`verify --sample` and the audits of `watch`: how many files were compared, and which differ."""

    clean: bool
    repaired: bool


class DroppedItem(msgspec.Struct, frozen=True):
    """How many of a kind were dropped."""

    kind: str
    count: int


class CollectReply(Envelope[DroppedItem], kw_only=True, frozen=True):
    """`gc`"""

    freed_bytes: int
    size_bytes: int


class InstalledTool(msgspec.Struct, frozen=True):
    """What came of installing a tool."""

    name: str
    done: Literal["installed", "there already", "failed"]
    seconds: float
    version: str = ""
    origin: str = ""
    folder: str = ""
    error: str = ""
    hint: str = ""


class EditItem(msgspec.Struct, frozen=True):
    """A file of a client's configuration, and what changes in it; not `applied` in a dry run."""

    file: str
    diff: str
    applied: bool


class EntryItem(msgspec.Struct, frozen=True):
    """What to put into which file of a client."""

    client: str
    file: str
    entry: dict[str, Any]


class TrustItem(msgspec.Struct, frozen=True):
    """A repository that is trusted: where it is, since when, and the origin and commit that it had then."""

    root: str
    since: UtcTime
    origin: str
    commit: str


class TokenItem(msgspec.Struct, frozen=True):
    """A token of `serve`; its text only when it is made."""

    id: str
    name: str
    repositories: tuple[str, ...]
    created: UtcTime
    token: str | None = None
    tenant: str = ""
    views: tuple[str, ...] = ()
    requests_per_s: float | None = None
    concurrent: int | None = None
    tokens_per_day: int | None = None
    metrics: bool = False


def update_reply(outcome: Outcome, explained: GraphUpdate | None = None) -> UpdateReply:
    manifest = outcome.manifest
    return UpdateReply(
        items=tuple(manifest.views.values()),
        total=len(manifest.views),
        truncated=False,
        snapshot=SnapshotId(manifest.snapshot, manifest.commit, manifest.dirty),
        freshness=Freshness("fresh", describe_refresh(outcome)),
        provider="compiler",
        seconds=rounded(outcome.seconds),
        changed=not outcome.nothing_to_do,
        done=outcome.views,
        files=FileCounts(
            total=manifest.files,
            added=outcome.added,
            changed=outcome.changed,
            removed=outcome.removed,
            renamed=outcome.renamed,
        ),
        derived_blobs=outcome.derived,
        graph_update=explained,
    )


def status_reply(report: StatusReport, seconds: float) -> StatusReply:
    indexed = report.indexed_snapshot is not None
    return StatusReply(
        items=tuple(report.views.values()),
        total=len(report.views),
        truncated=False,
        snapshot=SnapshotId(report.snapshot, report.commit, report.dirty),
        freshness=Freshness("fresh" if report.fresh else "stale" if indexed else "absent"),
        provider="store",
        seconds=rounded(seconds),
        repository=report.repository,
        root=report.root,
        kind=report.kind,
        files=report.files,
        skipped=report.skipped,
        indexed_snapshot=report.indexed_snapshot,
        added=report.added,
        changed=report.changed,
        removed=report.removed,
        manifests=report.manifests,
        store=report.store,
        size_bytes=report.size_bytes,
        shared_bytes=report.shared_bytes,
        learned=report.learned,
    )


def updates_reply(updates: Sequence[RecentUpdate], total: int, seconds: float) -> UpdatesReply:
    items = tuple(
        UpdateItem(
            SnapshotId(each.manifest.snapshot, each.manifest.commit, each.manifest.dirty),
            utc(int(each.used)),
            each.manifest.files,
            tuple(each.manifest.views.values()),
            each.graph,
        )
        for each in updates
    )
    return UpdatesReply(
        items=items,
        total=total,
        truncated=len(items) < total,
        snapshot=items[0].snapshot if items else None,
        freshness=None,
        provider="store",
        seconds=rounded(seconds),
    )


def verify_reply(
    differences: Mapping[ViewKind, Sequence[str]], ref: SnapshotRef, seconds: float
) -> VerifyReply:
    items = tuple(DifferenceItem(view, line) for view, lines in differences.items() for line in lines)
    return VerifyReply(
        items=items,
        total=len(items),
        truncated=False,
        snapshot=snapshot_id(ref),
        freshness=freshness_of(ref),
        provider="compiler",
        seconds=rounded(seconds),
        clean=not items,
        views=tuple(differences),
    )


def audit_reply(report: AuditReport) -> AuditReply:
    items = tuple(AuditItem(each.group, each.checked, each.differing) for each in report.groups)
    return AuditReply(
        items=items,
        total=len(items),
        truncated=False,
        snapshot=snapshot_id(report.snapshot),
        freshness=freshness_of(report.snapshot),
        provider="engines",
        seconds=rounded(report.seconds),
        clean=report.clean,
        repaired=report.repaired,
    )


def collect_reply(report: CollectReport, seconds: float) -> CollectReply:
    kinds = ("repositories", "artifacts", "records", "blobs")
    items = tuple(DroppedItem(kind, getattr(report, kind)) for kind in kinds)
    return CollectReply(
        items=items,
        total=len(items),
        truncated=False,
        snapshot=None,
        freshness=None,
        provider="store",
        seconds=rounded(seconds),
        freed_bytes=report.freed_bytes,
        size_bytes=report.size_bytes,
    )

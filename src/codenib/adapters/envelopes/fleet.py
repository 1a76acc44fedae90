"""Repositories of a fleet in, their JSON values out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from codenib.adapters.envelopes.envelope import Envelope, UtcTime, rounded, utc
from codenib.core.views import ViewKind
from codenib.fleet.catalogue.catalogue import Catalogue
from codenib.fleet.catalogue.entry import RepositoryEntry
from codenib.fleet.catalogue.state import read_state
from codenib.fleet.catalogue.sync import SyncOutcome


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

    `state`: `never` synchronized; `fresh`: the last try reached the source; `failed`: it did not, and `heads`
    are of the time before; `gone`: as failed, because nothing is at the source any more.
    """

    name: str
    tenant: str
    state: Literal["never", "fresh", "failed", "gone"]
    heads: Mapping[str, str]
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
    state = read_state(catalogue.state_file(entry))
    standing: Literal["never", "fresh", "failed", "gone"]
    standing = "gone" if state.gone else "failed" if state.error else "fresh" if state.synced else "never"
    return FleetStatusItem(
        name=entry.name,
        tenant=entry.tenant,
        state=standing,
        heads=state.heads,
        default=state.default,
        synced=utc(int(state.synced)) if state.synced else None,
        tried=utc(int(state.tried)) if state.tried else None,
        error=state.error,
    )

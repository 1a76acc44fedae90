"""The keys of every JSON answer: items, total, truncated, snapshot, freshness, provider and seconds."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Generic, Literal, TypeVar

import msgspec

from codenib.core.answers import SnapshotRef

Item = TypeVar("Item")

#: Every date in JSON: ISO 8601 in UTC, `2026-01-31T12:00:00Z`.
UtcTime = Annotated[datetime, msgspec.Meta(tz=True)]


class SnapshotId(msgspec.Struct, frozen=True):
    """The state of the repository that an answer is for."""

    id: str
    commit: str | None
    dirty: bool


class Freshness(msgspec.Struct, frozen=True):
    """How the snapshot stands to the files.

    `fresh`: it is the state that was asked for; `unchecked`: the caller asked for no refresh, so files may
    have changed since; `stale`: they have; `absent`: nothing is indexed. `refreshed` says what was done
    before answering, empty when nothing was.
    """

    state: Literal["fresh", "unchecked", "stale", "absent"]
    refreshed: str = ""


class Envelope(msgspec.Struct, Generic[Item], kw_only=True, frozen=True, forbid_unknown_fields=True):
    """What every JSON answer has, also when it has more.

    `total` counts what exists, also past the limit; `truncated` says that `items` are not all of it.
    `snapshot` and `freshness` are null where an answer is about no repository. `provider` names who answered.
    """

    items: tuple[Item, ...]
    total: int
    truncated: bool
    snapshot: SnapshotId | None
    freshness: Freshness | None
    provider: str
    seconds: float


class ErrorFacts(msgspec.Struct, frozen=True):
    """What went wrong, by kind, and the one command that helps."""

    kind: str
    message: str
    hint: str


class ErrorReply(msgspec.Struct, frozen=True):
    """What any command prints instead of an answer; its exit code is by kind."""

    error: ErrorFacts


def snapshot_id(ref: SnapshotRef) -> SnapshotId:
    return SnapshotId(ref.id, ref.commit, ref.dirty)


def freshness_of(ref: SnapshotRef, refreshed: str = "") -> Freshness:
    return Freshness("unchecked" if ref.stale else "fresh", refreshed)


def whole(items: tuple[Item, ...], provider: str, seconds: float) -> Envelope[Item]:
    """All of a list that is about no snapshot."""
    return Envelope(
        items=items,
        total=len(items),
        truncated=False,
        snapshot=None,
        freshness=None,
        provider=provider,
        seconds=rounded(seconds),
    )


def rounded(seconds: float) -> float:
    """Seconds to the microsecond."""
    return round(seconds, 6)


def utc(seconds: int) -> datetime:
    """Seconds since 1970 as a date.

    >>> utc(0).isoformat()
    '1970-01-01T00:00:00+00:00'
    """
    return datetime.fromtimestamp(seconds, UTC)

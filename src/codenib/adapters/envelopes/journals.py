"""Journals of agents' calls in, their JSON values out."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from codenib.adapters.envelopes.envelope import Envelope, UtcTime, rounded, utc, whole
from codenib.learning.journal.entries import CallEntry, EditEntry, JournalEntry
from codenib.learning.journal.feedback import AnswerOutcome, FollowUp
from codenib.learning.journal.review import JournalState


class JournalItem(msgspec.Struct, frozen=True):
    """`journal on` and `off`: whether the calls of a repository are recorded, since when, what, and how much.

    `since` is null where nobody ever said anything. `damaged`: the file was, and earlier entries are lost.
    `over_http`: what is asked over `serve` too; `tenant`: of this one's tokens alone.
    """

    repository: str
    on: bool
    since: UtcTime | None
    recorded: tuple[str, ...]
    max_bytes: int
    max_days: int
    entries: int
    size_bytes: int
    damaged: bool
    over_http: bool = False
    tenant: str = ""


class OutcomeItem(msgspec.Struct, frozen=True):
    """What became of a ranked answer: which of its places were read or edited, in which order.

    `edits_known` is false where files changed later and nobody can say which.
    """

    at: float
    session: str
    query: str
    follow_ups: tuple[FollowUp, ...]
    edits_known: bool


class JournalReply(Envelope[CallEntry | EditEntry], kw_only=True, frozen=True):
    """`journal show`: the latest entries, oldest first, and what became of the ranked answers among them."""

    journal: JournalItem
    outcomes: tuple[OutcomeItem, ...]


class ForgottenItem(msgspec.Struct, frozen=True):
    """`journal forget`: how many entries are gone, of which repository; null: of all."""

    repository: str | None
    entries: int


class JournalFile(msgspec.Struct, frozen=True):
    """`journal export`: a file of entries, one a line."""

    file: str
    entries: int


def journal_item(state: JournalState) -> JournalItem:
    given = state.consent
    return JournalItem(
        repository=state.repository,
        on=given is not None and given.on,
        since=utc(int(given.at)) if given else None,
        recorded=given.recorded if given else (),
        max_bytes=given.max_bytes if given else 0,
        max_days=given.max_days if given else 0,
        entries=state.entries,
        size_bytes=state.size_bytes,
        damaged=state.damaged,
        over_http=given is not None and given.over_http,
        tenant=given.tenant if given else "",
    )


def journal_switched(state: JournalState, seconds: float) -> Envelope[JournalItem]:
    return whole((journal_item(state),), "journal", seconds)


def journal_reply(
    state: JournalState,
    entries: Sequence[JournalEntry],
    outcomes: Sequence[AnswerOutcome],
    *,
    total: int,
    seconds: float,
) -> JournalReply:
    return JournalReply(
        items=tuple(entries),
        total=total,
        truncated=len(entries) < total,
        snapshot=None,
        freshness=None,
        provider="journal",
        seconds=rounded(seconds),
        journal=journal_item(state),
        outcomes=tuple(
            OutcomeItem(
                each.call.at,
                each.call.session,
                each.call.query,
                each.follow_ups,
                edits_known=each.edits_known,
            )
            for each in outcomes
        ),
    )

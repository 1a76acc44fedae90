"""Entries of a journal in, what became of each ranked answer out: which of its places were read or edited.

A read or a definition belongs to the latest ranked answer of its session that had the place. Of an edit only
the file is known, so it belongs to the place of that file that was looked at last, or else was ranked best,
in the latest answer that had one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from codenib.learning.journal.entries import CallEntry, EditEntry, GivenPlace, JournalEntry

#: Calls that look at one place.
FOLLOWING = frozenset({"read", "definition"})
#: A change of more files between two looks is a branch that was switched or pulled, not an edit.
MOST_EDITED = 20


@dataclass(frozen=True, slots=True)
class FollowUp:
    """A place of an answer that was used later: its rank (from 1), how, and as the how-manieth of them."""

    rank: int
    how: str
    order: int


@dataclass(frozen=True, slots=True)
class AnswerOutcome:
    """A ranked answer and its follow-ups, in their order.

    `edits_known` is false where files changed after it and nobody can say which, or too many to be edits.
    """

    call: CallEntry
    follow_ups: tuple[FollowUp, ...] = ()
    edits_known: bool = True

    @property
    def used_ranks(self) -> frozenset[int]:
        return frozenset(each.rank for each in self.follow_ups)


@dataclass(slots=True)
class _Open:
    """An answer of a session that may still be followed."""

    call: CallEntry
    follow_ups: list[FollowUp] = field(default_factory=list)
    edits_known: bool = True

    def add(self, rank: int, how: str) -> None:
        if not any(each.rank == rank and each.how == how for each in self.follow_ups):
            self.follow_ups.append(FollowUp(rank, how, len(self.follow_ups) + 1))


def is_ranked(entry: JournalEntry) -> bool:
    """Whether an entry is a question in words that was answered with ranked places."""
    return (
        isinstance(entry, CallEntry)
        and not entry.failed
        and bool(entry.query and entry.plan.route and entry.places)
    )


def answer_outcomes(entries: Iterable[JournalEntry]) -> list[AnswerOutcome]:
    """What became of each ranked answer, oldest first."""
    answers: list[_Open] = []
    sessions: dict[str, list[_Open]] = defaultdict(list)
    for entry in entries:
        earlier = sessions[entry.session]
        if isinstance(entry, EditEntry):
            _follow_edit(entry, earlier)
        elif is_ranked(entry):
            answers.append(_Open(entry))
            earlier.append(answers[-1])
        elif entry.tool in FOLLOWING and not entry.failed and entry.places:
            _follow_read(entry, earlier)
    return [AnswerOutcome(each.call, tuple(each.follow_ups), each.edits_known) for each in answers]


def _follow_read(entry: CallEntry, earlier: Sequence[_Open]) -> None:
    looked_at = entry.places[0]
    for answer in reversed(earlier):
        ranked = list(_overlapping(answer.call.places, looked_at))
        if ranked:
            answer.add(max(ranked, key=lambda pair: (pair[1], -pair[0]))[0], entry.tool)
            return


def _follow_edit(entry: EditEntry, earlier: Sequence[_Open]) -> None:
    if not entry.complete or entry.total > MOST_EDITED:
        for answer in earlier:
            answer.edits_known = False
        return
    for path in entry.paths:
        for answer in reversed(earlier):
            ranks = [rank for rank, place in enumerate(answer.call.places, 1) if place.path == path]
            if ranks:
                looked_at = [each.rank for each in answer.follow_ups if each.rank in ranks]
                answer.add(looked_at[-1] if looked_at else ranks[0], "edit")
                break


def _overlapping(places: Sequence[GivenPlace], looked_at: GivenPlace) -> Iterator[tuple[int, float]]:
    """Rank of each place that was looked at, with the share of its lines."""
    for rank, place in enumerate(places, 1):
        if not place.overlaps(looked_at):
            continue
        if not place.line or not looked_at.line:
            yield rank, 1.0
            continue
        last = max(place.end_line, place.line)
        common = min(last, max(looked_at.end_line, looked_at.line)) - max(place.line, looked_at.line) + 1
        yield rank, common / (last - place.line + 1)

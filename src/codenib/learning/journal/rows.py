"""The journal of a repository in, rows to learn from out: a question, the places that were used, and weights.

A use counts 1 / examined(rank): what was used although it stood far down says more than what stood first.
Without enough data for that there are no rows, unless the caller takes them uncorrected.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from codenib.core.errors import StateError
from codenib.learning.journal.entries import GivenPlace
from codenib.learning.journal.feedback import AnswerOutcome, answer_outcomes
from codenib.learning.journal.propensity import Examination, Exposure, estimate_examination
from codenib.learning.journal.review import journal_entries

#: A use weighs at most this much: rarely examined ranks would else decide alone. It biases towards them.
MOST_WEIGHT = 10.0


@dataclass(frozen=True, slots=True)
class WeightedPlace:
    """A place that was used after a question: `how` is read, definition or edit; an edit is of the file."""

    place: GivenPlace
    rank: int
    how: str
    weight: float


@dataclass(frozen=True, slots=True)
class JournalRow:
    """A question, when it was asked and of which commit, and the places that were used."""

    query: str
    at: float
    commit: str | None
    snapshot: str
    dirty: bool
    places: tuple[WeightedPlace, ...]


@dataclass(frozen=True, slots=True)
class JournalRows:
    """Rows with the examination that their weights come from; `reason` says why there are none, or which.

    `left_out` counts uses at ranks whose examination is not known.
    """

    rows: tuple[JournalRow, ...]
    examination: Examination | None
    reason: str = ""
    left_out: int = 0


def journal_rows(
    repository: str | Path,
    *,
    since: float | None = None,
    until: float | None = None,
    uncorrected: bool = False,
    tenant: str = "",
) -> JournalRows:
    """The rows of a repository's journal, or of a tenant's, oldest first.

    With too few data the result is empty and says what is missing; with `uncorrected` each use then weighs 1,
    and the rows favour what was ranked high.
    """
    outcomes = answer_outcomes(journal_entries(repository, since=since, until=until, tenant=tenant))
    if not outcomes:
        return JournalRows((), None, "it has no answered question; `codenib journal on` records them")
    return rows_of_outcomes(outcomes, uncorrected=uncorrected)


def rows_of_outcomes(outcomes: Sequence[AnswerOutcome], *, uncorrected: bool = False) -> JournalRows:
    """See `journal_rows`."""
    try:
        examination = estimate_examination(exposures(outcomes))
    except StateError as error:
        if not uncorrected:
            return JournalRows((), None, error.message)
        rows = tuple(row for each in outcomes if (row := _row(each, None)[0]).places)
        return JournalRows(rows, None, f"not corrected: {error.message}")
    pairs = [_row(each, examination) for each in outcomes]
    rows = tuple(row for row, _ in pairs if row.places)
    return JournalRows(rows, examination, left_out=sum(left_out for _, left_out in pairs))


def exposures(outcomes: Sequence[AnswerOutcome]) -> Iterator[Exposure]:
    """Each place of each ranked answer, and whether it was used; a group is a question and a place.

    Tools are apart: `explore` sends code with its places, so that they are read less often afterwards.
    """
    for outcome in outcomes:
        call, used = outcome.call, outcome.used_ranks
        question = question_key(call.query)
        for rank, place in enumerate(call.places, 1):
            name = place.symbol or f"{place.line}-{place.end_line}"
            yield Exposure("\0".join((call.tool, question, place.path, name)), rank, rank in used)


def question_key(query: str) -> str:
    """The words of a question, so that one that is asked again in another order is the same.

    >>> question_key("the Cart of the shop")
    'cart of shop the'
    """
    return " ".join(sorted(set(query.lower().split())))


def _row(outcome: AnswerOutcome, examination: Examination | None) -> tuple[JournalRow, int]:
    call, places, left_out = outcome.call, [], 0
    for each in outcome.follow_ups:
        examined = examination.at(each.rank) if examination else 1.0
        if examined is None:
            left_out += 1
            continue
        weight = min(1 / max(examined, 1 / MOST_WEIGHT), MOST_WEIGHT)
        places.append(WeightedPlace(call.places[each.rank - 1], each.rank, each.how, weight))
    row = JournalRow(
        call.query, call.at, call.commit, snapshot=call.snapshot, dirty=call.dirty, places=tuple(places)
    )
    return row, left_out

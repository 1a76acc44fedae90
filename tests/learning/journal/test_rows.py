"""Rows of a journal, with weights or a reason why there are none."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from tests.gitrepo import GitRepo

from codenib.learning.journal.entries import AnsweringPlan, CallEntry, GivenPlace
from codenib.learning.journal.feedback import AnswerOutcome, FollowUp
from codenib.learning.journal.rows import MOST_WEIGHT, journal_rows, rows_of_outcomes

PLACES = tuple(GivenPlace(f"f{number}.py", 1, 9, f"f{number}") for number in range(4))


def outcome(
    number: int, order: list[int], used: list[int], query: str = "where is the total"
) -> AnswerOutcome:
    places = tuple(PLACES[each] for each in order)
    plan = AnsweringPlan(route="hybrid")
    call = CallEntry(
        float(number),
        "s",
        "w",
        "search",
        {"query": query},
        places=places,
        plan=plan,
        commit="c",
        snapshot="id",
    )
    ranks = [order.index(each) + 1 for each in used]
    return AnswerOutcome(call, tuple(FollowUp(rank, "read", at + 1) for at, rank in enumerate(ranks)))


def test_uses_far_down_weigh_more() -> None:
    chance = random.Random(0)
    examined = {1: 1.0, 2: 0.5, 3: 0.35, 4: 0.25}
    outcomes = []
    for number in range(1500):
        order = chance.sample(range(4), 4)
        used = [each for each in order if chance.random() < 0.4 * examined[order.index(each) + 1]]
        outcomes.append(outcome(number, order, used))
    found = rows_of_outcomes(outcomes)
    assert found.examination is not None and found.reason == ""
    weights = {use.rank: use.weight for row in found.rows for use in row.places}
    assert weights[1] == 1.0
    assert weights[2] == pytest.approx(2.0, rel=0.25)
    assert weights[1] < weights[2] < weights[4] <= MOST_WEIGHT
    assert found.rows[0].commit == "c" and found.rows[0].query == "where is the total"


def test_with_too_few_data_there_are_no_rows_unless_they_are_taken_as_they_are() -> None:
    outcomes = [outcome(1, [0, 1, 2], [1]), outcome(2, [2, 1], [])]
    found = rows_of_outcomes(outcomes)
    assert found.rows == () and "too few data" in found.reason
    plain = rows_of_outcomes(outcomes, uncorrected=True)
    assert plain.reason.startswith("not corrected")
    (row,) = plain.rows
    (use,) = row.places
    assert (use.place, use.rank, use.how, use.weight) == (PLACES[1], 2, "read", 1.0)


def test_a_repository_without_a_journal_has_no_rows(git_repo: Callable[..., GitRepo]) -> None:
    repository = git_repo("shop")
    repository.commit({"a.py": "x = 1\n"})
    assert journal_rows(repository.path).rows == ()

"""What became of ranked answers."""

from __future__ import annotations

from codenib.learning.journal.entries import AnsweringPlan, CallEntry, EditEntry, GivenPlace
from codenib.learning.journal.feedback import FollowUp, answer_outcomes

CART = GivenPlace("shop/cart.py", 10, 20, "Cart.total")
ADD = GivenPlace("shop/cart.py", 21, 40, "Cart.add")
TAX = GivenPlace("shop/tax.py", 1, 5, "with_tax")


def asked(at: float, *places: GivenPlace, session: str = "s") -> CallEntry:
    plan = AnsweringPlan(route="hybrid")
    return CallEntry(at, session, "w", "search", {"query": "total"}, places=places, plan=plan)


def looked(at: float, place: GivenPlace, tool: str = "read", session: str = "s") -> CallEntry:
    return CallEntry(at, session, "w", tool, {}, places=(place,))


def edited(at: float, *paths: str, total: int | None = None, complete: bool = True) -> EditEntry:
    count = len(paths) if total is None else total
    return EditEntry(at, "s", "w", "a", "b", None, None, paths=paths, total=count, complete=complete)


def test_reads_and_edits_belong_to_the_latest_answer_that_had_the_place() -> None:
    first, second = answer_outcomes(
        [
            asked(1, CART, TAX),
            looked(2, GivenPlace("shop/tax.py", 1, 3)),
            asked(3, TAX, ADD, CART),
            looked(4, GivenPlace("shop/cart.py", 15, 42)),
            looked(5, GivenPlace("shop/tax.py", 2, 2), "definition"),
            looked(6, GivenPlace("elsewhere.py", 1, 9)),
            edited(7, "shop/cart.py", "elsewhere.py"),
        ]
    )
    assert first.follow_ups == (FollowUp(2, "read", 1),)
    assert second.follow_ups == (FollowUp(2, "read", 1), FollowUp(1, "definition", 2), FollowUp(2, "edit", 3))


def test_an_edit_of_a_file_that_nobody_looked_at_belongs_to_its_best_place() -> None:
    (answer,) = answer_outcomes([asked(1, TAX, ADD, CART), edited(2, "shop/cart.py")])
    assert answer.follow_ups == (FollowUp(2, "edit", 1),)


def test_sessions_are_apart_and_failures_are_no_answers() -> None:
    failed = CallEntry(1, "s", "w", "search", {"query": "total"}, failed=True)
    (answer,) = answer_outcomes([failed, asked(2, CART), looked(3, CART, session="other")])
    assert answer.follow_ups == ()


def test_a_switched_branch_is_no_edit_and_says_so() -> None:
    (answer,) = answer_outcomes([asked(1, CART), edited(2, "shop/cart.py", total=21)])
    assert (answer.follow_ups, answer.edits_known) == ((), False)
    (answer,) = answer_outcomes([asked(1, CART), edited(2, complete=False)])
    assert (answer.follow_ups, answer.edits_known) == ((), False)

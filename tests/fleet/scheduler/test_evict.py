"""What stays open: within the budget, never without what is used now, and the costly and popular longest."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codenib.fleet.scheduler.evict import POLICIES, Residents, use

_USES = st.lists(st.integers(0, 9), min_size=1, max_size=80)


@pytest.mark.parametrize("policy", sorted(POLICIES))
@given(uses=_USES, sizes=st.lists(st.integers(1, 50), min_size=10, max_size=10))
def test_the_budget_holds_and_what_is_used_is_open(policy: str, uses: list[int], sizes: list[int]) -> None:
    residents = Residents({})
    for number in uses:
        name = str(number)
        was = set(residents.entries)
        residents, hit, closed = use(residents, name, sizes[number], 1.0, budget_bytes=100, policy=policy)
        assert hit == (name in was)
        assert name in residents.entries
        assert residents.size_bytes <= 100
        assert set(residents.entries) == (was | {name}) - set(closed)


def test_what_costs_more_to_open_stays_longer_and_what_nobody_asks_for_goes() -> None:
    residents = Residents({})
    residents, _, _ = use(residents, "costly", 40, 10.0, budget_bytes=100, policy="greedy-dual")
    gone: list[str] = []
    for number in range(8):
        residents, _, closed = use(
            residents, f"cheap {number}", 40, 0.1, budget_bytes=100, policy="greedy-dual"
        )
        gone += closed
    assert "costly" not in gone and "cheap 0" in gone
    for number in range(500):  # its value does not rise, the level does
        residents, _, closed = use(
            residents, f"later {number}", 40, 0.1, budget_bytes=100, policy="greedy-dual"
        )
        gone += closed
    assert "costly" in gone


def test_one_thing_larger_than_the_budget_is_open_alone() -> None:
    residents, _, _ = use(Residents({}), "small", 10, 1.0, budget_bytes=100, policy="lru")
    residents, _, closed = use(residents, "large", 500, 1.0, budget_bytes=100, policy="lru")
    assert (set(residents.entries), closed) == ({"large"}, ("small",))

"""What stays open: within the budget, never without what is used now, and the costly and popular longest."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codenib.fleet.scheduler.evict import POLICIES, Residents, make_room, used

_USES = st.lists(st.integers(0, 9), min_size=1, max_size=80)


def _use(
    residents: Residents, name: str, size_bytes: float, reopen_s: float, policy: str
) -> tuple[Residents, tuple[str, ...]]:
    """One use after the other, as the server makes them: room for what is not open, then the use."""
    closed: tuple[str, ...] = ()
    if name not in residents.entries:
        room = make_room(residents, size_bytes, budget_bytes=100, policy=policy, in_use=frozenset())
        residents, closed = room.residents, room.closed
    return used(residents, name, size_bytes, reopen_s), closed


@pytest.mark.parametrize("policy", sorted(POLICIES))
@given(uses=_USES, sizes=st.lists(st.integers(1, 50), min_size=10, max_size=10))
def test_the_budget_holds_and_what_is_used_is_open(policy: str, uses: list[int], sizes: list[int]) -> None:
    residents = Residents({})
    for number in uses:
        name = str(number)
        was = set(residents.entries)
        residents, closed = _use(residents, name, sizes[number], 1.0, policy)
        assert name in residents.entries
        assert residents.size_bytes <= 100
        assert set(residents.entries) == (was | {name}) - set(closed)


@pytest.mark.parametrize("policy", sorted(POLICIES))
@given(
    sizes=st.lists(st.integers(1, 60), min_size=1, max_size=10),
    need=st.integers(1, 150),
    taken=st.sets(st.integers(0, 9)),
)
def test_what_is_in_use_is_never_closed_but_waited_for(
    policy: str, sizes: list[int], need: int, taken: set[int]
) -> None:
    residents = Residents({})
    for number, size in enumerate(sizes):
        residents = used(residents, str(number), size, 1.0)
    in_use = {str(number) for number in taken if number < len(sizes)}
    room = make_room(residents, need, budget_bytes=100, policy=policy, in_use=in_use)
    assert not in_use & set(room.closed)
    assert set(room.awaited) <= in_use
    if not room.awaited:
        assert room.residents.size_bytes + need <= 100 or not room.residents.entries
    for name in room.closed[-1:]:  # nothing more was closed than was needed
        assert room.residents.size_bytes + residents.entries[name].size_bytes + need > 100


def test_what_costs_more_to_open_stays_longer_and_what_nobody_asks_for_goes() -> None:
    residents, _ = _use(Residents({}), "costly", 40, 10.0, "greedy-dual")
    gone: list[str] = []
    for number in range(8):
        residents, closed = _use(residents, f"cheap {number}", 40, 0.1, "greedy-dual")
        gone += closed
    assert "costly" not in gone and "cheap 0" in gone
    for number in range(500):  # its value does not rise, the level does
        residents, closed = _use(residents, f"later {number}", 40, 0.1, "greedy-dual")
        gone += closed
    assert "costly" in gone


def test_one_thing_larger_than_the_budget_is_open_alone() -> None:
    residents, _ = _use(Residents({}), "small", 10, 1.0, "lru")
    residents, closed = _use(residents, "large", 500, 1.0, "lru")
    assert (set(residents.entries), closed) == ({"large"}, ("small",))

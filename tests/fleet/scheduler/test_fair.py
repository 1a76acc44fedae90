"""Properties of the order of turns: no turn stays unused, nobody starves, tenants get alike."""

from __future__ import annotations

import heapq

from hypothesis import given
from hypothesis import strategies as st

from codenib.fleet.scheduler.fair import BACKGROUND_EVERY, Urgency, arrived, next_tenant, next_urgency

_COSTS = st.lists(st.floats(0.001, 1.0), min_size=1, max_size=40)


@given(st.lists(_COSTS, min_size=2, max_size=4), st.integers(1, 4))
def test_backlogged_tenants_are_served_alike_and_all_turns_are_used(
    costs: list[list[float]], slots: int
) -> None:
    """The bound: two tenants that both wait differ by the calls that run, and one more."""
    queues = {str(tenant): list(rows) for tenant, rows in enumerate(costs)}
    served: dict[str, float] = dict.fromkeys(queues, 0.0)
    running: list[tuple[float, str, float]] = []
    now, longest = 0.0, max(max(rows) for rows in costs)
    while any(queues.values()) or running:
        while len(running) < slots and (waiting := [name for name, rows in queues.items() if rows]):
            chosen = next_tenant(served, waiting)
            assert queues[chosen]  # work-conserving: a turn goes to who has work
            cost = queues[chosen].pop(0)
            served[chosen] += cost
            heapq.heappush(running, (now + cost, chosen, cost))
            both = [served[name] for name, rows in queues.items() if rows]
            assert not both or max(both) - min(both) <= longest + 1e-9
        now = heapq.heappop(running)[0]
    assert (
        sum(served.values()) == sum(map(sum, costs))
        or abs(sum(served.values()) - sum(map(sum, costs))) < 1e-6
    )


@given(st.dictionaries(st.sampled_from("abcd"), st.floats(0, 100)), st.sets(st.sampled_from("abcd")))
def test_who_comes_back_is_neither_ahead_of_nor_far_behind_the_others(
    served: dict[str, float], active: set[str]
) -> None:
    others = active - {"a"}
    level = arrived(served, "a", others)
    if others:
        assert level >= min(served.get(name, 0.0) for name in others)
        assert level >= served.get("a", 0.0)
    else:
        assert level == 0.0


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=100))
def test_background_calls_come_last_but_come(arrivals: list[tuple[int, int]]) -> None:
    waiting: dict[Urgency, int] = {"interactive": 0, "background": 0}
    since = 0
    for interactive, background in arrivals:
        waiting["interactive"] += interactive
        waiting["background"] += background
        if not any(waiting.values()):
            continue
        chosen = next_urgency(waiting, since)
        assert waiting[chosen] > 0
        if chosen == "background" and waiting["interactive"]:
            assert since + 1 >= BACKGROUND_EVERY
        waiting[chosen] -= 1
        since = 0 if chosen == "background" else since + 1
        assert since < BACKGROUND_EVERY or not waiting["background"]

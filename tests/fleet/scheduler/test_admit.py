"""Which build begins: the budget always holds, nobody starves, and questions come first."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from codenib.fleet.scheduler.admit import BuildBudget, BuildNeed, fitted, next_build

_BUDGET = BuildBudget(cpus=3, memory_bytes=100)
_NEEDS = st.lists(
    st.builds(
        BuildNeed,
        cpus=st.integers(0, 5),
        memory_bytes=st.floats(0, 150),
        urgency=st.sampled_from(["interactive", "background"]),
    ),
    min_size=1,
    max_size=10,
)


@given(_NEEDS, st.lists(st.tuples(st.integers(0, 2), st.booleans()), min_size=120, max_size=120))
def test_the_sum_of_what_is_admitted_never_exceeds_the_budget_and_nobody_starves(
    coming: list[BuildNeed], steps: list[tuple[int, bool]]
) -> None:
    """Small builds come for ever (a new one whenever one began), and every first one still gets its turn."""
    waiting = [(number, need) for number, need in enumerate(coming)]
    running: list[tuple[int, BuildNeed]] = []
    begun: set[int] = set()
    number, since = len(coming), 0
    for ends, calls_wait in steps:
        while True:
            needs = [need for _, need in waiting]
            chosen = next_build(
                needs, [need for _, need in running], _BUDGET, calls_wait=calls_wait, since_background=since
            )
            if chosen is None:
                break
            waiting[:chosen] = [(at, replace(need, passed=need.passed + 1)) for at, need in waiting[:chosen]]
            running.append(waiting.pop(chosen))
            begun.add(running[-1][0])
            since = 0 if running[-1][1].urgency == "background" else since + 1
            waiting.append((number, BuildNeed(1, 10.0, "interactive")))
            number += 1
            assert sum(fitted(need, _BUDGET)[0] for _, need in running) <= _BUDGET.cpus
            assert sum(fitted(need, _BUDGET)[1] for _, need in running) <= _BUDGET.memory_bytes
        assert running  # never is nothing built while somebody waits
        running = running[min(ends + 1, len(running)) :]
    assert begun >= set(range(len(coming)))


def test_builds_that_nobody_waits_for_run_one_at_a_time_while_questions_wait() -> None:
    behind, first = BuildNeed(1, 10.0), BuildNeed(1, 10.0, "interactive")
    assert next_build([behind], [behind], _BUDGET, calls_wait=True) is None
    assert next_build([behind], [behind], _BUDGET, calls_wait=False) == 0
    assert next_build([behind], [], _BUDGET, calls_wait=True) == 0
    assert next_build([behind, first], [behind], _BUDGET, calls_wait=True) == 1


def test_one_that_needs_more_than_there_is_gets_all_of_it() -> None:
    huge, small = BuildNeed(64, 10**12), BuildNeed(1, 1.0)
    assert fitted(huge, _BUDGET) == (3, 100)
    assert next_build([huge], [small], _BUDGET, calls_wait=False) is None
    assert next_build([huge], [], _BUDGET, calls_wait=False) == 0

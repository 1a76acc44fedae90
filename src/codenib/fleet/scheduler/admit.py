"""Builds that wait and that run in, which begins next out: within a budget, questions first. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from codenib.fleet.scheduler.fair import Urgency, next_urgency

#: So often may later builds that fit begin before one that does not; then they wait for it.
MOST_PASSED = 4


@dataclass(frozen=True, slots=True)
class BuildBudget:
    """What all builds of a server may take together."""

    cpus: int
    memory_bytes: float


@dataclass(frozen=True, slots=True)
class BuildNeed:
    """What a build takes. `interactive`: questions wait for it. `passed`: by how many later ones."""

    cpus: int
    memory_bytes: float
    urgency: Urgency = "background"
    passed: int = 0


def fitted(need: BuildNeed, budget: BuildBudget) -> tuple[int, float]:
    """Processors and memory that a build is given: all that there is where it needs more."""
    return min(max(need.cpus, 1), budget.cpus), min(need.memory_bytes, budget.memory_bytes)


def next_build(
    waiting: Sequence[BuildNeed],
    running: Sequence[BuildNeed],
    budget: BuildBudget,
    *,
    calls_wait: bool,
    since_background: int = 0,
) -> int | None:
    """The number of the waiting build that begins now; None: no one may.

    While questions wait for their turn, builds that nobody waits for run one at a time.

    >>> budget, small, large = BuildBudget(2, 100), BuildNeed(1, 10), BuildNeed(1, 95)
    >>> next_build([large, small], [small], budget, calls_wait=False)
    1
    >>> next_build([small], [small], budget, calls_wait=True) is None
    True
    """
    count: dict[Urgency, int] = {"interactive": 0, "background": 0}
    for need in waiting:
        count[need.urgency] += 1
    if not waiting:
        return None
    first = next_urgency(count, since_background)
    cpus = budget.cpus - sum(fitted(each, budget)[0] for each in running)
    memory_bytes = budget.memory_bytes - sum(fitted(each, budget)[1] for each in running)
    for number in sorted(range(len(waiting)), key=lambda number: (waiting[number].urgency != first, number)):
        need = waiting[number]
        needs_cpus, needs_bytes = fitted(need, budget)
        gives_way = calls_wait and running and need.urgency == "background"
        if needs_cpus <= cpus and needs_bytes <= memory_bytes and not gives_way:
            return number
        if need.passed >= MOST_PASSED:
            return None
    return None

"""What is open and how it was used in, what is closed next out. Pure.

GreedyDual-Size with frequency: what costs much to open again, is small and is asked often stays. `level`
rises to the value of what went last, so that what nobody asks for any more ages without a clock.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class OpenEntry:
    """Something open: what it takes, what opening it again costs, how often and when it was used."""

    size_bytes: float
    reopen_s: float
    uses: int = 1
    used_at: int = 0  # the number of the last use, over all
    value: float = 0.0


@dataclass(frozen=True, slots=True)
class Residents:
    """All that is open, and the level below which nothing new begins."""

    entries: Mapping[str, OpenEntry]
    level: float = 0.0
    clock: int = 0

    @property
    def size_bytes(self) -> float:
        return sum(entry.size_bytes for entry in self.entries.values())


#: The order of closing: the least first.
EvictionPolicy = Callable[[OpenEntry], float]
POLICIES: dict[str, EvictionPolicy] = {
    "greedy-dual": lambda entry: entry.value,
    "lru": lambda entry: entry.used_at,
    "lfu": lambda entry: entry.uses,
}


def use(
    residents: Residents, name: str, size_bytes: float, reopen_s: float, *, budget_bytes: float, policy: str
) -> tuple[Residents, bool, tuple[str, ...]]:
    """The residents after a use of `name`, whether it was open, and what was closed for it.

    Never closes what is used now: one thing larger than the budget is open alone.

    >>> one, hit, gone = use(Residents({}), "a", 10, 1.0, budget_bytes=10, policy="lru")
    >>> use(one, "b", 5, 1.0, budget_bytes=10, policy="lru")[1:]
    (False, ('a',))
    """
    known = residents.entries.get(name)
    uses = known.uses + 1 if known else 1
    clock = residents.clock + 1
    value = residents.level + uses * reopen_s / max(size_bytes, 1.0)
    entries = dict(residents.entries)
    entries[name] = OpenEntry(size_bytes, reopen_s, uses, clock, value)
    level, closed = residents.level, []
    total = sum(entry.size_bytes for entry in entries.values())
    while total > budget_bytes and len(entries) > 1:
        others = (other for other in entries if other != name)
        least = min(others, key=lambda other: POLICIES[policy](entries[other]))
        level = max(level, entries[least].value)
        total -= entries[least].size_bytes
        del entries[least]
        closed.append(least)
    return replace(residents, entries=entries, level=level, clock=clock), known is not None, tuple(closed)

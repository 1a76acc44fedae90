"""What is open, what is in use and what comes in, what is closed for it out. Pure.

GreedyDual-Size with frequency: what costs much to open again, is small and is asked often stays. `level`
rises to the value of what went last, so that what nobody asks for any more ages without a clock.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
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


@dataclass(frozen=True, slots=True)
class Room:
    """What makes room: the residents after it, what was closed, and what must end first where it is in use.

    With anything in `awaited` there is no room yet: who wants it waits until those are closed.
    """

    residents: Residents
    closed: tuple[str, ...] = ()
    awaited: tuple[str, ...] = ()


def make_room(
    residents: Residents, need_bytes: float, *, budget_bytes: float, policy: str, in_use: Set[str]
) -> Room:
    """Close what is idle, the least valuable first, until `need_bytes` more fit; never what is in use.

    What is larger than the budget has room where nothing else is open: it could never be used otherwise.

    >>> two = Residents({"a": OpenEntry(6, 1.0, used_at=1), "b": OpenEntry(4, 1.0, used_at=2)})
    >>> make_room(two, 5, budget_bytes=10, policy="lru", in_use=set()).closed
    ('a',)
    >>> make_room(two, 5, budget_bytes=10, policy="lru", in_use={"a"}).awaited
    ('a',)
    """
    entries, level, closed, awaited = dict(residents.entries), residents.level, [], []
    total = residents.size_bytes
    order = sorted(entries, key=lambda name: (name in in_use, POLICIES[policy](entries[name])))
    for name in order:
        if total + need_bytes <= budget_bytes:
            break
        total -= entries[name].size_bytes
        if name in in_use:
            awaited.append(name)
        else:
            level = max(level, entries[name].value)
            del entries[name]
            closed.append(name)
    return Room(replace(residents, entries=entries, level=level), tuple(closed), tuple(awaited))


def promised(residents: Residents, name: str, size_bytes: float, reopen_s: float) -> Residents:
    """The residents with one more, which is not used yet but has its memory."""
    entry = OpenEntry(size_bytes, reopen_s, 0, residents.clock, residents.level)
    return replace(residents, entries={**residents.entries, name: entry})


def used(residents: Residents, name: str, size_bytes: float, reopen_s: float) -> Residents:
    """The residents after one more use of `name`, which is open now, or is put among them."""
    known = residents.entries.get(name)
    uses = known.uses + 1 if known else 1
    value = residents.level + uses * reopen_s / max(size_bytes, 1.0)
    clock = residents.clock + 1
    entries = {**residents.entries, name: OpenEntry(size_bytes, reopen_s, uses, clock, value)}
    return replace(residents, entries=entries, clock=clock)


@dataclass(frozen=True, slots=True)
class KnownUse:
    """What is remembered of a repository: how often it was asked lately, what opening it costs and takes."""

    uses: float
    reopen_s: float
    size_bytes: float


def worth_opening(known: Mapping[str, KnownUse], budget_bytes: float) -> Sequence[str]:
    """What to open before it is asked for, the most valuable first, within the budget.

    Valued as what stays open is: by what waiting for it would cost, a byte.

    >>> known = {"a": KnownUse(9, 1.0, 60), "b": KnownUse(1, 1.0, 10), "c": KnownUse(8, 1.0, 60)}
    >>> worth_opening(known, 100)
    ['a', 'b']
    """
    chosen, left = [], budget_bytes
    value = {name: each.uses * each.reopen_s / max(each.size_bytes, 1.0) for name, each in known.items()}
    for name in sorted(known, key=lambda name: (-value[name], name)):
        if value[name] > 0 and known[name].size_bytes <= left:
            chosen.append(name)
            left -= known[name].size_bytes
    return chosen

"""What each tenant was served in, whose turn it is out. Pure: no clock, no queue of its own.

Start-time fair queueing by measured work: each tenant has the seconds that its calls took, and of those that
wait the one with the least is next. Deficit round robin bounds the same, but must know a call's cost before
it runs; here the guess that a call begins with is put right when it ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

#: A call that somebody waits for, or one that may take what others leave.
Urgency = Literal["interactive", "background"]
#: Of so many turns that both want, background calls get one: they end, too.
BACKGROUND_EVERY = 10


def next_tenant(served_s: Mapping[str, float], waiting: Iterable[str]) -> str:
    """Of those that wait the tenant that was served least; the first of equals.

    >>> next_tenant({"a": 2.0, "b": 1.0}, ["a", "b"]), next_tenant({}, ["a", "b"])
    ('b', 'a')
    """
    return min(waiting, key=lambda tenant: served_s.get(tenant, 0.0))


def arrived(served_s: Mapping[str, float], tenant: str, active: Iterable[str]) -> float:
    """What a tenant without calls is taken to have been served when it comes back.

    As much as the least of the active ones: who was away has saved nothing up, and owes nothing that others
    have not caught up with.

    >>> arrived({"a": 9.0, "b": 7.0, "c": 1.0}, "c", ["a", "b"]), arrived({"a": 9.0}, "a", [])
    (7.0, 0.0)
    """
    levels = [served_s.get(other, 0.0) for other in active if other != tenant]
    return max(served_s.get(tenant, 0.0), min(levels)) if levels else 0.0


def next_urgency(waiting: Mapping[Urgency, int], since_background: int) -> Urgency:
    """Which calls are next: interactive ones, and one of the others in `BACKGROUND_EVERY` turns.

    >>> next_urgency({"interactive": 3, "background": 1}, 2)
    'interactive'
    >>> next_urgency({"interactive": 3, "background": 1}, 9), next_urgency({"background": 1}, 0)
    ('background', 'background')
    """
    if not waiting.get("interactive"):
        return "background"
    due = since_background + 1 >= BACKGROUND_EVERY
    return "background" if due and waiting.get("background") else "interactive"


def calls_ahead(own: int, others: Iterable[int], slots: int) -> int:
    """How many calls come before one more of a tenant with `own` ones that wait, where turns are fair.

    Each other tenant has a turn for each of ours: as many as it has calls, and as many as we have where more
    of them wait than run at once, because clients come back with the next one.

    >>> calls_ahead(2, [1, 50], 4), calls_ahead(20, [5], 4), calls_ahead(20, [2], 4)
    (6, 41, 22)
    """
    return own + sum(own + 1 if waiting >= slots else min(waiting, own + 1) for waiting in others)

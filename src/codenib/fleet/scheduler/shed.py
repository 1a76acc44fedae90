"""How long a call would wait in, the plan that it gets out: as asked, a cheaper one, or none. Pure."""

from __future__ import annotations

from typing import Literal

Served = Literal["whole", "cheaper", "refused"]
#: Of the longest wait, after which ranked answers go by a cheaper plan: those before collapse come sooner.
CHEAPER_SHARE = 0.3


def plan_under_load(wait_s: float, patience_s: float) -> Served:
    """What a call gets that would wait for `wait_s`, where nobody waits longer than `patience_s`.

    >>> [plan_under_load(wait_s, 10.0) for wait_s in (0.5, 4.0, 11.0)]
    ['whole', 'cheaper', 'refused']
    """
    if wait_s > patience_s:
        return "refused"
    return "cheaper" if wait_s > CHEAPER_SHARE * patience_s else "whole"


def expected_wait_s(ahead: int, mean_s: float, slots: int) -> float:
    """How long a call waits behind so many others, where each takes what calls took lately.

    >>> expected_wait_s(7, 0.5, 4)
    1.0
    """
    return (ahead + 1) * mean_s / slots

"""Places of relevant results in, normalized discounted cumulative gain out. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable


def ndcg(places: Iterable[int | None], k: int = 10) -> float:
    """The gain of targets at these places (1 is first, None is absent), as a share of the best possible.

    Targets at one place count once there, as in the benchmark whose numbers this is compared with.

    >>> ndcg([1]), ndcg([None]), round(ndcg([2, 3]), 3)
    (1.0, 0.0, 0.693)
    """
    given = list(places)
    if not given:
        return 0.0
    gain = sum(_discount(place) for place in {place for place in given if place is not None and place <= k})
    return gain / sum(_discount(place) for place in range(1, min(k, len(given)) + 1))


def _discount(place: int) -> float:
    return 1.0 / math.log2(place + 1)

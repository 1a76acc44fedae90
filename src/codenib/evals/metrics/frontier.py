"""Operating points in, those that no other beats out: cost down, quality up."""

from __future__ import annotations

from collections.abc import Mapping


def frontier(points: Mapping[str, tuple[float, float]]) -> list[str]:
    """Names of the non-dominated (cost, quality) points, cheapest first.

    >>> frontier({"a": (1.0, 0.5), "b": (2.0, 0.4), "c": (3.0, 0.9)})
    ['a', 'c']
    """

    def beaten(name: str) -> bool:
        cost, quality = points[name]
        return any(
            other[0] <= cost and other[1] >= quality and other != (cost, quality) for other in points.values()
        )

    return sorted((name for name in points if not beaten(name)), key=lambda name: (points[name][0], name))

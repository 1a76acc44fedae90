"""Stages of work that each count from nothing in, one count that only grows with its total out."""

from __future__ import annotations

_STILL = 0.001  # by which a count grows while nothing moves: clients wait on as long as they hear something


class ProgressMeter:
    """What a client is told: the protocol wants progress that grows, also when a new stage begins.

    >>> meter = ProgressMeter()
    >>> [meter.after("units", 3, 9), meter.after("units", 9, 9), meter.after("graph", 1, 4)]
    [(3.0, 9.0), (9.0, 9.0), (10.0, 13.0)]
    >>> meter.after("graph", 1, 4)[0] > 10
    True
    """

    def __init__(self) -> None:
        self._stage = ""
        self._before = 0.0  # of the stages that are over
        self._last = 0.0

    def after(self, stage: str, done: int, total: int) -> tuple[float, float | None]:
        """How far all of it is after `done` of `total` of a stage; no total where the stage has none."""
        if stage != self._stage:
            self._stage, self._before = stage, self._last
        progress = self._before + done
        if progress <= self._last:
            progress = self._last + _STILL
        self._last = progress
        return progress, self._before + total if total > 1 and total >= done else None

"""What operators cost here: times noted while serving in, their medians out, saved beside the manifests.

A cost is per call, a reranker's per document. Losing a note loses nothing but precision, so writes are rare
and no reader waits for one.
"""

from __future__ import annotations

import os
import statistics
import tempfile
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import perf_counter

import msgspec

from codenib.core.answers import MeasuredStep
from codenib.core.errors import UNDECODABLE

FILE = "costs.json"
_MOST = 31  # notes of an operator: enough for a median, few enough to follow a change
_EVERY = 50  # notes between two writes


class Costs:
    """The measured costs of one repository on this machine, in milliseconds."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self._notes: dict[str, deque[float]] | None = None
        self._unsaved = 0

    def medians(self) -> dict[str, float]:
        """The usual cost of each operator that was ever measured."""
        return {name: round(statistics.median(notes), 3) for name, notes in self._read().items() if notes}

    def note(self, operator: str, milliseconds: float) -> None:
        """Remember one cost."""
        self._read().setdefault(operator, deque(maxlen=_MOST)).append(round(milliseconds, 3))
        self._unsaved += 1
        if self._unsaved >= _EVERY:
            self.save()

    def watch(self) -> Stopwatch:
        """What notes the costs of one answer, and its steps."""
        return Stopwatch(self)

    def save(self) -> None:
        """Write what was noted since; a folder that is gone or read-only keeps nothing."""
        if not self._unsaved:
            return
        self._unsaved = 0
        with suppress(OSError):
            handle, name = tempfile.mkstemp(prefix=FILE, dir=self._path.parent)
            with os.fdopen(handle, "wb") as file:
                file.write(msgspec.json.encode({key: list(notes) for key, notes in self._read().items()}))
            Path(name).replace(self._path)

    def _read(self) -> dict[str, deque[float]]:
        if self._notes is None:
            self._notes = {}
            with suppress(OSError, *UNDECODABLE):
                saved = msgspec.json.decode(self._path.read_bytes(), type=dict[str, list[float]])
                self._notes = {name: deque(notes, maxlen=_MOST) for name, notes in saved.items()}
        return self._notes


class Stopwatch:
    """The steps of one answer, in milliseconds since it began; the costs of operators are noted as well."""

    def __init__(self, costs: Costs | None) -> None:
        self._costs = costs
        self._began = perf_counter()
        self._steps: list[MeasuredStep] = []

    @property
    def steps(self) -> tuple[MeasuredStep, ...]:
        """Those that ended, in the order in which they began."""
        return tuple(sorted(self._steps, key=lambda step: (step.start_ms, -step.ms)))

    @contextmanager
    def timed(self, operator: str, *, per: int = 1) -> Iterator[None]:
        """A step that is an operator: its cost is noted, divided by `per`."""
        started = perf_counter()
        with self.step(operator):
            yield
        if self._costs is not None:
            self._costs.note(operator, (perf_counter() - started) * 1000 / max(per, 1))

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """A step that is no operator."""
        started = perf_counter()
        yield
        took = perf_counter() - started
        self._steps.append(MeasuredStep(name, _ms(started - self._began), _ms(took)))


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 3)

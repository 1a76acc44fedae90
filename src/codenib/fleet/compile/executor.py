"""Where batches run: the protocol of all executors, and the one that works in this process."""

from __future__ import annotations

import os
from collections import deque
from dataclasses import dataclass
from typing import Protocol

from codenib.fleet.compile.build import run_order
from codenib.fleet.compile.task import CompileResult, TaskBatch, WorkOrder

#: Variables of the driver that decide what a worker does.
_VARIABLES = ("CODENIB_HOME", "CODENIB_TOOLBOX")


@dataclass(frozen=True, slots=True)
class FinishedBatch:
    """A batch that came to an end: its results, or why its worker was `lost` before it had any."""

    batch: TaskBatch
    results: tuple[CompileResult, ...] = ()
    lost: str = ""


class Executor(Protocol):
    """Something that does batches, several at once, in whatever order."""

    #: In words, for reports.
    where: str
    #: How many batches of one CPU it does at once.
    workers: int

    def submit(self, batch: TaskBatch) -> None:
        """Take a batch on; it begins when there is room."""
        ...

    def next_finished(self) -> FinishedBatch:
        """Wait for a batch that was submitted to end."""
        ...

    def close(self) -> None:
        """End what still runs; what it published stays."""
        ...


class InProcess:
    """Does batches here: for so little work that a process of its own would be most of it."""

    where = "this process"
    workers = 1

    def __init__(self) -> None:
        self._waiting: deque[TaskBatch] = deque()

    def submit(self, batch: TaskBatch) -> None:
        self._waiting.append(batch)

    def next_finished(self) -> FinishedBatch:
        batch = self._waiting.popleft()
        return FinishedBatch(batch, tuple(run_order(WorkOrder(batch.tasks, {}, 0))))

    def close(self) -> None:
        self._waiting.clear()


def order_of(batch: TaskBatch, jobs: int) -> WorkOrder:
    """What a worker is sent for a batch."""
    variables = {name: os.environ[name] for name in _VARIABLES if name in os.environ}
    return WorkOrder(batch.tasks, {**variables, "CODENIB_BACKGROUND": "off"}, jobs)

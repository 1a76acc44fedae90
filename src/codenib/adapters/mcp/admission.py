"""Builds beside a server in, a few of them at once out: within processors and memory, questions first.

Index, update, vectors, history and fetched mirrors go through one `BuildAdmission`; which is next is
`scheduler.admit.next_build`. What a build takes is what it took the last time, at first a guess from the
bytes of its files.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from codenib.core.errors import UNDECODABLE, CodenibError, StateError
from codenib.fleet.compile.records import BuildRecord, MeasuredCost, estimate_s, memory_of
from codenib.fleet.compile.survey import source_bytes
from codenib.fleet.compile.task import TEXT
from codenib.fleet.scheduler.admit import BuildBudget, BuildNeed, fitted, next_build
from codenib.fleet.scheduler.fair import Urgency
from codenib.serving.installation import home_file, read_home_file, write_home_file

_FILE = "serve-builds.json"
_CPU_EACH_S = 60.0  # a build with so much work gets another process
_LOOK_S = 0.5  # between two looks whether questions still wait, and whether the server ends
#: What fetching a mirror takes, beside git's own process.
FETCH = BuildNeed(cpus=1, memory_bytes=100e6)


class BuildAdmission:
    """Who may build now. `calls_wait` says whether questions wait for their turn."""

    def __init__(self, budget: BuildBudget, calls_wait: Callable[[], bool] = lambda: False) -> None:
        self.budget = budget
        self._calls_wait = calls_wait
        self._waiting: dict[object, BuildNeed] = {}  # in the order of their coming
        self._running: dict[object, BuildNeed] = {}
        self._since_background = 0
        self._changed = threading.Condition()
        self._costs = self._read()

    @property
    def running(self) -> int:
        """How many builds run."""
        return len(self._running)

    @property
    def waiting(self) -> int:
        """How many builds wait."""
        return len(self._waiting)

    @property
    def memory_bytes(self) -> float:
        """What was given to the builds that run."""
        with self._changed:
            return sum(fitted(need, self.budget)[1] for need in self._running.values())

    def need_of(self, root: Path, urgency: Urgency) -> BuildNeed:
        """What building the views of a repository should take."""
        cost = self._costs.get(str(root))
        record = BuildRecord(costs={TEXT: cost} if cost else {})
        size = 0
        if cost is None:
            with suppress(CodenibError, OSError):  # no commit yet: the floor of the guess
                size = source_bytes(root)
        cpus = math.ceil(estimate_s(record, TEXT, size, 1.0) / _CPU_EACH_S)
        return BuildNeed(cpus, memory_of(record, TEXT, size), urgency)

    @contextmanager
    def admitted(self, need: BuildNeed, given_up: Callable[[], bool] = lambda: False) -> Iterator[int]:
        """Wait for the turn of a build; the number of processors that it may use. It ends with the block."""
        ticket = object()
        with self._changed:
            self._waiting[ticket] = need
            try:
                while not self._begin(ticket):
                    self._changed.wait(_LOOK_S)
                    if given_up():
                        raise StateError("the server ends", hint="codenib serve")
            finally:
                self._waiting.pop(ticket, None)
                self._changed.notify_all()
        try:
            yield fitted(need, self.budget)[0]
        finally:
            with self._changed:
                del self._running[ticket]
                self._changed.notify_all()

    def measured(self, root: Path, cost: MeasuredCost) -> None:
        """Remember what a build took, for the next one, also of another server."""
        with self._changed:
            self._costs[str(root)] = cost
            rows: Mapping[str, MeasuredCost] = dict(self._costs)
        with suppress(OSError):  # a full disk costs a worse guess
            write_home_file(home_file(_FILE), rows)

    def _begin(self, ticket: object) -> bool:
        """Whether this build is the next one; then it runs, and those that it passes remember it."""
        tickets, needs = list(self._waiting), list(self._waiting.values())
        chosen = next_build(
            needs,
            list(self._running.values()),
            self.budget,
            calls_wait=self._calls_wait(),
            since_background=self._since_background,
        )
        if chosen is None or tickets[chosen] is not ticket:
            return False
        for passed in tickets[:chosen]:
            self._waiting[passed] = replace(self._waiting[passed], passed=self._waiting[passed].passed + 1)
        self._running[ticket] = self._waiting.pop(ticket)
        background = self._running[ticket].urgency == "background"
        self._since_background = 0 if background else self._since_background + 1
        return True

    @staticmethod
    def _read() -> dict[str, MeasuredCost]:
        try:
            return read_home_file(home_file(_FILE), dict[str, MeasuredCost])
        except (OSError, *UNDECODABLE):
            return {}

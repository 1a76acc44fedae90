"""A trace and a policy in, latency, memory and hit rate out: the server's own policies, replayed without it.

A simulated server has slots in which calls run one after the other, and memory for open repositories. A call
of a repository that is not open costs what opening it cost when it was measured. Not simulated: the processor
that calls share (costs are as recorded), cheaper plans (a trace has no cost of them), edits and builds.
"""

from __future__ import annotations

import heapq
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from codenib.fleet.scheduler.evict import Residents, use
from codenib.fleet.scheduler.fair import arrived, next_tenant
from codenib.fleet.scheduler.shed import plan_under_load
from codenib.fleet.scheduler.trace import RecordedCall, Trace

Order = Literal["fair", "fifo"]


@dataclass(frozen=True, slots=True)
class Machine:
    """What a simulated server has; slots and patience as the real one."""

    slots: int = 4
    memory_bytes: float = 2e9
    patience_s: float = 10.0


@dataclass(frozen=True, slots=True)
class SimulatedPolicy:
    """Who is next, what is closed, and whether what would wait too long is refused."""

    order: Order = "fair"
    eviction: str = "greedy-dual"
    sheds: bool = True

    def __str__(self) -> str:
        return f"{self.order}, {self.eviction}{'' if self.sheds else ', nothing refused'}"


@dataclass(frozen=True, slots=True)
class SimulatedLoad:
    """What came of a replay; `busy` is the share of the slots' time in which calls ran."""

    calls: int
    refused: int
    p50_s: float
    p99_s: float
    tenants_p99_s: Mapping[str, float]
    hit_rate: float
    most_bytes: float
    busy: float


def simulate(trace: Trace, policy: SimulatedPolicy, machine: Machine) -> SimulatedLoad:
    """Replay `trace`; deterministic."""
    return _Replay(trace, policy, machine).run()


class _Replay:
    def __init__(self, trace: Trace, policy: SimulatedPolicy, machine: Machine) -> None:
        self._trace, self._policy, self._machine = trace, policy, machine
        self._waiting: dict[str, deque[RecordedCall]] = {}  # by tenant; all under one name for `fifo`
        self._running: list[tuple[float, int, str]] = []  # (end, number, tenant)
        self._served_s: dict[str, float] = {}
        self._residents = Residents({})
        self._latencies: dict[str, list[float]] = defaultdict(list)
        self._mean_s = self._busy_s = self._most_bytes = self._ended = 0.0
        self._hits = self._begun = self._refused = 0

    def run(self) -> SimulatedLoad:
        for call in self._trace.calls:
            self._until(call.at_s)
            self._arrive(call)
        self._until(float("inf"))
        values = sorted(value for row in self._latencies.values() for value in row)
        span = max(self._trace.seconds, self._ended) or 1.0
        return SimulatedLoad(
            calls=len(self._trace.calls),
            refused=self._refused,
            p50_s=_percentile(values, 0.5),
            p99_s=_percentile(values, 0.99),
            tenants_p99_s={tenant: _percentile(sorted(row), 0.99) for tenant, row in self._latencies.items()},
            hit_rate=self._hits / self._begun if self._begun else 0.0,
            most_bytes=self._most_bytes,
            busy=self._busy_s / (span * self._machine.slots),
        )

    def _arrive(self, call: RecordedCall) -> None:
        waiting = sum(map(len, self._waiting.values()))
        full = len(self._running) >= self._machine.slots
        wait_s = (waiting + 1) * self._mean_s / self._machine.slots if full else 0.0
        if self._policy.sheds and plan_under_load(wait_s, self._machine.patience_s) == "refused":
            self._refused += 1
            return
        active = {tenant for _, _, tenant in self._running} | set(self._waiting)
        if call.tenant not in active:
            self._served_s[call.tenant] = arrived(self._served_s, call.tenant, active)
        if full:
            name = call.tenant if self._policy.order == "fair" else ""
            self._waiting.setdefault(name, deque()).append(call)
        else:
            self._begin(call, call.at_s)

    def _begin(self, call: RecordedCall, now_s: float) -> None:
        cost = self._trace.repositories[call.repository]
        self._residents, hit, _ = use(
            self._residents,
            call.repository,
            cost.size_bytes,
            cost.open_s,
            budget_bytes=self._machine.memory_bytes,
            policy=self._policy.eviction,
        )
        took_s = call.cost_s if hit else call.cost_s + cost.open_s
        self._begun += 1
        self._hits += hit
        self._busy_s += took_s
        self._mean_s += 0.1 * (took_s - self._mean_s)
        self._served_s[call.tenant] = self._served_s.get(call.tenant, 0.0) + took_s
        self._most_bytes = max(self._most_bytes, self._residents.size_bytes)
        self._latencies[call.tenant].append(now_s + took_s - call.at_s)
        heapq.heappush(self._running, (now_s + took_s, self._begun, call.tenant))

    def _until(self, now_s: float) -> None:
        """End what ends by then, and hand its slots on."""
        while self._running and self._running[0][0] <= now_s:
            self._ended = heapq.heappop(self._running)[0]
            if self._waiting:
                name = next_tenant(self._served_s, self._waiting)
                call = self._waiting[name].popleft()
                if not self._waiting[name]:
                    del self._waiting[name]
                self._begin(call, self._ended)


def _percentile(ordered: Sequence[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else 0.0

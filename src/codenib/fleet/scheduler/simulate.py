"""A trace and a policy in, latency, memory and hit rate out: the server's own policies, replayed without it.

A simulated server has slots in which calls run one after the other, and memory for open repositories. A call
of a repository that is not open costs what opening it cost when it was measured. Who is next, what is closed
for it, and what gets a cheaper plan or none are decided by the functions that the server calls. Not
simulated: the processor that calls share (costs are as recorded), edits and builds.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from codenib.fleet.scheduler.evict import Residents, make_room, used
from codenib.fleet.scheduler.fair import arrived, calls_ahead, next_tenant
from codenib.fleet.scheduler.shed import Served, expected_wait_s, plan_under_load
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
    """Who is next, what is closed, and whether what would wait too long gets a cheaper plan, or none."""

    order: Order = "fair"
    eviction: str = "greedy-dual"
    sheds: bool = True

    def __str__(self) -> str:
        return f"{self.order}, {self.eviction}{'' if self.sheds else ', nothing shed'}"


@dataclass(frozen=True, slots=True)
class SimulatedLoad:
    """What came of a replay; `busy` is the share of the slots' time in which calls ran."""

    calls: int
    refused: int
    cheaper: int
    p50_s: float
    p99_s: float
    tenants_p99_s: Mapping[str, float]
    hit_rate: float
    opening_s: float  # of a call, on average
    most_bytes: float
    busy: float


def simulate(trace: Trace, policy: SimulatedPolicy, machine: Machine) -> SimulatedLoad:
    """Replay `trace`; deterministic."""
    return _Replay(trace, policy, machine).run()


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A call in a queue, and what it takes by the plan that it got when it came."""

    call: RecordedCall
    takes_s: float
    plan: Served


class _Replay:
    def __init__(self, trace: Trace, policy: SimulatedPolicy, machine: Machine) -> None:
        self._trace, self._policy, self._machine = trace, policy, machine
        self._queues: dict[str, deque[_Waiting]] = {}  # by tenant; all under one name for `fifo`
        self._running: list[tuple[float, int, RecordedCall]] = []  # (end, number, call)
        self._served_s: dict[str, float] = {}
        self._residents = Residents({})
        self._latencies: dict[str, list[float]] = defaultdict(list)
        self._mean_s = self._busy_s = self._opening_s = self._most_bytes = self._ended = 0.0
        self._hits = self._begun = 0
        self._plans: Counter[Served] = Counter()

    def run(self) -> SimulatedLoad:
        for call in self._trace.calls:
            self._until(call.at_s)
            self._arrive(call)
        self._until(float("inf"))
        values = sorted(value for row in self._latencies.values() for value in row)
        span = max(self._trace.seconds, self._ended) or 1.0
        return SimulatedLoad(
            calls=len(self._trace.calls),
            refused=self._plans["refused"],
            cheaper=self._plans["cheaper"],
            p50_s=_percentile(values, 0.5),
            p99_s=_percentile(values, 0.99),
            tenants_p99_s={tenant: _percentile(sorted(row), 0.99) for tenant, row in self._latencies.items()},
            hit_rate=self._hits / self._begun if self._begun else 0.0,
            opening_s=self._opening_s / self._begun if self._begun else 0.0,
            most_bytes=self._most_bytes,
            busy=self._busy_s / (span * self._machine.slots),
        )

    def _arrive(self, call: RecordedCall) -> None:
        name = call.tenant if self._policy.order == "fair" else ""
        served: Served = "whole"
        if self._policy.sheds and len(self._running) >= self._machine.slots:
            own = len(self._queues.get(name, ()))
            slots, others = self._machine.slots, (q for other, q in self._queues.items() if other != name)
            ahead = calls_ahead(own, map(len, others), slots)
            wait_s = expected_wait_s(ahead, self._mean_s, slots)
            served = plan_under_load(wait_s, self._machine.patience_s)
        if served == "cheaper" and not call.cheaper_s:
            served = "whole"  # it has no cheaper plan
        self._plans[served] += 1
        if served == "refused":
            return
        active = {each.tenant for _, _, each in self._running} | set(self._queues)
        if call.tenant not in active:
            self._served_s[call.tenant] = arrived(self._served_s, call.tenant, active)
        takes_s = call.cheaper_s if served == "cheaper" else call.cost_s
        self._queues.setdefault(name, deque()).append(_Waiting(call, takes_s, served))
        self._fill(call.at_s)

    def _fill(self, now_s: float) -> None:
        """Let calls begin while there are slots, and memory for the one whose turn it is."""
        while self._queues and len(self._running) < self._machine.slots:
            name = next_tenant(self._served_s, self._queues)
            first = self._queues[name][0]
            if self._policy.sheds and now_s - first.call.at_s > self._machine.patience_s:
                self._plans["refused"] += 1  # it left
                self._plans[first.plan] -= 1
            elif not self._begin(first, now_s):
                return  # what it needs is in use: the end of a call makes room
            self._queues[name].popleft()
            if not self._queues[name]:
                del self._queues[name]

    def _begin(self, waiting: _Waiting, now_s: float) -> bool:
        call = waiting.call
        cost = self._trace.repositories[call.repository]
        hit = call.repository in self._residents.entries
        if not hit:
            room = make_room(
                self._residents,
                cost.size_bytes,
                budget_bytes=self._machine.memory_bytes,
                policy=self._policy.eviction,
                in_use={each.repository for _, _, each in self._running},
            )
            if room.awaited:
                return False
            self._residents = room.residents
        self._residents = used(self._residents, call.repository, cost.size_bytes, cost.open_s)
        opening_s = 0.0 if hit else cost.open_s
        took_s = waiting.takes_s + opening_s
        self._opening_s += opening_s
        self._begun += 1
        self._hits += hit
        self._busy_s += took_s
        self._mean_s += 0.1 * (took_s - self._mean_s)
        self._served_s[call.tenant] = self._served_s.get(call.tenant, 0.0) + took_s
        self._most_bytes = max(self._most_bytes, self._residents.size_bytes)
        self._latencies[call.tenant].append(now_s + took_s - call.at_s)
        heapq.heappush(self._running, (now_s + took_s, self._begun, call))
        return True

    def _until(self, now_s: float) -> None:
        """End what ends by then, and hand its slots on."""
        while self._running and self._running[0][0] <= now_s:
            self._ended = heapq.heappop(self._running)[0]
            self._fill(self._ended)


def _percentile(ordered: Sequence[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else 0.0

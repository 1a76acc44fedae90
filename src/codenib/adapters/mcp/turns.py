"""Calls of many clients in, a few of them at once out: tenants and clients take turns, too many are refused.

Without it, fifty slow calls were forty threads that fought for the interpreter and three workspaces, and a
client with one question waited for all of them.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from math import ceil
from typing import TypeVar

import anyio
import anyio.to_thread

from codenib.core.calls.cancellation import CALL, Cancellation
from codenib.core.errors import StateError
from codenib.fleet.scheduler.fair import Urgency, arrived, calls_ahead, next_tenant, next_urgency
from codenib.fleet.scheduler.shed import Served, expected_wait_s, plan_under_load

ResultT = TypeVar("ResultT")
PATIENCE_S = 10.0  # that a call may wait for its turn; a client that is told to come back can do so
_SHARE = 0.1  # of the last call in what calls took lately


@dataclass(frozen=True, slots=True)
class Requester:
    """Who asks: a client of a tenant, and whether somebody waits for the answer."""

    client: str
    tenant: str = ""
    urgency: Urgency = "interactive"


@dataclass(slots=True)
class _Line:
    """Calls of one urgency that wait, by tenant and client; of a tenant's clients the next one is first."""

    tenants: dict[str, dict[str, deque[anyio.Event]]] = field(default_factory=dict)
    length: int = 0

    def add(self, asker: Requester, place: anyio.Event) -> None:
        clients = self.tenants.setdefault(asker.tenant, {})
        clients.setdefault(asker.client, deque()).append(place)
        self.length += 1

    def remove(self, asker: Requester, place: anyio.Event) -> None:
        self.tenants[asker.tenant][asker.client].remove(place)
        self._drop_empty(asker.tenant, asker.client)
        self.length -= 1

    def take(self, tenant: str) -> anyio.Event:
        """The call of the client whose turn it is; that client's others wait behind all of its tenant."""
        clients = self.tenants[tenant]
        client = next(iter(clients))
        queue = clients.pop(client)
        place = queue.popleft()
        clients[client] = queue
        self._drop_empty(tenant, client)
        self.length -= 1
        return place

    def ahead_of(self, asker: Requester, slots: int) -> int:
        """How many that wait come before one more call of `asker`, where tenants are served alike."""
        own = self.tenants.get(asker.tenant, {})
        mine = len(own.get(asker.client, ()))
        inside = mine + sum(min(len(queue), mine + 1) for name, queue in own.items() if name != asker.client)
        others = (
            sum(map(len, clients.values())) for name, clients in self.tenants.items() if name != asker.tenant
        )
        return calls_ahead(inside, others, slots)

    def _drop_empty(self, tenant: str, client: str) -> None:
        if not self.tenants[tenant][client]:
            del self.tenants[tenant][client]
        if not self.tenants[tenant]:
            del self.tenants[tenant]


def _busy(seconds: float) -> StateError:
    """What a refused call is told. Not how many wait: those may be another tenant's."""
    return StateError("the server is busy", hint=f"ask again in {ceil(seconds)} s")


class Turns:
    """Runs calls in threads, at most `most` at once. Of those that wait, the tenant that was served least is
    next, and of its clients each has one in its turn; what nobody waits for comes behind.

    A turn ends with its thread, also when nobody waits for the result any more: the call is told that, and
    uses the processor until it looks. Beyond `waiting` calls a further one is refused, and where it would
    wait for more than `patience_s`, as calls took lately; one that somebody waits for and that has waited for
    so long is refused, too.
    """

    def __init__(self, most: int, waiting: int, patience_s: float = PATIENCE_S) -> None:
        self._most = self._free = most
        self._places = waiting
        self._patience_s = patience_s
        self._mean_s = 0.0  # what a call took lately
        self._lines: dict[Urgency, _Line] = {"interactive": _Line(), "background": _Line()}
        self._since_background = 0
        self._served_s: dict[str, float] = {}  # by tenant
        self._running: Counter[str] = Counter()  # by tenant
        self._limiter: anyio.CapacityLimiter | None = None

    async def run(self, asker: Requester, function: Callable[[], ResultT]) -> ResultT:
        """What `function` returns, called in a thread when it is the asker's turn."""
        await self._take(asker)
        loop, begun = asyncio.get_running_loop(), False
        call, before, guessed_s = Cancellation(), CALL.get(), self._mean_s
        self._served_s[asker.tenant] = self._served_s.get(asker.tenant, 0.0) + guessed_s

        def end(took_s: float) -> None:
            self._mean_s += _SHARE * (took_s - self._mean_s)
            self._served_s[asker.tenant] = self._served_s.get(asker.tenant, 0.0) + took_s - guessed_s
            self._end(asker.tenant)

        def work() -> ResultT:
            nonlocal begun
            begun, started = True, time.monotonic()
            try:
                return function()
            finally:
                with suppress(RuntimeError):  # the loop is closed: nobody waits
                    loop.call_soon_threadsafe(end, time.monotonic() - started)

        if self._limiter is None:  # the turns are the limit
            self._limiter = anyio.CapacityLimiter(float("inf"))
        CALL.set(call)  # the thread gets a copy of this context
        try:
            return await anyio.to_thread.run_sync(work, abandon_on_cancel=True, limiter=self._limiter)
        except anyio.get_cancelled_exc_class():
            call.cancel()
            raise
        finally:
            CALL.set(before)
            if not begun:
                self._served_s[asker.tenant] = self._served_s.get(asker.tenant, 0.0) - guessed_s
                self._end(asker.tenant)

    @property
    def waiting(self) -> int:
        """How many calls wait for their turn."""
        return sum(line.length for line in self._lines.values())

    @property
    def running(self) -> int:
        """How many calls have their turn."""
        return self._most - self._free

    def wait_s(self, asker: Requester) -> float:
        """For how long a further call would wait, as calls took lately."""
        if self._free:
            return 0.0
        ahead = self._lines[asker.urgency].ahead_of(asker, self._most)
        if asker.urgency == "background":
            ahead += self._lines["interactive"].length
        return expected_wait_s(ahead, self._mean_s, self._most)

    def plan_for(self, asker: Requester) -> Served:
        """What a further call gets: all that it asked for, or a cheaper plan before nobody gets any."""
        return plan_under_load(self.wait_s(asker), self._patience_s)

    def busy_s(self, asker: Requester) -> float:
        """For how long a further call had better stay away; 0: it may come."""
        if self._free:
            return 0.0
        wait_s = self.wait_s(asker)
        if wait_s > self._patience_s:
            return wait_s - self._patience_s
        return max(self._mean_s, 1.0) if self.waiting >= self._places else 0.0

    async def _take(self, asker: Requester) -> None:
        if not self._free and (busy_s := self.busy_s(asker)):
            raise _busy(busy_s)
        self._arrive(asker.tenant)
        if self._free:
            self._free -= 1
            self._running[asker.tenant] += 1
            return
        mine = anyio.Event()
        line = self._lines[asker.urgency]
        line.add(asker, mine)
        try:
            with anyio.move_on_after(self._patience_s if asker.urgency == "interactive" else None):
                await mine.wait()
            if not mine.is_set():
                raise _busy(max(self._mean_s, 1.0))
        except BaseException:
            if mine.is_set():
                self._end(asker.tenant)
            else:
                line.remove(asker, mine)
            raise

    def _arrive(self, tenant: str) -> None:
        """Let a tenant that was away begin where the others are."""
        active = {*self._running, *(name for line in self._lines.values() for name in line.tenants)}
        if not active:
            self._served_s.clear()
        elif tenant not in active:
            self._served_s[tenant] = arrived(self._served_s, tenant, active)

    def _end(self, tenant: str) -> None:
        """Hand the turn on."""
        self._running[tenant] -= 1
        if not self._running[tenant]:
            del self._running[tenant]
        waiting = {urgency: line.length for urgency, line in self._lines.items()}
        if not any(waiting.values()):
            self._free += 1
            return
        urgency = next_urgency(waiting, self._since_background)
        self._since_background = 0 if urgency == "background" else self._since_background + 1
        line = self._lines[urgency]
        chosen = next_tenant(self._served_s, line.tenants)
        self._running[chosen] += 1
        line.take(chosen).set()

"""Calls of many clients in, a few of them at once out: clients take turns, and too many are refused.

Without it, fifty slow calls were forty threads that fought for the interpreter and three workspaces, and a
client with one question waited for all of them.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from math import ceil
from typing import TypeVar

import anyio
import anyio.to_thread

from codenib.core.calls.cancellation import CALL, Cancellation
from codenib.core.errors import StateError

ResultT = TypeVar("ResultT")
_PATIENCE_S = 10.0  # that a call may wait for its turn; a client that is told to come back can do so
_SHARE = 0.1  # of the last call in what calls took lately


class Turns:
    """Runs calls in threads, at most `most` at once. Of those that wait, each client has one in its turn.

    A turn ends with its thread, also when nobody waits for the result any more: the call is told that, and
    uses the processor until it looks. Beyond `waiting` calls a further one is refused, and where it would
    wait for more than `patience_s`, as calls took lately.
    """

    def __init__(self, most: int, waiting: int, patience_s: float = _PATIENCE_S) -> None:
        self._most = self._free = most
        self._places = waiting
        self._patience_s = patience_s
        self._mean_s = 0.0  # what a call took lately
        self._queues: dict[str, deque[anyio.Event]] = {}  # by client, the one whose turn is next first
        self._limiter: anyio.CapacityLimiter | None = None

    async def run(self, client: str, function: Callable[[], ResultT]) -> ResultT:
        """What `function` returns, called in a thread when it is the client's turn."""
        await self._take(client)
        loop, begun = asyncio.get_running_loop(), False
        call, before = Cancellation(), CALL.get()

        def work() -> ResultT:
            nonlocal begun
            begun, started = True, time.monotonic()
            try:
                return function()
            finally:
                with suppress(RuntimeError):  # the loop is closed: nobody waits
                    loop.call_soon_threadsafe(self._measured_end, time.monotonic() - started)

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
                self._end()

    @property
    def waiting(self) -> int:
        """How many calls wait for their turn."""
        return sum(map(len, self._queues.values()))

    def busy_s(self, client: str) -> float:
        """For how long a further call of this client had better stay away; 0: it may come."""
        if self._free:
            return 0.0
        mine = len(self._queues.get(client, ()))
        others = (len(queue) for name, queue in self._queues.items() if name != client)
        ahead = mine + sum(min(waiting, mine + 1) for waiting in others)
        wait_s = (ahead + 1) * self._mean_s / self._most
        if wait_s > self._patience_s:
            return wait_s - self._patience_s
        return max(self._mean_s, 1.0) if self.waiting >= self._places else 0.0

    async def _take(self, client: str) -> None:
        if self._free:
            self._free -= 1
            return
        if busy_s := self.busy_s(client):
            what = f"the server is busy: {self.waiting} calls of this kind wait already"
            raise StateError(what, hint=f"ask again in {ceil(busy_s)} s")
        mine = anyio.Event()
        self._queues.setdefault(client, deque()).append(mine)
        try:
            await mine.wait()
        except BaseException:
            if mine.is_set():
                self._end()
            else:
                self._leave(client, mine)
            raise

    def _leave(self, client: str, place: anyio.Event) -> None:
        self._queues[client].remove(place)
        if not self._queues[client]:
            del self._queues[client]

    def _measured_end(self, took_s: float) -> None:
        self._mean_s += _SHARE * (took_s - self._mean_s)
        self._end()

    def _end(self) -> None:
        """Hand the turn on to the next client; that client's further calls wait behind everyone else's."""
        if not self._queues:
            self._free += 1
            return
        client = next(iter(self._queues))
        queue = self._queues.pop(client)
        queue.popleft().set()
        if queue:
            self._queues[client] = queue

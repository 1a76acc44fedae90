"""Calls of many clients in, a few of them at once out: clients take turns, and too many are refused.

Without it, fifty slow calls were forty threads that fought for the interpreter and three workspaces, and a
client with one question waited for all of them.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

import anyio
import anyio.to_thread

from codenib.core.errors import StateError

ResultT = TypeVar("ResultT")


class Turns:
    """Runs calls in threads, at most `most` at once. Of those that wait, each client has one in its turn.

    A turn ends with its thread, also when nobody waits for the result any more: an abandoned call still uses
    the processor. Beyond `waiting` calls a further one is refused.
    """

    def __init__(self, most: int, waiting: int) -> None:
        self._free = most
        self._places = waiting
        self._queues: dict[str, deque[anyio.Event]] = {}  # by client, the one whose turn is next first
        self._limiter: anyio.CapacityLimiter | None = None

    async def run(self, client: str, function: Callable[[], ResultT]) -> ResultT:
        """What `function` returns, called in a thread when it is the client's turn."""
        await self._take(client)
        loop, begun = asyncio.get_running_loop(), False

        def call() -> ResultT:
            nonlocal begun
            begun = True
            try:
                return function()
            finally:
                with suppress(RuntimeError):  # the loop is closed: nobody waits
                    loop.call_soon_threadsafe(self._end)

        if self._limiter is None:  # the turns are the limit
            self._limiter = anyio.CapacityLimiter(float("inf"))
        try:
            return await anyio.to_thread.run_sync(call, abandon_on_cancel=True, limiter=self._limiter)
        finally:
            if not begun:
                self._end()

    @property
    def waiting(self) -> int:
        """How many calls wait for their turn."""
        return sum(map(len, self._queues.values()))

    async def _take(self, client: str) -> None:
        if self._free:
            self._free -= 1
            return
        if self.waiting >= self._places:
            what = f"the server is busy: {self._places} calls of this kind wait already"
            raise StateError(what, hint="ask again in a few seconds")
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

"""A repository in, answers to await out: for servers and notebooks that have an event loop."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Condition
from typing import Concatenate, ParamSpec, Self, TypeVar

import anyio
import anyio.to_thread

from codenib.core.calls.cancellation import CALL, Cancellation, check_cancelled, ended_by_cancellation
from codenib.core.errors import InputError, StateError
from codenib.serving.workspace import Workspace

P = ParamSpec("P")
ResultT = TypeVar("ResultT")
_THREADS = 2  # as many as make progress beside an event loop: Python's threads share one interpreter


def _awaited(
    method: Callable[Concatenate[Workspace, P], ResultT],
) -> Callable[Concatenate[AsyncWorkspace, P], Awaitable[ResultT]]:
    """A method of `Workspace` as one to await."""

    async def call(self: AsyncWorkspace, /, *args: P.args, **kwargs: P.kwargs) -> ResultT:
        return await self.run(lambda workspace: method(workspace, *args, **kwargs))

    functools.update_wrapper(call, method)
    return call


class AsyncWorkspace:
    """One repository, asked from an event loop (asyncio or trio): the questions of `Workspace`, to await.

    Calls run in threads, at most `threads` at once, each with a workspace of its own; what is open of a
    snapshot is shared. A call whose task is cancelled is given up: a pattern's process is killed at once,
    scans by name and `impact` end at their next file. Answers are those of `Workspace`. The `text` of an item
    is read when it is asked for, in the thread that asks: use `run` for many.
    """

    def __init__(self, path: str | Path = ".", *, threads: int = _THREADS) -> None:
        if threads < 1:
            raise InputError(f"{threads} threads", hint="threads=2")
        first = Workspace(path)
        self.root, self.name, self.is_bare = first.root, first.name, first.is_bare
        self._first = first
        self._free = [first]
        self._opened, self._threads = 1, threads
        self._closed = False
        self._condition = Condition()

    async def run(self, function: Callable[[Workspace], ResultT]) -> ResultT:
        """What `function` returns, called in a thread with a workspace that nobody else uses meanwhile."""
        call, before = Cancellation(), CALL.get()

        def work() -> ResultT:
            with self._lent() as workspace:
                return function(workspace)

        CALL.set(call)  # the thread gets a copy of this context
        try:
            return await anyio.to_thread.run_sync(work, abandon_on_cancel=True)
        except anyio.get_cancelled_exc_class():
            call.cancel()
            raise
        finally:
            CALL.set(before)

    search = _awaited(Workspace.search)
    regex = _awaited(Workspace.regex)
    explore = _awaited(Workspace.explore)
    map = _awaited(Workspace.map)
    definition = _awaited(Workspace.definition)
    references = _awaited(Workspace.references)
    neighbours = _awaited(Workspace.neighbours)
    impact = _awaited(Workspace.impact)
    outline = _awaited(Workspace.outline)
    history = _awaited(Workspace.history)
    read = _awaited(Workspace.read)
    units = _awaited(Workspace.units)
    status = _awaited(Workspace.status)
    index = _awaited(Workspace.index)
    update = _awaited(Workspace.update)
    verify = _awaited(Workspace.verify)

    async def close(self) -> None:
        """Let go of the workspaces; those that calls still use are closed when these end."""
        with self._condition:
            self._closed = True
            free, self._free = self._free, []
            self._condition.notify_all()
        for workspace in free:
            await anyio.to_thread.run_sync(workspace.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @contextmanager
    def _lent(self) -> Iterator[Workspace]:
        """A workspace for this thread alone: a free one, or a new one while there are few."""
        with self._condition, ended_by_cancellation(self._wake):
            while not self._free and self._opened >= self._threads and not self._closed:
                self._condition.wait()
                check_cancelled()
            if self._closed:
                raise StateError("this workspace is closed", hint="codenib.AsyncWorkspace(path)")
            if self._free:
                workspace = self._free.pop()
            else:
                self._opened += 1
                workspace = self._twin()
        try:
            yield workspace
        finally:
            self._take_back(workspace)

    def _take_back(self, workspace: Workspace) -> None:
        with self._condition:
            if not self._closed:
                self._free.append(workspace)
                self._condition.notify()
                return
        workspace.close()

    def _twin(self) -> Workspace:
        twin = self._first.twin()
        twin.maintenance.snapshots.opened = self._first.maintenance.snapshots.opened
        return twin

    def _wake(self) -> None:
        with self._condition:
            self._condition.notify_all()

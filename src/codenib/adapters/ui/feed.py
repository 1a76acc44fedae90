"""What happens to a repository in, server-sent events out: edits, work in the background, publications."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable

import anyio
import anyio.to_thread
import msgspec

from codenib.adapters.mcp.server_context import ServerContext
from codenib.core.errors import CodenibError

_LOOK_S = 0.2  # between two looks: an edit should be on the page within half a second
_SCAN_S = 2.0  # between two looks at the files themselves, where no file events are to be had
_ALIVE_S = 15.0  # between two signs of life, so that a tab notices a server that is gone


class LiveState(msgspec.Struct, frozen=True):
    """How a repository stands: `edits` counts the looks that saw changed files since the server began."""

    state: str
    stage: str
    done: int
    total: int
    edits: int
    snapshot: str
    views: dict[str, str]
    watching: bool
    error: str = ""


class Feed:
    """The state of one repository as it changes. However many tabs listen, it is looked at once."""

    def __init__(self, context: ServerContext) -> None:
        self._context = context
        self._counted = time.monotonic()
        self._edits = 0
        self._scanned = ("", 0.0)
        self._last: LiveState | None = None
        self._looked = 0.0
        self._looking = anyio.Lock()

    async def events(self, ending: Callable[[], bool]) -> AsyncIterator[bytes]:
        """Each state that differs from the one before, from now on."""
        sent: LiveState | None = None
        alive = time.monotonic()
        while not ending():
            state = await self._look()
            if state != sent:
                sent, alive = state, time.monotonic()
                yield b"data: " + msgspec.json.encode(state) + b"\n\n"
            elif time.monotonic() - alive > _ALIVE_S:
                alive = time.monotonic()
                yield b": alive\n\n"
            await anyio.sleep(_LOOK_S)

    async def _look(self) -> LiveState:
        async with self._looking:
            if self._last is None or time.monotonic() - self._looked >= _LOOK_S / 2:
                self._last = await anyio.to_thread.run_sync(self.look)
                self._looked = time.monotonic()
            return self._last

    def look(self) -> LiveState:
        """The state as it is now."""
        context = self._context
        self._count_edits()
        error = ""
        try:
            context.check()
        except CodenibError as problem:
            error = problem.message
        manifest, work = context.manifest(), context.work
        return LiveState(
            state=context.state,
            stage=work.stage,
            done=work.done,
            total=work.total,
            edits=self._edits,
            snapshot=manifest.snapshot if manifest else "",
            views={kind.value: record.status.value for kind, record in manifest.views.items()}
            if manifest
            else {},
            watching=context.events.watching,
            error=error,
        )

    def _count_edits(self) -> None:
        unchanged = self._context.events.unchanged_since(self._counted)
        if unchanged is None:
            self._scan()
        elif not unchanged:
            self._edits += 1
            self._counted = time.monotonic()

    def _scan(self) -> None:
        """Without file events: whether the worktree is another snapshot than at the last look."""
        before, when = self._scanned
        if self._context.state != "ready" or time.monotonic() - when < _SCAN_S:
            return
        with self._context.workspace() as workspace:
            now = workspace.current_snapshot()
        self._edits += bool(before) and now != before
        self._scanned = (now, time.monotonic())

"""File events in, updates out: the loop behind `codenib watch`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from threading import Event

from codenib.compiler.compiler import Outcome
from codenib.core.errors import InputError
from codenib.serving.workspace import Workspace

_DEBOUNCE_MS = 100  # an editor's save is several events; an agent's edit of many files is a burst
_POLL_MS = 1_000


def watch_repository(
    workspace: Workspace,
    report: Callable[[Outcome], None],
    *,
    say: Callable[[str], None],
    updates: int | None = None,
    stop: Event | None = None,
) -> None:
    """Update once, then after every burst of changes, until `stop` or `updates` updates that did something.

    A change between taking a snapshot and watching again is in the next burst, so none is lost.
    """
    if workspace.is_bare:
        raise InputError(f"{workspace.root} is a bare repository: there are no files to watch")
    stop = stop or Event()
    events = _events(workspace, stop, say)
    next(events)  # the watch is in place before the first snapshot
    report(workspace.update())
    for _ in events:
        outcome = workspace.update()
        if outcome.nothing_to_do:
            continue
        report(outcome)
        if updates is not None:
            updates -= 1
            if updates <= 0:
                return


def _events(workspace: Workspace, stop: Event, say: Callable[[str], None]) -> Iterator[None]:
    """Once when watching has begun, then after each burst; by polling where the kernel refuses."""
    from watchfiles import watch

    def relevant(_: object, path: str) -> bool:
        # Of git's own folder only these say that a commit or a branch changed.
        inside = path.partition(f"{os.sep}.git{os.sep}")[2]
        return not inside or inside in ("HEAD", "index") or inside.startswith("refs")

    try:
        changes = watch(
            workspace.root,
            watch_filter=relevant,
            debounce=_DEBOUNCE_MS,
            step=20,
            stop_event=stop,
            rust_timeout=_POLL_MS,
            yield_on_timeout=True,
        )
        next(changes)
    except OSError as error:
        say(f"file events are not available ({error}); looking every {_POLL_MS / 1000:.0f} s instead")
        while True:
            yield None
            if stop.wait(_POLL_MS / 1000):
                return
    yield None
    for change in changes:
        if change:
            yield None

"""File events in, updates out: the loop behind `codenib watch` and beside the servers.

Text views are brought up by the loop itself, vectors, history and graph by a thread with engines that stay:
the next edit's text never waits for them. When nothing happens for a while, the thread audits the graph.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from threading import Event

from codenib.compiler.registry import SLOW_VIEWS
from codenib.core.errors import CodenibError, InputError, StateError, StoreFault
from codenib.core.updates import FOLLOWED, Outcome
from codenib.serving.snapshots.maintenance import AuditReport
from codenib.serving.workspace import Workspace

_DEBOUNCE_MS = 100  # an editor's save is several events; an agent's edit of many files is a burst
_POLL_MS = 1_000
_RETRY_S = 5.0  # after a fault of the disk
# An audit starts engines of its own: only when nobody edits, and not after every edit.
_IDLE_S = 60.0
_BETWEEN_AUDITS_S = 900.0


def watch_repository(
    workspace: Workspace,
    report: Callable[[Outcome], None],
    *,
    say: Callable[[str], None],
    updates: int | None = None,
    stop: Event | None = None,
    audited: Callable[[AuditReport], None] | None = None,
    ready: Callable[[], None] = lambda: None,
) -> None:
    """Update once, then after every burst of changes, until `stop` or `updates` updates that did something.

    A change between taking a snapshot and watching again is in the next burst, so none is lost. `report` is
    told of the text views and of the slow ones, each when they are published. With `audited` the graph is
    audited. `ready` is called when the engines of its graph are up. What fails after the first update is
    said, and tried again.
    """
    if workspace.is_bare:
        raise InputError(
            f"{workspace.root} is a bare repository: there are no files to watch",
            hint="codenib -C WORKTREE watch",
        )
    stop = stop or Event()
    lock = threading.Lock()

    def told(outcome: Outcome) -> None:
        with lock:
            report(outcome)

    events = _events(workspace, stop, say)
    next(events)  # the watch is in place before the first snapshot
    slow = _Slow(workspace, told, say, audited, ready)
    try:
        outcome = workspace.update(wait=False)
        told(outcome)
        slow.ask()
        failed = ""
        for changed in events:
            if not changed and not failed:
                continue
            before = outcome.snapshot.id
            try:
                outcome = workspace.update(wait=False)
            except StateError as error:  # a disk that is full now, or a lock: the next look tries again
                if failed != error.message:
                    say(in_a_line(error))
                failed = error.message
                continue
            failed = ""
            if outcome.snapshot.id == before:
                continue
            if not outcome.nothing_to_do:  # otherwise the thread below was first, and has told of it
                told(outcome)
            slow.ask()
            if updates is not None:
                updates -= 1
                if updates <= 0:
                    return
    finally:
        slow.finish(now=stop.is_set())


class _Slow:
    """Brings the slow views up in a thread of its own, which starts with the first of them."""

    def __init__(
        self,
        workspace: Workspace,
        report: Callable[[Outcome], None],
        say: Callable[[str], None],
        audited: Callable[[AuditReport], None] | None,
        ready: Callable[[], None],
    ) -> None:
        self._of = workspace
        self._ready = ready
        self._report = report
        self._say = say
        self._audited = audited
        self._wanted = threading.Condition()
        self._asked = False
        self._ending = False
        self._thread: threading.Thread | None = None
        self._warmed = False
        self._followed = False  # since the last audit
        self._last_audit = time.monotonic()

    def ask(self) -> None:
        """There is something new, if this worktree has slow views."""
        if not set(self._of.snapshots.views_of_head()) & set(SLOW_VIEWS):
            return
        with self._wanted:
            self._asked = True
            self._wanted.notify()
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="slow views")
            self._thread.start()

    def finish(self, *, now: bool) -> None:
        """End the thread, after what was asked for unless `now`."""
        with self._wanted:
            self._ending = True
            self._asked = self._asked and not now
            self._wanted.notify()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        with self._of.twin() as workspace, ExitStack() as stack:
            try:
                stack.enter_context(workspace.maintenance.maintaining())
            except StateError:
                self._warmed = True  # somebody else's engines are
            while True:
                with self._wanted:
                    if not self._asked and not self._ending and self._warmed:
                        self._wanted.wait(_IDLE_S)
                    asked, self._asked = self._asked, False
                    if self._ending and not asked:
                        return
                try:
                    self._work(workspace, asked)
                except CodenibError as error:
                    self._say(in_a_line(error))
                    if isinstance(error, StoreFault):
                        self._try_again()

    def _try_again(self) -> None:
        """Ask anew in a while, unless this is the end."""
        with self._wanted:
            if not self._ending and not self._asked:
                self._wanted.wait(_RETRY_S)
            self._asked = self._asked or not self._ending

    def _work(self, workspace: Workspace, asked: bool) -> None:
        if asked:
            self._update(workspace)
        elif not self._warmed:
            self._warmed = True
            workspace.maintenance.warm()
            self._ready()
        elif self._followed and time.monotonic() - self._last_audit > _BETWEEN_AUDITS_S:
            self._audit(workspace)

    def _update(self, workspace: Workspace) -> None:
        outcome = workspace.update()
        if outcome.nothing_to_do:
            return
        done = workspace.maintenance.graph_update(outcome)
        self._followed |= done is not None and any(group.how == FOLLOWED for group in done.groups)
        self._report(outcome)

    def _audit(self, workspace: Workspace) -> None:
        self._followed, self._last_audit = False, time.monotonic()
        if self._audited is not None:
            self._audited(workspace.maintenance.audit())


def in_a_line(error: CodenibError) -> str:
    """What a log says of an error."""
    return f"{error.message}; try: {error.hint}" if error.hint else error.message


def _events(workspace: Workspace, stop: Event, say: Callable[[str], None]) -> Iterator[bool]:
    """True when watching has begun and after each burst, False now and then; by polling, always True."""
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
            yield True
            if stop.wait(_POLL_MS / 1000):
                return
    yield True
    for change in changes:
        yield bool(change)

"""Whether anybody still waits for the call of this thread: long work asks, and ends when nobody does.

Who runs calls for others (a server, an async facade) sets a `Cancellation` for each. Without one nothing is
ever cancelled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock

from codenib.core.errors import CodenibError


class CallCancelled(CodenibError):
    """Nobody waits for the answer any more."""


class Cancellation:
    """One call, which its caller may give up from another thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._actions: list[Callable[[], None]] = []
        self.cancelled = False

    def cancel(self) -> None:
        """Give the call up: what can be ended from outside ends now, the rest when it looks next."""
        with self._lock:
            self.cancelled = True
            actions, self._actions = self._actions, []
        for action in actions:
            action()

    def check(self) -> None:
        """Raise when the call was given up."""
        if self.cancelled:
            raise CallCancelled("the call was cancelled")

    @contextmanager
    def ending(self, action: Callable[[], None]) -> Iterator[None]:
        """Run `action` when the call is given up while the block runs."""
        with self._lock:
            self.check()
            self._actions.append(action)
        try:
            yield
        finally:
            with self._lock:
                if action in self._actions:
                    self._actions.remove(action)


#: The call that this thread, or task, works for.
CALL: ContextVar[Cancellation | None] = ContextVar("call", default=None)


def check_cancelled() -> None:
    """Raise `CallCancelled` when nobody waits for what this thread works on; takes 0.1 microseconds."""
    call = CALL.get()
    if call is not None:
        call.check()


@contextmanager
def ended_by_cancellation(action: Callable[[], None]) -> Iterator[None]:
    """Run `action`, such as killing a process, when this thread's call is given up inside the block."""
    call = CALL.get()
    if call is None:
        yield
        return
    with call.ending(action):
        yield

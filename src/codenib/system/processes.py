"""Processes in, their limits, priority and end out, as far as this system has such."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress


def end_tree(process: subprocess.Popen[bytes]) -> None:
    """End a process that leads a session of its own, with all that it started; it is not waited for."""
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        return
    # Windows has no groups to kill; its own program ends a process with those below it.
    with suppress(OSError):
        subprocess.run(["taskkill", "/F", "/T", "/PID", str(process.pid)], capture_output=True, check=False)
    with suppress(OSError):
        process.kill()


def limit_memory(pid: int, size_bytes: int) -> None:
    """Let another process fail rather than fill the memory; on Linux alone."""
    if sys.platform == "linux":
        with suppress(ImportError, OSError):
            import resource

            resource.prlimit(pid, resource.RLIMIT_DATA, (size_bytes, size_bytes))


def end_after(seconds: int) -> None:
    """Let the system end this process after so many seconds, where it has alarms."""
    if hasattr(signal, "alarm"):
        signal.alarm(seconds)


def be_nice(by: int) -> None:
    """Give way to others, where this system has niceness."""
    if hasattr(os, "nice"):
        with suppress(OSError):
            os.nice(by)


def processor_seconds() -> float:
    """What this process and its finished children have used."""
    times = os.times()  # on Windows the children's are zero
    return times.user + times.system + times.children_user + times.children_system

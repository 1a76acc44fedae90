"""What this process and those that it started have used: seconds of CPU time, bytes of memory."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def cpu_seconds() -> float:
    """CPU time of this process and of its children that have ended."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def forget_peak() -> None:
    """Let `peak_bytes` begin anew, where the system can (Linux)."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def peak_bytes() -> int:
    """The most memory that this process had since `forget_peak`, or ever where that does nothing.

    Plus that of the largest child there ever was; 0 where the system does not tell.
    """
    try:
        import resource
    except ImportError:  # Windows
        return 0
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024 + children
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 + children

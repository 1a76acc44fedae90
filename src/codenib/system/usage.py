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


def tree_bytes(pid: int) -> int:
    """Resident memory of a process and of all below it; 0 where the system does not tell (Linux does)."""
    total, left = 0, [pid]
    while left:
        place = Path(f"/proc/{left.pop()}")
        with suppress(OSError, ValueError):
            total += int((place / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
            for task in (place / "task").iterdir():
                left += map(int, (task / "children").read_text().split())
    return total


def memory_limit_bytes() -> int:
    """The memory that this process may use: of the machine, or of the control group that it is in."""
    limits = (
        [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")] if hasattr(os, "sysconf") else [4 << 30]
    )
    for name in ("memory.max", "memory/memory.limit_in_bytes"):
        with suppress(OSError, ValueError):
            limits.append(int((Path("/sys/fs/cgroup") / name).read_text()))
    return min(limits)

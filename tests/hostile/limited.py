"""Run a function in a process that may use little processor time and memory: what explodes is killed."""

from __future__ import annotations

import resource
import subprocess
import sys

CPU_S = 20
MEMORY_BYTES = 3_000_000_000


def run_limited(code: str) -> str:
    """What `code` prints; an AssertionError when it fails or is killed."""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, preexec_fn=_limit
    )
    assert done.returncode == 0, f"ended with {done.returncode}: {done.stderr[-2000:]}"
    return done.stdout.strip()


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))

"""What a peer is, and how its processes are measured."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from codenib.core.errors import ProviderError
from codenib.evals.metrics.scoring import SourceBlock


@dataclass(frozen=True, slots=True)
class Spent:
    """What a process took."""

    seconds: float
    memory_mb: float
    output: str


@dataclass(frozen=True, slots=True)
class PeerAnswer:
    """A peer's answer, best first, and the text that an agent would be given for it."""

    blocks: tuple[SourceBlock, ...]
    text: str
    seconds: float
    memory_mb: float


class Peer(Protocol):
    """A tool that answers localization questions over a checkout. `state` is an empty folder of its own."""

    @property
    def name(self) -> str: ...

    def missing(self) -> str:
        """Why it cannot run here; empty when it can."""

    def version(self) -> str: ...

    def build(self, checkout: Path, state: Path) -> Spent:
        """Make what it needs before questions; nothing for tools without an index."""

    def update(self, checkout: Path, state: Path) -> Spent:
        """Bring that up to date after a file changed."""

    def ask(self, checkout: Path, state: Path, query: str, k: int) -> PeerAnswer: ...


NOTHING = Spent(0.0, 0.0, "")
_LOOK_S = 0.002  # between two looks at a process's memory


def spend(
    command: Sequence[str],
    *,
    place: Path | None = None,
    environment: Mapping[str, str] | None = None,
    given: str | None = None,
    good: Sequence[int] = (0,),
) -> Spent:
    """Run a process to its end; wall seconds, its largest resident size, and what it printed."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        started = time.perf_counter()
        process = subprocess.Popen(
            list(command),
            cwd=place,
            env={**os.environ, **(environment or {})},
            stdin=subprocess.PIPE if given is not None else subprocess.DEVNULL,
            stdout=out,
            stderr=errors,
        )
        if given is not None and process.stdin is not None:
            process.stdin.write(given.encode())
            process.stdin.close()
        memory_mb = _watch(process)
        seconds = time.perf_counter() - started
        out.seek(0)
        errors.seek(0)
        text = out.read().decode("utf-8", "replace")
        if process.returncode not in good:
            said = errors.read().decode("utf-8", "replace").strip()[-300:]
            raise ProviderError(f"{Path(command[0]).name} ended with {process.returncode}: {said}")
    return Spent(seconds, memory_mb, text)


def _watch(process: subprocess.Popen[bytes]) -> float:
    """Wait for a process; the largest resident size that was seen of it, in MB.

    The kernel's own account of a child counts what its parent held when it was forked, so it is no use here.
    """
    largest = 0.0
    status = Path(f"/proc/{process.pid}/status")
    while process.poll() is None:
        with suppress(OSError):
            found = re.search(r"VmHWM:\s+(\d+) kB", status.read_text())
            largest = max(largest, int(found[1]) / 1024 if found else 0.0)
        time.sleep(_LOOK_S)
    return largest


def folder_mb(folder: Path) -> float:
    """What a folder takes on disk."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6

"""An engine's program in, the running engine out: requests and answers are lines of JSON.

The engine runs until it is closed. It has a checkout and is told which files changed; what else it can be
asked is its language's own.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from codenib.core.errors import ProviderError
from codenib.core.protocols import Progress
from codenib.navigation.engines.process import ChildProcess, Program, read_progress
from codenib.navigation.engines.watchdog import Silence


class ResidentEngine:
    """One process of an engine; any failure ends it and raises `ProviderError`."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.silence = Silence()
        #: Told what the engine has done, while it answers.
        self.on_progress: Progress | None = None
        self._child = ChildProcess(program, self._hear)
        self.requests = 0
        self.settled = False

    def sync(self, files: Sequence[str], changed: Sequence[str]) -> None:
        """Tell which files there are now, and which of them changed, came or went."""
        self.settled = False
        for _ in self._ask({"sync": list(files), "changed": list(changed)}):
            pass

    @property
    def alive(self) -> bool:
        return self._child.alive

    @property
    def pid(self) -> int:
        """The process, which also leads its process group."""
        return self._child.pid

    @property
    def resident_bytes(self) -> int:
        """How much memory the process uses; 0 where the system does not say."""
        return self._child.resident_bytes

    def close(self) -> None:
        """End the process."""
        self._child.close()

    def _ask(self, request: dict[str, Any]) -> Iterator[bytes]:
        """The lines that answer a request; a failure ends the engine."""
        self.requests += 1
        try:
            self._child.stdin.write(json.dumps(request).encode() + b"\n")
            self._child.stdin.flush()
        except (OSError, ValueError) as error:
            raise self._failed("; ".join(self._child.last_lines()) or str(error)) from error
        with self.silence.limit(self._child.pid, self._child.end):
            yield from self._answers()

    def _answers(self) -> Iterator[bytes]:
        for line in self._child.stdout:
            self.silence.hear()
            if line.startswith(b'{"end"'):
                return
            if line.startswith(b'{"error"'):
                raise self._failed(str(json.loads(line)["error"]))
            yield line.rstrip(b"\n")
        raise self._failed(self.silence.reason)

    def _hear(self, line: str) -> bool:
        """A line of standard error; progress is none."""
        self.silence.hear()
        word, _, rest = line.partition(" ")
        if word == "progress" and self.on_progress is not None:
            self.on_progress(*read_progress(rest))
        return word == "progress"

    def _failed(self, reason: str = "") -> ProviderError:
        return self._child.failure(reason)

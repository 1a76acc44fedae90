"""A pattern and texts in, the matching lines out, from a process that is killed at its deadline.

The processes are few, start with the first pattern that needs one, stay for the next, and end with this one.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import regex  # type: ignore[import-untyped]

from codenib.core.calls.cancellation import check_cancelled, ended_by_cancellation
from codenib.core.errors import InputError
from codenib.views.trigram.matching import matcher
from codenib.views.trigram.matching.matcher import Deadline, MatchedLine, Matcher, read_frame, write_frame

_WORKERS = 2
_GRACE_S = 0.25  # for a worker that stops by itself, with what it has found so far


@dataclass(frozen=True, slots=True)
class WorkerTask:
    """A pattern as `regex` takes it: what matches in a line, and what runs over a whole text, if anything."""

    line: str
    flags: int
    scan: str = ""
    scan_flags: int = 0
    exact: bool = False
    multiline: bool = False

    def compiled(self) -> Matcher:
        """The same, to match here."""
        scan = regex.compile(self.scan, self.scan_flags) if self.scan else None
        line = regex.compile(self.line, self.flags)
        return Matcher(line, scan=scan, exact=self.exact, multiline=self.multiline)


class PatternStopped(Exception):
    """A worker did not finish, for want of `time` (it was killed), or of `memory`."""

    def __init__(self, want: str = "time") -> None:
        super().__init__(want)
        self.want = want


class MatchingWorker:
    """One worker process, in the middle of one task."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self.pid = process.pid

    def begin(self, task: WorkerTask, timeout_s: float) -> None:
        """Let it compile; `InputError` when it cannot."""
        self._send(json.dumps({**asdict(task), "timeout_s": timeout_s}).encode())
        answer = self._receive()
        if "error" in answer:
            where = "" if answer["position"] is None else f" at position {answer['position']}"
            hint = "codenib regex --literal, or escape special characters with a backslash"
            raise InputError(f"bad pattern {task.line[:80]!r}: {answer['error']}{where}", hint=hint)

    def match(self, texts: Sequence[str], most: int | None) -> Iterator[tuple[list[MatchedLine], int]]:
        """The lines of each text that match, `most` of them in all, and how many there are in that text."""
        data = [text.encode("utf-8") for text in texts]
        head = json.dumps([most, list(map(len, data))]).encode()
        self._send(b"\n".join([head, b"".join(data)]))
        for _ in texts:
            answer = self._receive()
            if "stopped" in answer:
                raise PatternStopped(answer["stopped"])
            yield [_matched(*line) for line in answer["lines"]], answer["count"]

    def end(self) -> None:
        """Leave the task: the worker waits for the next."""
        self._send(b"")

    def _send(self, data: bytes) -> None:
        assert self._process.stdin is not None
        try:
            write_frame(self._process.stdin, data)
        except OSError as error:
            raise PatternStopped from error

    def _receive(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        try:
            answer: dict[str, Any] = json.loads(read_frame(self._process.stdout))
        except (EOFError, OSError, ValueError) as error:
            raise PatternStopped from error
        return answer


def _matched(start: int, end: int, spans: list[list[int]]) -> MatchedLine:
    return MatchedLine(start, end, tuple((first, last) for first, last in spans))


class PatternWorkers:
    """The worker processes of this process."""

    def __init__(self, most: int = _WORKERS) -> None:
        self._places = threading.BoundedSemaphore(most)
        self._idle: list[subprocess.Popen[bytes]] = []
        self._lock = threading.Lock()

    @contextmanager
    def task(self, task: WorkerTask, timeout_s: float) -> Iterator[MatchingWorker]:
        """A worker that has compiled the task. It is killed `timeout_s` from now, whatever it does then.

        When the call is cancelled it is killed at once, and `CallCancelled` is raised.
        """
        deadline = Deadline(timeout_s)
        if not self._places.acquire(timeout=timeout_s):
            raise PatternStopped
        try:
            with self._leased() as process:
                left_s = deadline.left_s()
                killer = threading.Timer(left_s + _GRACE_S, process.kill)
                killer.daemon = True
                killer.start()
                try:
                    with ended_by_cancellation(process.kill):
                        worker = MatchingWorker(process)
                        worker.begin(task, left_s)
                        yield worker
                        worker.end()
                except PatternStopped:
                    check_cancelled()  # then it was killed because nobody waits
                    raise
                finally:
                    killer.cancel()
        except TimeoutError as error:
            raise PatternStopped from error
        finally:
            self._places.release()

    @contextmanager
    def _leased(self) -> Iterator[subprocess.Popen[bytes]]:
        """A process; it serves the next task too, unless this one failed: an answer may be left in a pipe."""
        with self._lock:
            process = self._idle.pop() if self._idle else None
        if process is not None and process.poll() is not None:
            _stop(process)
            process = None
        process = process or _start()
        try:
            yield process
        except BaseException:
            _stop(process)
            raise
        with self._lock:
            self._idle.append(process)

    def close(self) -> None:
        """End the processes that wait."""
        with self._lock:
            idle, self._idle = self._idle, []
        for process in idle:
            _stop(process)


def _start() -> subprocess.Popen[bytes]:
    command = [sys.executable, "-P", str(Path(matcher.__file__))]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd="/"
    )


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    for wire in (process.stdin, process.stdout):
        if wire is not None:
            with suppress(OSError):
                wire.close()


#: Two for the whole process, however many workspaces it has: matching is work for a processor.
WORKERS = PatternWorkers()

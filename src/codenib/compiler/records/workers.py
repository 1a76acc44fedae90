"""Deriving in worker processes: jobs in, records out, over pipes, in whatever order they finish.

Workers are plain subprocesses (`python -m codenib.compiler.records.worker`), not `multiprocessing`: they need
no importable `__main__`, no fork of a threaded process and no pickle, and a closed pipe ends them.
"""

from __future__ import annotations

import os
import queue
import struct
import subprocess
import sys
import threading
from collections.abc import Generator, Iterable, Sequence
from contextlib import closing, suppress
from typing import IO, TYPE_CHECKING

import msgspec

from codenib.core.errors import ProviderError, StoreFault
from codenib.core.source import BlobUnits
from codenib.snapshot.blobs import BlobSource
from codenib.units.record import encode_units

if TYPE_CHECKING:
    from codenib.compiler.records.derive import Derived, Job

_BATCH = 32
_LENGTH = struct.Struct("<I")
CRASHED = "parser crashed"


def crashed(derivers: Iterable[str]) -> Derived:
    """The records of a blob that could not be derived: it counts as skipped in every view."""
    units = encode_units(BlobUnits("", 0, skip=CRASHED))
    return [("units", units), *((name, b"") for name in derivers)]


class WorkerSetup(msgspec.Struct):
    """What a worker is told at its start."""

    source: BlobSource
    derivers: list[str]


def write_frame(stream: IO[bytes], message: object) -> None:
    data = msgspec.msgpack.encode(message)
    stream.write(_LENGTH.pack(len(data)) + data)
    stream.flush()


def read_frame(stream: IO[bytes]) -> bytes | None:
    """The next message; None at the end of the stream, also within a message."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    data = stream.read(length)
    return data if len(data) == length else None


def derive_in_workers(
    jobs: Sequence[Job], source: BlobSource, derivers: Sequence[str]
) -> Generator[tuple[Job, Derived]]:
    """Derive all jobs on all cores. A blob that kills its worker is recorded as skipped, alone."""
    batches: queue.SimpleQueue[list[Job]] = queue.SimpleQueue()
    for start in range(0, len(jobs), _BATCH):
        batches.put(list(jobs[start : start + _BATCH]))
    results: queue.Queue[list[tuple[Job, Derived]] | BaseException] = queue.Queue(maxsize=16)
    stop = threading.Event()
    setup = WorkerSetup(source, list(derivers))
    count = min(_most_workers(), batches.qsize())
    threads = [
        threading.Thread(target=_drive, args=(setup, batches, results, stop), daemon=True)
        for _ in range(count)
    ]
    for thread in threads:
        thread.start()
    try:
        left = len(jobs)
        while left:
            batch = results.get()
            if isinstance(batch, BaseException):
                raise batch
            left -= len(batch)
            yield from batch
    finally:
        stop.set()
        while any(thread.is_alive() for thread in threads):
            try:
                results.get(timeout=0.05)  # unblock a thread that waits to hand over
            except queue.Empty:
                continue


def _most_workers() -> int:
    """Processes at once: as many as there are cores, or as `CODENIB_JOBS` allows beside other builds."""
    chosen = os.environ.get("CODENIB_JOBS", "")
    return int(chosen) if chosen.isdecimal() and int(chosen) else min(os.cpu_count() or 1, 8)


def _drive(
    setup: WorkerSetup,
    batches: queue.SimpleQueue[list[Job]],
    results: queue.Queue[list[tuple[Job, Derived]] | BaseException],
    stop: threading.Event,
) -> None:
    """Own one worker process and feed it until no batch is left. Whatever goes wrong is handed over too."""
    try:
        with closing(Worker(setup)) as worker:
            while not stop.is_set():
                try:
                    batch = batches.get_nowait()
                except queue.Empty:
                    return
                results.put(worker.derive(batch))
    except BaseException as error:  # noqa: BLE001 - raised again where the results are awaited
        results.put(error)


class Worker:
    """One worker process, replaced when it dies."""

    def __init__(self, setup: WorkerSetup) -> None:
        self._setup = setup
        self._start()

    @property
    def pid(self) -> int:
        """The process that gets the next batch."""
        return self._process.pid

    def derive(self, batch: Sequence[Job]) -> list[tuple[Job, Derived]]:
        """The records of a batch; a blob over which two processes died counts as skipped."""
        answer = self._ask(batch)
        if answer is not None:
            return answer
        alone = ((job, self._ask([job])) for job in batch)
        return [(job, got[0][1] if got else crashed(self._setup.derivers)) for job, got in alone]

    def close(self) -> None:
        """End the process."""
        for stream in (self._stdin, self._stdout):
            with suppress(BrokenPipeError):
                stream.close()
        self._process.wait()

    def _start(self) -> None:
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        # -P: the current folder is often the indexed repository, and none of its modules may be imported.
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "codenib.compiler.records.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._stdin, self._stdout = self._process.stdin, self._process.stdout
        # Without this answer, a broken installation would look like a parser that dies over every blob.
        if self._exchange(self._setup) is None:
            self.close()
            raise ProviderError(
                f"the worker process did not start (exit status {self._process.returncode})",
                hint="codenib doctor",
            )

    def _ask(self, batch: Sequence[Job]) -> list[tuple[Job, Derived]] | None:
        """The worker's answer; None when it died over the batch, and then there is a new one."""
        data = self._exchange(batch)
        if data is None:
            self.close()
            self._start()
            return None
        answer = msgspec.msgpack.decode(
            data, type=list[tuple[tuple[str, str], list[tuple[str, bytes]]]] | dict[str, str]
        )
        if isinstance(answer, dict):
            raise StoreFault(answer["message"], hint=answer["hint"])
        return answer

    def _exchange(self, message: object) -> bytes | None:
        try:
            write_frame(self._stdin, message)
            return read_frame(self._stdout)
        except BrokenPipeError:
            return None

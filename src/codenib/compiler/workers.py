"""Deriving in worker processes: jobs in, records out, over pipes, in whatever order they finish.

Workers are plain subprocesses of this Python (`python -m codenib.compiler.worker`), not `multiprocessing`:
they need no importable `__main__`, no fork of a threaded process and no pickle, and a closed pipe ends them.
"""

from __future__ import annotations

import os
import queue
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from typing import IO, TYPE_CHECKING

import msgspec

from codenib.core.source import BlobUnits
from codenib.snapshot.blobs import BlobSource
from codenib.units.record import encode_units

if TYPE_CHECKING:
    from codenib.compiler.derive import Derived, Job

_BATCH = 32
_LENGTH = struct.Struct("<I")
CRASHED = "parser crashed"


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
) -> Iterator[tuple[Job, Derived]]:
    """Derive all jobs on all cores. A blob that kills its worker is recorded as skipped, alone."""
    batches: queue.SimpleQueue[list[Job]] = queue.SimpleQueue()
    for start in range(0, len(jobs), _BATCH):
        batches.put(list(jobs[start : start + _BATCH]))
    results: queue.Queue[list[tuple[Job, Derived]] | BaseException] = queue.Queue(maxsize=16)
    stop = threading.Event()
    setup = WorkerSetup(source, list(derivers))
    count = min(os.cpu_count() or 1, 8, batches.qsize())
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


def _drive(
    setup: WorkerSetup,
    batches: queue.SimpleQueue[list[Job]],
    results: queue.Queue[list[tuple[Job, Derived]] | BaseException],
    stop: threading.Event,
) -> None:
    """Own one worker process and feed it until no batch is left."""
    worker = _Worker(setup)
    try:
        while not stop.is_set():
            try:
                batch = batches.get_nowait()
            except queue.Empty:
                return
            results.put(worker.derive(batch))
    except OSError as error:
        results.put(error)
    finally:
        worker.close()


class _Worker:
    def __init__(self, setup: WorkerSetup) -> None:
        self._setup = setup
        self._process = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        process = subprocess.Popen(
            [sys.executable, "-m", "codenib.compiler.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
        )
        if process.stdin is not None:
            write_frame(process.stdin, self._setup)
        return process

    def derive(self, batch: list[Job]) -> list[tuple[Job, Derived]]:
        answer = self._ask(batch)
        if answer is not None:
            return answer
        if len(batch) > 1:
            return [result for job in batch for result in self.derive([job])]
        names = ["units", *self._setup.derivers]
        units = encode_units(BlobUnits("", 0, skip=CRASHED))
        return [(batch[0], [(name, units if name == "units" else b"") for name in names])]

    def _ask(self, batch: list[Job]) -> list[tuple[Job, Derived]] | None:
        """The worker's answer; None when it died over the batch, and then there is a new one."""
        stdin, stdout = self._process.stdin, self._process.stdout
        if stdin is None or stdout is None:
            raise OSError("a worker without pipes")
        try:
            write_frame(stdin, batch)
            data = read_frame(stdout)
        except BrokenPipeError:
            data = None
        if data is None:
            self.close()
            self._process = self._start()
            return None
        return msgspec.msgpack.decode(data, type=list[tuple[tuple[str, str], list[tuple[str, bytes]]]])

    def close(self) -> None:
        process = self._process
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                try:
                    stream.close()
                except BrokenPipeError:
                    continue
        process.wait()

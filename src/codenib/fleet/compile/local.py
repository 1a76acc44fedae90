"""Batches in, results out, by processes of this machine: no cluster is needed."""

from __future__ import annotations

import os
import queue
import subprocess
import sys
import threading

from codenib.compiler.records.workers import read_frame, write_frame
from codenib.fleet.compile.executor import FinishedBatch, order_of
from codenib.fleet.compile.task import TaskBatch, decode_results


class LocalProcesses:
    """Worker processes, as many as there are cores or as `jobs` says. One that dies is replaced."""

    def __init__(self, jobs: int = 0) -> None:
        self.workers = jobs or os.cpu_count() or 1
        self.where = f"{self.workers} processes of this machine"
        self._waiting: queue.Queue[TaskBatch | None] = queue.Queue()
        self._finished: queue.Queue[FinishedBatch | BaseException] = queue.Queue()
        self._processes: set[subprocess.Popen[bytes]] = set()
        self._threads: list[threading.Thread] = []
        self._unfinished = 0
        self._closed = False

    def submit(self, batch: TaskBatch) -> None:
        self._unfinished += 1
        self._waiting.put(batch)
        if len(self._threads) < min(self.workers, self._unfinished):
            thread = threading.Thread(target=self._drive, name="compile", daemon=True)
            self._threads.append(thread)
            thread.start()

    def next_finished(self) -> FinishedBatch:
        done = self._finished.get()
        if isinstance(done, BaseException):
            raise done
        self._unfinished -= 1
        return done

    def close(self) -> None:
        """End the processes: those that work are killed."""
        self._closed = True
        for process in list(self._processes) if self._unfinished else ():
            process.kill()
        for _ in self._threads:
            self._waiting.put(None)
        for thread in self._threads:
            thread.join()

    def _drive(self) -> None:
        """Own one process and feed it; whatever goes wrong here is raised where results are awaited."""
        process: subprocess.Popen[bytes] | None = None
        try:
            while (batch := self._waiting.get()) is not None and not self._closed:
                process = process or self._start()
                data = _exchange(process, batch, max(1, min(batch.cpus, self.workers)))
                if data is None:
                    status = self._end(process)
                    process = None
                    self._finished.put(FinishedBatch(batch, lost=_what_ended(status)))
                else:
                    self._finished.put(FinishedBatch(batch, tuple(decode_results(data))))
        except BaseException as error:  # noqa: BLE001 - raised again in `next_finished`
            self._finished.put(error)
        finally:
            if process is not None:
                self._end(process)

    def _start(self) -> subprocess.Popen[bytes]:
        # -P: the current folder is often an indexed repository, and none of its modules may be imported.
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "codenib.fleet.compile.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._processes.add(process)
        return process

    def _end(self, process: subprocess.Popen[bytes]) -> int:
        assert process.stdin is not None and process.stdout is not None
        for stream in (process.stdin, process.stdout):
            try:
                stream.close()
            except BrokenPipeError:
                continue
        self._processes.discard(process)
        return process.wait()


def _exchange(process: subprocess.Popen[bytes], batch: TaskBatch, jobs: int) -> bytes | None:
    assert process.stdin is not None and process.stdout is not None
    try:
        write_frame(process.stdin, order_of(batch, jobs))
        return read_frame(process.stdout)
    except BrokenPipeError:
        return None


def _what_ended(status: int) -> str:
    """
    >>> _what_ended(-9), _what_ended(1)
    ('killed by signal 9', 'ended with status 1')
    """
    return f"killed by signal {-status}" if status < 0 else f"ended with status {status}"

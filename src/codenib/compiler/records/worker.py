"""The worker process: batches of jobs on standard input, their records on standard output.

Its first answer is empty and says that it is ready.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import closing

import msgspec

from codenib.compiler.records.derive import Job, derive_jobs
from codenib.compiler.records.workers import WorkerSetup, read_frame, write_frame
from codenib.compiler.registry import DEFAULT_VIEWS, derivers_of
from codenib.core.errors import CodenibError, StoreFault


def main() -> None:
    """Serve until the parent closes the pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, whose end closes the pipe
    # Whatever a library prints must not enter the stream of records.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    first = read_frame(sys.stdin.buffer)
    if first is None:
        return
    setup = msgspec.msgpack.decode(first, type=WorkerSetup)
    known = derivers_of(DEFAULT_VIEWS)
    derivers = [known[name] for name in setup.derivers]
    with closing(setup.source.open()) as reader:
        write_frame(answers, [])
        while (message := read_frame(sys.stdin.buffer)) is not None:
            jobs = msgspec.msgpack.decode(message, type=list[Job])
            try:
                write_frame(answers, list(derive_jobs(jobs, reader, derivers)))
            except StoreFault as error:  # is no fault of a blob: the parent must not count it as skipped
                write_frame(answers, {"message": error.message, "hint": error.hint})


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:  # the parent was killed
        os._exit(1)
    except CodenibError as error:
        sys.exit(f"codenib worker: {error}")

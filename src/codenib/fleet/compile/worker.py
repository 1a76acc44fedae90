"""The worker process of a local compilation: orders on standard input, results on standard output."""

from __future__ import annotations

import os
import signal
import sys

from codenib.compiler.records.workers import read_frame, write_frame
from codenib.fleet.compile.build import run_order
from codenib.fleet.compile.task import decode_order


def main() -> None:
    """Serve until the parent closes the pipe; what was begun when it is killed ends with that repository."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, whose end closes the pipe
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    parent = os.getppid()
    while (message := read_frame(sys.stdin.buffer)) is not None:
        write_frame(answers, run_order(decode_order(message), lambda: os.getppid() == parent))


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:  # the parent was killed
        os._exit(1)

"""A repository in, its default views and progress lines out, run as `python -m` with the root
and how far it gives way to other processes.

The text views come first, and a line says so: from then on questions can be answered.

The server runs it as a process of its own, so that answers do not wait for the interpreter and the memory of
a build is given back. It ends when its standard input does, which is when the server is gone.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Mapping

import msgspec

from codenib.core.errors import CodenibError
from codenib.serving.workspace import Workspace
from codenib.system.processes import be_nice
from codenib.system.usage import cpu_seconds, peak_bytes

_EVERY_S = 0.1


def main(root: str, niceness: int = 0) -> int:
    """Build or maintain the views of `root` that nobody needs to ask for."""
    be_nice(niceness)
    threading.Thread(target=end_with_parent, daemon=True).start()
    said = 0.0
    before = ""

    def progress(stage: str, done: int, total: int) -> None:
        nonlocal said, before
        now = time.monotonic()
        if stage != before or now - said > _EVERY_S or done == total:
            said, before = now, stage
            _say({"stage": stage, "done": done, "total": total})

    try:
        with Workspace(root, progress=progress) as workspace:
            done = workspace.update(
                wait=False
            )  # a view that fails is recorded as failed, and its questions say so
            _say({"ready": True})
            workspace.maintenance.catch_up()
            if "built" in done.views.values():  # every file was read: the next time takes as much at most
                _say({"cpu_s": cpu_seconds(), "peak_bytes": peak_bytes()})
    except CodenibError as error:
        _say({"error": error.message, "hint": error.hint})
        return error.exit_code
    return 0


def _say(row: Mapping[str, str | float]) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(row) + b"\n")
    sys.stdout.buffer.flush()


def end_with_parent() -> None:
    """End this process when the one that started it does: it holds the other end of standard input."""
    while os.read(0, 4096):  # not sys.stdin: its lock must not be held when the interpreter ends
        pass
    os._exit(1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2])))

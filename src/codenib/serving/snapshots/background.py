"""A worktree in, its vectors and its history brought up behind an answer that did not wait for them out.

`python -m codenib.serving.snapshots.background ROOT` is a process of its own, which a command starts and does
not wait for. It says nothing, there is one for a worktree, and it ends when there is nothing left to do.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from codenib.config.resolve import user_choice
from codenib.core.errors import CodenibError
from codenib.manifest.store import Store
from codenib.system.processes import be_nice, end_after

_AT_MOST_S = 1800  # then the kernel ends it, whatever it waits for
_ROUNDS = 5  # files that change meanwhile are taken in, but not for ever
_NICENESS = 5  # behind whoever waits for an answer

_started: list[subprocess.Popen[bytes]] = []  # nobody waits for them, so that they must not be collected


def is_allowed() -> bool:
    """Whether commands may start background processes."""
    return user_choice("background") != "off"


def start(root: Path, store: Store, worktree: str) -> bool:
    """Start the background process of a worktree unless it runs; whether one runs now."""
    if not is_allowed():
        return False
    if store.is_catching_up(worktree):
        return True
    _started[:] = [process for process in _started if process.poll() is None]
    command = [sys.executable, "-P", "-m", __name__, str(root)]
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:  # a machine without a process to spare answers all the same
        return False
    _started.append(process)
    return True


def main(root: str) -> int:
    """Bring up what answers of `root` did not wait for."""
    end_after(_AT_MOST_S)
    be_nice(_NICENESS)
    from codenib.serving.workspace import Workspace

    try:
        with Workspace(root) as workspace, workspace.maintenance.catching_up():
            for _ in range(_ROUNDS):
                workspace.maintenance.catch_up()
                if not workspace.maintenance.is_behind():
                    break
    except CodenibError as error:  # another one runs, or what is wrong is in the manifest
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

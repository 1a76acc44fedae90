"""What must not change while a case is asked: the user's folder, the repository, a port, processes."""

from __future__ import annotations

import hashlib
import os
import signal
import socket
import stat
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

State = dict[str, tuple[int, int, str]]


def state_of(folder: Path) -> State:
    """Every entry below `folder` with its mode, time of change and digest; links and pipes are not opened."""
    found: State = {}
    for top, folders, files in os.walk(os.fsencode(folder)):
        for name in (*folders, *files):
            path = os.path.join(top, name)  # noqa: PTH118 - bytes
            try:
                info = os.lstat(path)
            except OSError:
                continue  # too deep for one call; what is below it is listed by none of us
            digest = ""
            if stat.S_ISREG(info.st_mode) and info.st_size < 20_000_000:
                with open(path, "rb") as file:  # noqa: PTH123 - bytes
                    digest = hashlib.blake2b(file.read(), digest_size=8).hexdigest()
            time_ns = 0 if stat.S_ISDIR(info.st_mode) else info.st_mtime_ns
            found[os.fsdecode(path)] = (info.st_mode, time_ns, digest)
    return found


def differences(before: State, after: State) -> list[str]:
    """What was added, removed or changed, in words."""
    names = sorted(before.keys() | after.keys())
    return [
        f"{'added' if name not in before else 'removed' if name not in after else 'changed'} {name}"
        for name in names
        if before.get(name) != after.get(name)
    ]


class Port:
    """A port of this machine that counts who calls."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.number: int = self._socket.getsockname()[1]
        self.calls = 0
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        with suppress(OSError):
            while True:
                caller, _ = self._socket.accept()
                self.calls += 1
                caller.close()

    def close(self) -> None:
        self._socket.close()


@contextmanager
def marked_processes(mark: str) -> Iterator[list[str]]:
    """After the block: the commands of processes with `CODENIB_HOSTILE=mark` that were still there; ended."""
    left: list[str] = []
    yield left
    deadline = time.monotonic() + 3.0  # a killed process needs a moment to be gone
    while (running := dict(_running(mark))) and time.monotonic() < deadline:
        time.sleep(0.05)
    for number, command in running.items():
        left.append(command)
        with suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)


def _running(mark: str) -> Iterator[tuple[int, str]]:
    wanted = f"CODENIB_HOSTILE={mark}".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if wanted in (folder / "environ").read_bytes().split(b"\0") and _is_alive(folder):
                command = (folder / "cmdline").read_bytes().replace(b"\0", b" ")
                yield int(folder.name), command.decode(errors="replace")[:200]


def _is_alive(folder: Path) -> bool:
    return (folder / "stat").read_bytes().rpartition(b")")[2].split()[0] != b"Z"

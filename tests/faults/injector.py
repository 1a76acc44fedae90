"""A command and a fault in, how the command ended out: `inject.c` fails one of its write steps."""

from __future__ import annotations

import atexit
import ctypes
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

#: What may happen to a step; those with + go on for all later steps.
KINDS = ("kill", "crash", "EIO", "ENOSPC", "ENOSPC+", "EROFS+")
_SOURCE = Path(__file__).with_name("inject.c")
_LIMIT_S = 120.0
HANGS = 124
_NEVER_FULL = ("unlink", "rmdir", "chmod", "fchmod", "fchmodat", "utimensat")
_NEVER_READ_ONLY = ("fsync", "fdatasync", "msync", "mmap")


@dataclass(frozen=True, slots=True)
class Step:
    """One system call that changes a file: its number, the call, the file, and whether a child made it."""

    number: int
    child: bool
    call: str
    path: str

    @property
    def place(self) -> str:
        """The call and the file, without what differs from run to run."""
        return f"{self.call} {re.sub(r'[0-9a-f]{8,}|(?<=-)[0-9]+|[0-9]+(?=[.-])', '*', self.path)}"

    def can_be(self, kind: str) -> bool:
        """Whether a disk can do this to such a call."""
        if kind == "crash":
            return self.child  # for the command's own process it is `kill`
        if kind.startswith("ENOSPC"):
            return self.call not in _NEVER_FULL
        return not (kind.startswith("EROFS") and self.call in _NEVER_READ_ONLY)


@dataclass(frozen=True, slots=True)
class Ended:
    """A command that is over: its exit code, what it printed, and the steps that it made."""

    code: int
    out: str
    err: str
    steps: list[Step]


class Running:
    """A command at work: what it printed until now, and a way to talk to it."""

    def __init__(self, process: int, stdin: int, out: Path) -> None:
        self._process, self._stdin, self._out = process, stdin, out
        self._code: int | None = None

    def send(self, line: str) -> None:
        """Write a line to its standard input, unless it is gone."""
        with suppress(BrokenPipeError):
            os.write(self._stdin, f"{line}\n".encode())

    def printed(self, *texts: str, within_s: float = 60.0) -> bool:
        """Whether it prints one of `texts` before it ends, and in time."""
        deadline = time.monotonic() + within_s
        while not any(text in _text(self._out) for text in texts):
            if self._is_over() or time.monotonic() > deadline:
                return False
            time.sleep(0.02)
        return True

    def interrupt(self) -> None:
        """What Ctrl-C does; the supervisor hands it on."""
        if not self._is_over():
            os.kill(self._process, signal.SIGTERM)

    def wait(self, limit_s: float) -> int:
        """Its exit code; `HANGS` when it had to be ended."""
        deadline = time.monotonic() + limit_s
        while not self._is_over():
            if time.monotonic() > deadline:
                os.kill(self._process, signal.SIGKILL)  # the command goes with its supervisor
                os.waitpid(self._process, 0)
                return HANGS
            time.sleep(0.005)
        assert self._code is not None
        return self._code

    def _is_over(self) -> bool:
        if self._code is None:
            process, status = os.waitpid(self._process, os.WNOHANG)
            self._code = os.waitstatus_to_exitcode(status) if process else None
        return self._code is not None


#: What a process runs; it ends with its exit code by SystemExit.
Work = Callable[[], object]
#: Talks to the running command; it must end after this.
Drive = Callable[[Running], None]


class Injector:
    """Runs functions whose files are below `root`; `scratch` is for the library and its logs."""

    def __init__(self, root: Path, scratch: Path) -> None:
        self._root, self._scratch = root, scratch
        library = scratch / "inject.so"
        compiler = shutil.which("cc") or "cc"
        flags = ("-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC")
        subprocess.run([compiler, *flags, "-o", str(library), str(_SOURCE)], check=True)
        self._supervise = ctypes.CDLL(str(library)).supervise

    def run(self, work: Work, fault: tuple[str, int] = ("none", 0), drive: Drive | None = None) -> Ended:
        """Run `work` in a process of its own, with the fault (kind, step), while `drive` talks to it."""
        log, out, err = (self._scratch / name for name in ("steps", "out", "err"))
        for file in (log, out, err):
            file.write_bytes(b"")
        kind, step = fault
        reading, writing = os.pipe()
        supervisor = os.fork()
        if supervisor == 0:
            os.close(writing)
            code = 125
            try:
                code = self._supervise(f"{self._root}/".encode(), kind.encode(), step, str(log).encode())
                if code < 0:
                    code = run_redirected(work, reading, out, err)
            finally:
                os._exit(code)
        os.close(reading)
        running = Running(supervisor, writing, out)
        if drive is not None:
            drive(running)
        os.close(writing)
        code = running.wait(_LIMIT_S)
        return Ended(code, _text(out), _text(err), _steps(log))


def run_redirected(work: Work, stdin: int, out: Path, err: Path) -> int:
    """The exit code of `work`, as the main program of this process, with these files as its streams."""
    for number, file in ((1, out), (2, err)):
        os.dup2(os.open(file, os.O_WRONLY | os.O_APPEND), number)
    os.dup2(stdin, 0)
    sys.stdin, sys.stdout, sys.stderr = os.fdopen(0), os.fdopen(1, "w"), os.fdopen(2, "w")
    try:
        work()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:  # noqa: BLE001 - what the interpreter would print
        traceback.print_exc()
        code = 1
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    return code


def _steps(log: Path) -> list[Step]:
    steps = []
    for line in _text(log).splitlines():
        number, who, call, path = line.split(" ", 3)
        steps.append(Step(int(number), who == "child", call, path))
    return steps


def _text(path: Path) -> str:
    return os.fsdecode(path.read_bytes())

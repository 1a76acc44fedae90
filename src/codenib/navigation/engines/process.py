"""A program in, its running child process out, which is ended whatever happens to the caller.

Every child leads a process group of its own, so that all that it starts (`go list`, cargo, a compiler) ends
with it: when its owner closes it, when nobody refers to it, and when this interpreter ends or is killed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
import weakref
from collections import deque
from collections.abc import Callable, Mapping, MutableSequence, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from codenib.core.errors import ProviderError
from codenib.navigation.engines.guardian import GUARDIAN
from codenib.navigation.engines.sandbox import PathPolicy, environment_of, sandbox
from codenib.system.processes import end_tree

_END_S = 2.0
_TAIL_LINES = 12
_LONGEST_LINE = 1 << 14
_private: dict[int, Path] = {}  # the folders of confined processes
_NO_REASON = "it stopped without a reason, perhaps out of memory"


@dataclass(frozen=True, slots=True)
class Program:
    """An outside program and how to start it.

    `name` stands in messages; `hint` is the command that helps when it cannot be started or fails;
    `environment` is laid over our own. With a `policy` it runs in a sandbox, where there is one.
    """

    name: str
    command: tuple[str, ...]
    hint: str
    folder: Path | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    policy: PathPolicy | None = None


class ChildProcess:
    """A running program with pipes. A thread reads its standard error; the last lines explain a failure."""

    def __init__(self, program: Program, understands: Callable[[str], bool] | None = None) -> None:
        """`understands` gets each line of standard error, on that thread; True when it was no error."""
        self._program = program
        self._process = start(program, subprocess.PIPE)
        self._finalizer = weakref.finalize(self, _abandon, self._process)  # at exit too
        self._tail: deque[str] = deque(maxlen=_TAIL_LINES)
        listen = (self._process.stderr, understands, self._tail)
        self._listener = threading.Thread(target=_listen, args=listen, daemon=True)
        self._listener.start()

    @property
    def stdin(self) -> IO[bytes]:
        assert self._process.stdin is not None
        return self._process.stdin

    @property
    def stdout(self) -> IO[bytes]:
        assert self._process.stdout is not None
        return self._process.stdout

    @property
    def pid(self) -> int:
        """The process, which also leads its process group."""
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """The exit code; None while it runs."""
        return self._process.returncode

    @property
    def alive(self) -> bool:
        if self._process.poll() is not None:
            self._end()  # what it started goes with it
        return self._process.returncode is None

    @property
    def resident_bytes(self) -> int:
        """How much memory the process uses; 0 where the system does not say."""
        try:
            status = Path("/proc", str(self.pid), "status").read_text()
        except OSError:
            return 0
        return next((int(row.split()[1]) * 1024 for row in status.splitlines() if row.startswith("VmRSS")), 0)

    def wait(self) -> int:
        """Wait until it ends by itself; its exit code."""
        return self._process.wait()

    def last_lines(self, wait_s: float = 0.0) -> list[str]:
        """The end of its standard error; wait up to `wait_s` for a process that is just ending."""
        self._listener.join(wait_s)
        return list(self._tail)

    def failure(self, reason: str = "") -> ProviderError:
        """End it, and the error that says why it failed: `reason`, or what it wrote last."""
        if not reason:
            reason = "; ".join(self.last_lines(_END_S)) or _NO_REASON
        self.close()
        return ProviderError(f"{self._program.name} failed: {reason}", hint=self._program.hint)

    def end(self) -> None:
        """End it and all that it started; they are gone when this returns."""
        self._end()
        if threading.current_thread() is not self._listener:
            self._listener.join(_END_S)

    def close(self) -> None:
        """End it, and close the pipes."""
        self.end()
        for pipe in (self.stdin, self.stdout):
            close(pipe)

    def _end(self) -> None:
        if self._finalizer.detach():  # once: later its number may be another's
            end_group(self._process)


def start(program: Program, errors: int) -> subprocess.Popen[bytes]:
    """Start a program in a process group of its own; `errors` says where its standard error goes."""
    command, environment, private = _confined(program)
    try:
        # Scripts of a trusted build may write to /dev/stderr, which only a pipe lets them.
        opened = _with_pipes if program.policy is None else _with_sockets
        process = opened(command, program.folder, environment, errors)
    except OSError as error:
        _remove(private)
        raise ProviderError(f"{program.name} cannot be started: {error}", hint=program.hint) from error
    GUARDIAN.watch(process.pid)
    if private is not None:
        _private[process.pid] = private
    return process


def _with_pipes(
    command: Sequence[str], folder: Path | None, environment: Mapping[str, str], errors: int
) -> subprocess.Popen[bytes]:
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command, cwd=folder, env=environment, stdin=pipe, stdout=pipe, stderr=errors, start_new_session=True
    )


def _with_sockets(
    command: Sequence[str], folder: Path | None, environment: Mapping[str, str], errors: int
) -> subprocess.Popen[bytes]:
    """The process with streams that no file of a repository can name.

    A source that includes `/dev/stdin`, by whatever name, opens the pipe on which its reader is spoken to,
    and both wait for ever. A socket cannot be opened by a name.
    """
    import socket

    with ExitStack() as ends:
        pairs = [socket.socketpair() for _ in range(3)]
        for end in (each for pair in pairs for each in pair):
            ends.enter_context(end)
        (own_in, their_in), (own_out, their_out), (own_err, their_err) = pairs
        has_errors = errors == subprocess.PIPE
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=their_in.fileno(),
            stdout=their_out.fileno(),
            stderr=their_err.fileno() if has_errors else errors,
            start_new_session=True,
        )
        process.stdin = os.fdopen(own_in.detach(), "wb")
        process.stdout = os.fdopen(own_out.detach(), "rb")
        process.stderr = os.fdopen(own_err.detach(), "rb") if has_errors else None
    return process


def _confined(program: Program) -> tuple[Sequence[str], dict[str, str], Path | None]:
    """Command, variables and private folder of a program: its own where nothing confines it."""
    box = sandbox() if program.policy is not None else None
    if program.policy is None or box is None or not box.mechanism:
        return program.command, {**os.environ, **program.environment}, None
    private = GUARDIAN.private_folder()
    environment = environment_of(program.policy, program.environment, private)
    return box.command(program.policy, program.command, private), environment, private


def _remove(private: Path | None) -> None:
    if private is not None:
        shutil.rmtree(private, ignore_errors=True)


def end_group(process: subprocess.Popen[bytes]) -> None:
    """End the whole process group, before the leader is waited for: until then its number is not reused."""
    end_tree(process)
    GUARDIAN.release(process.pid)
    with suppress(subprocess.TimeoutExpired):
        process.wait(_END_S)
    _remove(_private.pop(process.pid, None))


def _abandon(process: subprocess.Popen[bytes]) -> None:
    """End what nobody refers to any more; the thread that listens closes its own pipe."""
    end_group(process)
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            close(pipe)


def read_some(pipe: IO[bytes]) -> bytes:
    """What the pipe has now, waiting for at least one byte; empty at its end."""
    try:
        return os.read(pipe.fileno(), 1 << 16)
    except (OSError, ValueError):
        return b""


def close(pipe: IO[bytes]) -> None:
    """Close a pipe whose other end may be gone."""
    with suppress(OSError):
        pipe.close()


def read_progress(text: str) -> tuple[str, int, int]:
    """What a line says behind `progress`: a stage or none, how many are done, and of how many (0: not said).

    >>> read_progress("3"), read_progress("3 9"), read_progress("types 3 9")
    (('', 3, 0), ('', 3, 9), ('types', 3, 9))
    """
    words = text.split()
    done, total = [*(int(word) for word in words[-2:] if word.isdecimal()), 0, 0][:2]
    return " ".join(word for word in words if not word.isdecimal()), done, total


def _listen(pipe: IO[bytes], understands: Callable[[str], bool] | None, tail: MutableSequence[str]) -> None:
    rest = b""
    while data := read_some(pipe):
        *lines, rest = (rest + data).split(b"\n")
        rest = rest[-_LONGEST_LINE:]
        for line in lines:
            _hear(line, understands, tail)
    _hear(rest, understands, tail)
    close(pipe)


def _hear(line: bytes, understands: Callable[[str], bool] | None, tail: MutableSequence[str]) -> None:
    text = line.decode(errors="replace").rstrip()
    if text and (understands is None or not understands(text)):
        tail.append(text.removeprefix("error "))

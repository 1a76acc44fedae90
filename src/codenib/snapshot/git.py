"""The one place that runs git: arguments in, bytes out, failures as errors of our tree.

Every call is local and reads only: no prompt, no hook, no file system monitor, no network, no object that a
replace ref puts in the place of another. What a hook inherits (GIT_DIR, GIT_INDEX_FILE) does not leak in. A
repository's configuration may be a stranger's (a copied folder), so no program that it names runs.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from codenib.core.errors import InputError, ProviderError
from codenib.system.processes import limit_memory

# The rest of GIT_* says where some other git command works; these say how the user set git up.
_PASSED_ON = ("GIT_CONFIG_", "GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM", "GIT_EXEC_PATH")

_FIXED = {
    "LC_ALL": "C",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    # Above protocol.NAME.allow of any configuration: a lazy fetch over `ext::` would run a program.
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_ASKPASS": "",
    "GIT_PAGER": "cat",
}

_OPTIONS = (
    "core.fsmonitor=false",
    "core.quotepath=false",
    "core.hooksPath=/dev/null",
    "core.splitIndex=false",  # a split private index would write its shared half into the user's .git
    "protocol.allow=never",  # git before 2.45 does not know GIT_NO_LAZY_FETCH
    "core.sshCommand=false",
    "core.askPass=",
    "credential.helper=",
    "diff.external=",
    "log.showSignature=false",  # else gpg.program runs
)
#: Bytes of one answer that lists files: three million paths. A tree of a few kilobytes can name 10^10.
MOST_LISTED = 256 << 20
#: Bytes of memory that git may take for one answer: the list of 10^6 changes fits.
_MOST_MEMORY = 512 << 20
_PIPE = 1 << 16
_STALL_S = 2.0  # git is slower than this on very large worktrees, or waits for a pipe that nobody writes
#: Where a user's own configuration is; the rest belongs to a repository.
_OWN_SCOPES = frozenset({"system", "global", "command"})


@dataclass(frozen=True, slots=True)
class Result:
    """What a git command answered."""

    code: int
    out: bytes
    err: str


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Our environment without what points git at another repository."""
    ours = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GIT_") or name.startswith(_PASSED_ON)
    }
    return {**ours, **_FIXED, **(extra or {})}


def without_filters(args: Sequence[str]) -> dict[str, str]:
    """Variables with which `git *args …` runs no filter that the repository's configuration defines.

    `git status` cleans a file whose times changed, by `filter.NAME.clean` or `.process`. Filters of the
    user's own configuration (Git LFS) stay: without them unchanged files would count as changed.
    """
    out = run([*args, "config", "--show-scope", "--null", "--get-regexp", r"^filter\."], ok=(0, 1))
    own: dict[str, str] = {}
    settings: dict[str, str] = {}
    fields = os.fsdecode(out).split("\0")[:-1]
    for scope, entry in zip(fields[::2], fields[1::2], strict=True):
        key, _, value = entry.partition("\n")
        if scope in _OWN_SCOPES:
            own[key] = value
        else:  # an empty `process` turns `clean` off too, so only what was set is set again
            settings[key] = "false" if key.endswith(".required") else ""
    settings |= {key: own[key] for key in settings if key in own}
    return configured(settings)


def configured(settings: Mapping[str, str]) -> dict[str, str]:
    """Variables that lay `settings` over every configuration; unlike `-c`, keys may have any characters."""
    if not settings:
        return {}
    count = int(os.environ.get("GIT_CONFIG_COUNT") or 0)
    chosen = {"GIT_CONFIG_COUNT": str(count + len(settings))}
    for number, (key, value) in enumerate(settings.items(), count):
        chosen |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return chosen


def start(
    args: Sequence[str], *, env: Mapping[str, str] | None = None, err: IO[bytes] | int = subprocess.PIPE
) -> subprocess.Popen[bytes]:
    """Start `git *args` with pipes at both ends; the caller waits for it."""
    options = [part for option in _OPTIONS for part in ("-c", option)]
    try:
        return subprocess.Popen(
            ["git", *options, *args],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=err,
            env=environment(env),
            bufsize=1 << 16,
        )
    except FileNotFoundError as error:
        raise ProviderError(
            "git is not installed or not on PATH", hint="install git 2.31 or newer"
        ) from error
    except OSError as error:
        raise ProviderError(f"git cannot be started: {error.strerror}") from error


def finish(
    process: subprocess.Popen[bytes], stdin: bytes = b"", *, on_stall: Callable[[], None] | None = None
) -> Result:
    """Feed `stdin`, wait for the end, collect everything. `on_stall` may raise when it takes long."""
    given: bytes | None = stdin
    with process:
        try:
            while True:
                try:
                    out, err = process.communicate(given, timeout=_STALL_S)
                    break
                except subprocess.TimeoutExpired:
                    given = None  # what is left of it is sent on
                    if on_stall is not None:
                        on_stall()
                        on_stall = None
                    if waits_for_pipe(process):
                        raise InputError(WAITS, hint=FIND_PIPES) from None
        except BaseException:
            process.kill()
            raise
    return Result(process.returncode, out, err.decode("utf-8", "replace").strip())


def list_files(args: Sequence[str]) -> bytes:
    """The output of a command that lists files; one that would fill the memory is an InputError."""
    try:
        return run_bounded(args, MOST_LISTED)
    except OutputTooLarge as error:
        what = f"git {_verb(args)} names too many files: over {MOST_LISTED >> 20} MB of paths"
        raise InputError(what, hint="git log --stat, to find the commit that brought them") from error


def run_bounded(
    args: Sequence[str],
    most_bytes: int,
    *,
    stdin: bytes = b"",
    env: Mapping[str, str] | None = None,
    memory_bytes: int = _MOST_MEMORY,
) -> bytes:
    """The output of git; OutputTooLarge when it is over `most_bytes`, or takes git over `memory_bytes`.

    `stdin` is short: it has to fit into a pipe.
    """
    with (
        tempfile.TemporaryFile() as errors,
        start(args, env=env, err=errors) as process,
        unless_stuck(process),
    ):
        assert process.stdin is not None and process.stdout is not None
        limit_memory(process.pid, memory_bytes)
        with suppress(BrokenPipeError):
            process.stdin.write(stdin)
            process.stdin.close()
        parts, size = [], 0
        while part := process.stdout.read(_PIPE):
            parts.append(part)
            size += len(part)
            if size > most_bytes:
                process.kill()
                raise OutputTooLarge(f"git {_verb(args)} writes over {most_bytes >> 20} MB")
        process.wait()
        errors.seek(0)
        result = Result(process.returncode, b"".join(parts), errors.read().decode("utf-8", "replace").strip())
    if result.code and "out of memory" in result.err.lower():
        raise OutputTooLarge(f"git {_verb(args)} takes over {memory_bytes >> 20} MB")
    return checked(result, args)


class OutputTooLarge(ProviderError):
    """What was asked for does not fit into memory: trees that share their parts name more than a disk has."""


WAITS = "a pipe or a device stands in the place of one of git's files, and git waits for it"
FIND_PIPES = "find .git -not -type d -not -type f"


def waits_for_pipe(process: subprocess.Popen[bytes]) -> bool:
    """Whether git waits for somebody to write into a pipe that it took for a file; unknown counts as no."""
    try:
        return Path(f"/proc/{process.pid}/wchan").read_text() in ("wait_for_partner", "fifo_open")
    except OSError:
        return False


@contextmanager
def unless_stuck(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Kill git when it comes to wait for a pipe; whoever reads from it here gets an InputError."""
    over, stuck = threading.Event(), threading.Event()

    def look() -> None:
        while not over.wait(_STALL_S):
            if waits_for_pipe(process):
                stuck.set()
                process.kill()

    thread = threading.Thread(target=look, name="git", daemon=True)
    thread.start()
    try:
        yield
    except Exception:
        if stuck.is_set():
            raise InputError(WAITS, hint=FIND_PIPES) from None
        raise
    finally:
        over.set()


def call(args: Sequence[str], *, stdin: bytes = b"", env: Mapping[str, str] | None = None) -> Result:
    """Run git to its end; a failure is the caller's to judge."""
    return finish(start(args, env=env), stdin)


def run(
    args: Sequence[str],
    *,
    stdin: bytes = b"",
    env: Mapping[str, str] | None = None,
    ok: Sequence[int] = (0,),
) -> bytes:
    """The output of git; an exit status outside `ok` is a ProviderError with git's own words."""
    return checked(call(args, stdin=stdin, env=env), args, ok)


def checked(result: Result, args: Sequence[str], ok: Sequence[int] = (0,)) -> bytes:
    """The output of a command that must have ended with one of `ok`."""
    if result.code not in ok:
        raise ProviderError(f"git {_verb(args)} failed: {result.err or f'exit status {result.code}'}")
    return result.out


def _verb(args: Sequence[str]) -> str:
    """The subcommand among `args`, for messages."""
    skip = False
    for arg in args:
        if skip or arg.startswith("-"):
            skip = arg in ("-C", "-c")
            continue
        return arg
    return ""

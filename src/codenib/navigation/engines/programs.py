"""A program in, what it wrote out, once it has ended; for programs that only have to run to their end."""

from __future__ import annotations

import subprocess
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from codenib.core.errors import ProviderError
from codenib.navigation.engines.process import Program, end_group, start

_TAIL_LINES = 12


@dataclass(frozen=True, slots=True)
class ProgramResult:
    """How a program ended: its exit code and its two outputs."""

    code: int
    output: str
    errors: str

    @property
    def tail(self) -> str:
        """The last lines of both outputs, each on an indented line of its own."""
        return indented((self.output + self.errors).splitlines()[-_TAIL_LINES:])


def run_program(program: Program, timeout_s: float | None = None) -> ProgramResult:
    """Run a program to its end, whatever its exit code; `ProviderError` when it cannot or takes too long."""
    process = start(program, subprocess.PIPE)
    try:
        output, errors = process.communicate(b"", timeout_s)
    except subprocess.TimeoutExpired as error:
        raise ProviderError(f"{program.name} took longer than {timeout_s:g} s", hint=program.hint) from error
    finally:
        end_group(process)
        with process:
            pass  # closes the pipes
    return ProgramResult(process.returncode, output.decode(errors="replace"), errors.decode(errors="replace"))


def stream_output(program: Program) -> Iterator[str]:
    """The lines of both outputs as they come; `ProviderError` with the last ones when it fails."""
    process = start(program, subprocess.STDOUT)
    tail: deque[str] = deque(maxlen=_TAIL_LINES)
    assert process.stdin and process.stdout
    try:
        process.stdin.close()
        for raw in process.stdout:
            if line := raw.decode(errors="replace").rstrip():
                tail.append(line.rpartition("\r")[2])  # what a terminal would still show
                yield line
        code = process.wait()
    finally:
        end_group(process)
        process.stdout.close()
    if code:
        raise ProviderError(f"{program.name} ended with {code}{indented(tail)}", hint=program.hint)


def indented(lines: deque[str] | list[str]) -> str:
    return "".join(f"\n    {line}" for line in lines)

"""Programs that run to their end: outputs, exit codes and time limits."""

from __future__ import annotations

import sys

import pytest

from codenib.core.errors import ProviderError
from codenib.navigation.engines.process import Program
from codenib.navigation.engines.programs import run_program, stream_output


def python(script: str) -> Program:
    return Program("the test program", (sys.executable, "-c", script), "codenib doctor")


def test_a_program_gives_both_outputs_and_its_exit_code() -> None:
    script = "import sys; print('out', sys.stdin.read()); print('err', file=sys.stderr); sys.exit(2)"
    result = run_program(python(script))
    assert (result.code, result.output, result.errors) == (2, "out \n", "err\n")
    assert result.tail == "\n    out \n    err"


def test_a_program_that_takes_too_long_is_ended() -> None:
    with pytest.raises(ProviderError, match=r"took longer than 0\.1 s"):
        run_program(python("import time; time.sleep(600)"), 0.1)


def test_lines_are_streamed_and_a_failure_shows_the_last() -> None:
    lines = stream_output(python("import sys; print('one'); print(flush=True); sys.exit('two')"))
    assert next(lines) == "one"
    with pytest.raises(ProviderError, match=r"ended with 1\n    one\n    two"):
        list(lines)

"""Child processes: they end with all that they started, and a failure says what they wrote last."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from codenib.core.errors import ProviderError
from codenib.navigation.engines.process import ChildProcess, Program

PARENT = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print(child.pid, flush=True)
child.wait()
"""


def python(script: str, **environment: str) -> Program:
    return Program("the test engine", (sys.executable, "-c", script), "codenib doctor", None, environment)


def test_ending_a_child_ends_what_it_started() -> None:
    child = ChildProcess(python(PARENT))
    assert int(child.stdout.readline())
    assert child.resident_bytes > 0
    child.end()
    assert child.stdout.read() == b""  # the grandchild has the pipe too: else this waits for it
    assert child.exit_code == -9
    child.close()


def test_a_child_that_nobody_refers_to_is_ended() -> None:
    child = ChildProcess(python(PARENT))
    assert int(child.stdout.readline())
    with os.fdopen(os.dup(child.stdout.fileno()), "rb") as output:
        del child
        assert output.read() == b""


def test_a_child_that_died_takes_what_it_started_with_it() -> None:
    child = ChildProcess(python(PARENT))
    assert int(child.stdout.readline())
    os.kill(child.pid, 9)
    while child.alive:
        pass
    assert child.stdout.read() == b""
    child.close()


def test_a_failure_says_what_the_child_wrote_last() -> None:
    script = "import sys; print('progress 1', 'error out of cheese', sep='\\n', file=sys.stderr); sys.exit(3)"
    child = ChildProcess(python(script), lambda line: line.startswith("progress"))
    assert child.wait() == 3
    error = child.failure()
    assert error.message == "the test engine failed: out of cheese"
    assert error.hint == "codenib doctor"


def test_the_environment_is_laid_over_our_own() -> None:
    child = ChildProcess(python("import os; print(os.environ['ADDED'], 'PATH' in os.environ)", ADDED="yes"))
    assert child.stdout.read().split() == [b"yes", b"True"]
    child.close()


def test_a_program_that_is_not_there_is_an_error_with_its_hint(tmp_path: Path) -> None:
    with pytest.raises(ProviderError, match="ghost cannot be started") as caught:
        ChildProcess(Program("ghost", (str(tmp_path / "ghost"),), "codenib tools"))
    assert caught.value.hint == "codenib tools"


KILLED = """
import os, sys, signal
from codenib.navigation.engines.process import ChildProcess, Program
inner = f"import time; file = open({sys.argv[1]!r}, 'w'); print('here', flush=True); time.sleep(600)"
script = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {inner!r}])"
child = ChildProcess(Program("engine", (sys.executable, "-c", script), ""))
ended = ChildProcess(Program("engine", ("true",), ""))
ended.close()
child.stdout.readline()
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_parent_that_is_killed_takes_its_engines_with_it(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen([sys.executable, "-c", KILLED, str(pipe)]) as parent:
        with pipe.open("rb") as reader:  # once what the engine started has opened it
            assert reader.read() == b""  # until that has ended
        assert parent.wait() == -9

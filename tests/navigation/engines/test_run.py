"""Runs of an engine over files: lines, progress and notes come out, failures say why."""

from __future__ import annotations

import json
import sys

import pytest

from codenib.core.errors import ProviderError
from codenib.navigation.engines.process import Program
from codenib.navigation.engines.run import EngineRun, empty_line, fill_unread, path_of

ENGINE = """
import sys
names = sys.stdin.read().split()
print("progress load 1 4", "note no network", file=sys.stderr, sep="\\n", flush=True)
for at, name in enumerate(names):
    print(name.upper(), flush=True)
    print("progress", at + 1, file=sys.stderr, flush=True)
print('report {"files": %d}' % len(names), file=sys.stderr, flush=True)
"""


def program(script: str) -> Program:
    return Program("the test engine", (sys.executable, "-c", script), "codenib doctor")


def silent(stage: str, done: int, total: int) -> None:
    """Nobody listens."""


def test_an_engine_gives_lines_progress_notes_and_its_report() -> None:
    told: list[tuple[str, int, int]] = []
    run = EngineRun(program(ENGINE), "test", lambda *progress: told.append(progress))
    assert list(run.lines(["a", "b"])) == [b"A", b"B"]
    assert told == [("facts of test: load", 1, 4), ("facts of test", 1, 2), ("facts of test", 2, 2)]
    assert run.notes == ["no network"]
    assert run.report() == {"files": 2}


def test_an_engine_that_fails_says_why() -> None:
    script = "import sys; print('error no such project', file=sys.stderr); sys.exit(1)"
    with pytest.raises(ProviderError, match="the test engine failed: no such project"):
        list(EngineRun(program(script), "test", silent).lines(["a"] * 100_000))


def test_an_engine_that_is_killed_is_no_success() -> None:
    with pytest.raises(ProviderError, match="perhaps out of memory"):
        list(EngineRun(program("import os; os.kill(os.getpid(), 9)"), "test", silent).lines(["a"]))


def test_an_engine_that_says_nothing_is_ended() -> None:
    run = EngineRun(program("import threading; threading.Event().wait()"), "test", silent, silent_s=0.05)
    with pytest.raises(ProviderError, match="said nothing"):
        list(run.lines([]))


@pytest.mark.skipif(sys.platform != "linux", reason="CPU time is not told")
def test_one_that_a_busy_machine_does_not_let_run_is_not_silent() -> None:
    # Stopped, it neither sleeps nor works, as while others have the processors.
    script = """
import os, signal, threading
if not (other := os.fork()):
    threading.Event().wait(1.0)
    os.kill(os.getppid(), signal.SIGCONT)
    os._exit(0)
os.kill(os.getpid(), signal.SIGSTOP)
os.waitpid(other, 0)
print("a", flush=True)
"""
    run = EngineRun(program(script), "test", silent, silent_s=0.3)
    assert list(run.lines(["a"])) == [b"a"]


@pytest.mark.skipif(sys.platform != "linux", reason="CPU time is not told")
def test_an_engine_that_works_long_without_a_word_is_ended_sooner() -> None:
    run = EngineRun(program("while True: pass"), "test", silent, silent_cpu_s=0.2)
    with pytest.raises(ProviderError, match=r"said nothing for 0\.2 s of CPU time"):
        list(run.lines(["a"]))


def test_an_engine_without_its_report_is_no_success() -> None:
    run = EngineRun(program("pass"), "test", silent)
    assert list(run.lines([])) == []
    with pytest.raises(ProviderError, match="ended without its report"):
        run.report()


def test_files_that_the_engine_does_not_read_get_an_empty_line() -> None:
    files = ["a.py", "b.pyx", "c.py"]
    lines = fill_unread(files, lambda name: name.endswith(".py"), iter([b"A", b"C"]), program(""))
    assert list(lines) == [b"A", empty_line("b.pyx"), b"C"]
    assert json.loads(empty_line("b.pyx"))["nodes"] == []


@pytest.mark.parametrize(
    ("lines", "reason"), [([b"A"], "no facts of c.py"), ([b"A", b"C", b"D"], "more than one line")]
)
def test_too_few_or_too_many_lines_are_an_error(lines: list[bytes], reason: str) -> None:
    with pytest.raises(ProviderError, match=reason):
        list(fill_unread(["a.py", "c.py"], lambda name: True, iter(lines), program("")))


def test_the_path_of_a_line_is_read_without_the_rest() -> None:
    assert path_of(empty_line('odd "näme".py')) == 'odd "näme".py'

"""A watched process ends when it takes too much, or waits though it owes an answer; else it stays."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest

from codenib.navigation.engines.process import ChildProcess, Program
from codenib.navigation.engines.watchdog import Watchdog

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the clock counts")
BUSY = "print(1, flush=True)\nwhile True: pass"
BUSY_CHILD = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {BUSY!r}])"
ASLEEP = "import sys; print(1, flush=True); sys.stdin.read()"


def watched(script: str, *, cpu_s: float, owes: bool) -> str:
    """Why the process that runs `script` was ended; it may be seen to live first."""
    child = ChildProcess(Program("it", (sys.executable, "-c", script), ""))
    assert child.stdout.readline() == b"1\n"
    watchdog = Watchdog(child.pid, child.end, lambda: owes, asleep_s=0.3)
    with watchdog.allot(cpu_s):
        assert child.stdout.read() == b""  # until it is ended
    child.close()
    return watchdog.reason


@pytest.mark.parametrize("script", [BUSY, BUSY_CHILD])
def test_what_takes_too_much_cpu_time_is_ended_with_its_children(script: str) -> None:
    assert watched(script, cpu_s=0.2, owes=False) == "it took over 0.2 s of CPU time"


def test_what_sleeps_though_it_owes_an_answer_is_ended() -> None:
    assert watched(ASLEEP, cpu_s=60, owes=True).startswith("it waits for what never comes")


def test_what_answers_within_its_time_stays() -> None:
    script = "for line in open(0): print(line, end='', flush=True)"
    child = ChildProcess(Program("it", (sys.executable, "-c", script), ""))
    watchdog = Watchdog(child.pid, child.end, lambda: False, asleep_s=0.01)
    for _ in range(2):
        with watchdog.allot(60):
            child.stdin.write(b"a\n")
            child.stdin.flush()
            assert child.stdout.readline() == b"a\n"
    assert child.alive and not watchdog.reason
    child.close()


STARVED = """
import subprocess, sys, time
from codenib.navigation.engines.watchdog import Watchdog
child = subprocess.Popen(["sleep", "9"])
watchdog = Watchdog(child.pid, child.kill, lambda: True, asleep_s=0.5)
with watchdog.allot(9.0):
    print("ready", flush=True)
    sys.stdin.readline()
    time.sleep(0.15)
child.kill()
child.wait()
print(watchdog.reason or "stays")
"""


def test_what_sleeps_while_the_watchdog_cannot_look_stays() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", STARVED], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as starved:
        assert starved.stdin is not None
        assert starved.stdout is not None
        assert starved.stdout.readline() == "ready\n"
        starved.send_signal(signal.SIGSTOP)
        time.sleep(1.0)
        starved.stdin.write("\n")
        starved.stdin.flush()
        starved.send_signal(signal.SIGCONT)
        assert starved.stdout.read() == "stays\n"

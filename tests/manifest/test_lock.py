from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from codenib.core.errors import StateError
from codenib.manifest.lock import exclusive, shared

_HOLD = """
import sys
from pathlib import Path
from codenib.manifest.lock import exclusive
with exclusive(Path(sys.argv[1]), timeout_s=0):
    print("held", flush=True)
    sys.stdin.read()
"""

_WAIT = """
import sys
from pathlib import Path
from codenib.manifest.lock import exclusive
print("waiting", flush=True)
with exclusive(Path(sys.argv[1]), timeout_s=60):
    print("mine")
"""


def test_a_second_writer_is_refused_with_the_process_that_writes(tmp_path: Path) -> None:
    lock = tmp_path / "writer.lock"
    with (
        exclusive(lock, timeout_s=0),
        pytest.raises(StateError, match=rf"process {os.getpid()} still holds .*writer\.lock"),
        exclusive(lock, timeout_s=0),
    ):
        raise AssertionError("two writers at once")


def test_a_crash_releases_the_lock(tmp_path: Path) -> None:
    lock = tmp_path / "writer.lock"
    command = [sys.executable, "-c", _HOLD, str(lock)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(StateError), exclusive(lock, timeout_s=0):
            raise AssertionError("two writers at once")
        holder.send_signal(signal.SIGKILL)
        holder.wait()
        with exclusive(lock, timeout_s=0):
            assert lock.read_text() == f"{os.getpid()}\n"


def test_the_holder_is_named_alone_after_a_longer_name_was_left(tmp_path: Path) -> None:
    lock = tmp_path / "writer.lock"
    lock.write_text("12345678901234\n")
    with exclusive(lock, timeout_s=0):
        assert lock.read_text() == f"{os.getpid()}\n"


def test_a_waiting_writer_gets_the_lock_when_it_is_released(tmp_path: Path) -> None:
    lock = tmp_path / "writer.lock"
    with exclusive(lock, timeout_s=0):
        second = subprocess.Popen([sys.executable, "-c", _WAIT, str(lock)], stdout=subprocess.PIPE, text=True)
        assert second.stdout is not None
        assert second.stdout.readline() == "waiting\n"
    with second:
        assert second.stdout.read() == "mine\n"


def test_shared_holders_do_not_exclude_each_other_but_the_exclusive_one(tmp_path: Path) -> None:
    lock = tmp_path / "gc.lock"
    with exclusive(lock, timeout_s=0):
        pass
    with (
        shared(lock, timeout_s=0),
        shared(lock, timeout_s=0),
        pytest.raises(StateError, match="another codenib process still holds"),
    ):
        exclusive(lock, timeout_s=0).__enter__()


def test_a_lock_is_free_after_an_error_inside(tmp_path: Path) -> None:
    lock = tmp_path / "writer.lock"
    with pytest.raises(ValueError, match="inside"), exclusive(lock, timeout_s=0):
        raise ValueError("inside")
    with exclusive(lock, timeout_s=0):
        pass

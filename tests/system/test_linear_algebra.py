"""numpy, loaded for one question."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

CODE = (
    "import os, sys; from codenib.system.linear_algebra import load_numpy_beside as load\n"
    "thread = load(); thread.join()\n"
    # A joined thread may still be on its way out of the system's list.
    "while os.path.exists(f'/proc/self/task/{thread.native_id}'): os.sched_yield()\n"
    "print('numpy' in sys.modules, os.environ.get('OPENBLAS_NUM_THREADS'), load())\n"
)


def _loaded(code: str, **variables: str) -> str:
    ours = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**ours, **variables}
    )
    return done.stdout.strip()


def test_programs_that_are_started_later_inherit_no_limit() -> None:
    assert _loaded(CODE) == "True None None"


def test_what_the_user_set_stays() -> None:
    assert _loaded(CODE, OPENBLAS_NUM_THREADS="2") == "True 2 None"


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="needs /proc")
def test_numpy_starts_no_threads() -> None:
    assert _loaded(f"{CODE}print(len(os.listdir('/proc/self/task')))").splitlines()[-1] == "1"

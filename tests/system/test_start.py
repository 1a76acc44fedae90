"""What only POSIX has is not imported to start, and a question is answered by the Windows side of our own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from tests.gitrepo import GitRepo

ROOT = Path(__file__).parents[2]
#: Blocks modules that Windows has not, takes from `os` what it has not (of what the standard library can do
#: without here), and puts a fake in the place of `msvcrt`.
_AS_ON_WINDOWS = """
import os, subprocess, sys  # the standard library's own goes by whether there is a msvcrt
for name in ("fcntl", "resource", "pwd", "grp", "termios", "tty", "pty"):
    sys.modules[name] = None
for name in "O_NOFOLLOW O_CLOEXEC geteuid getuid killpg pread pwrite nice getloadavg".split():
    delattr(os, name)
sys.path.insert(0, ROOT)
from tests.system import fake_msvcrt
sys.modules["msvcrt"] = fake_msvcrt
sys.path.pop(0)
"""
_ASK = """
import codenib.adapters.cli.main
from codenib.system.locks import LOCKS, ByteRangeLocks
assert isinstance(LOCKS, ByteRangeLocks)
import codenib
with codenib.open(sys.argv[1]) as workspace:
    print([item.symbol for item in workspace.search("harbour")])
    print(workspace.read("a.py").text)
    print(any(workspace.verify().values()))
os.symlink("/etc/hostname", os.path.join(sys.argv[1], "codenib.toml"))
with codenib.open(sys.argv[1]) as workspace:
    try:
        workspace.search("harbour")
    except codenib.InputError as error:
        print(error.message)
"""


def test_a_question_is_answered_without_what_only_posix_has(git_repo: Callable[..., GitRepo]) -> None:
    repo = git_repo()
    repo.commit({"a.py": "def harbour(ship):\n    return ship\n"})
    script = f"ROOT = {str(ROOT)!r}\n{_AS_ON_WINDOWS}\n{_ASK}"
    command = [sys.executable, "-c", script, str(repo.path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "['harbour']",
        "def harbour(ship):",
        "    return ship",
        "False",
        "codenib.toml is not read, as it is symbolic link",
    ]

"""What a person before a terminal gets: colour, pager, remarks; and a pipe whose reader goes away."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from tests.gitrepo import GitRepo

_LONG = "".join(f"def save_{number}(): ...\n" for number in range(60))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("terminal") / "project"
    repository = GitRepo(root)
    repository.commit({"long.py": _LONG})
    return root


def _codenib(place: Path, *args: str) -> list[str]:
    return [sys.executable, "-m", "codenib", "-C", str(place), *args]


def _on_terminal(command: list[str], **environment: str) -> str:
    """What a terminal of 24 lines shows, with `P:` before each line that went through the pager."""
    ours, theirs = pty.openpty()
    chosen = {"TERM": "xterm", "PAGER": "sed s/^/P:/", "LINES": "24", "COLUMNS": "80", **environment}
    usual = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=usual | chosen) as child:
        os.close(theirs)
        shown = b""
        try:
            while part := os.read(ours, 1 << 16):
                shown += part
        except OSError:  # how Linux says that the other end is closed
            pass
    os.close(ours)
    assert child.returncode == 0, shown
    return shown.decode()


def test_long_output_is_paged_and_short_output_is_not(place: Path) -> None:
    long = _on_terminal(_codenib(place, "read", "long.py"))
    short = _on_terminal(_codenib(place, "read", "long.py:1-3"))
    refused = _on_terminal(_codenib(place, "read", "long.py", "--no-pager"))

    assert "P:" in long
    assert "save_59" in long
    assert "P:" not in short + refused


def test_colours_follow_the_terminal_the_environment_and_the_option(place: Path) -> None:
    read = _codenib(place, "read", "long.py:1-3")

    assert "\x1b[" in _on_terminal(read)
    assert "\x1b[" not in _on_terminal(read, NO_COLOR="1")
    assert "\x1b[" not in _on_terminal(read, TERM="dumb")
    assert "\x1b[" in _on_terminal([*read, "--color", "always"], NO_COLOR="1")
    assert "\x1b[" not in _on_terminal([*read, "--color", "never"])


def test_a_reader_that_goes_away_is_no_failure_and_nothing_is_said(place: Path) -> None:
    for command in (("regex", "save", "-k", "0"), ("search", "save", "--json")):
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run(_codenib(place, *command), stdout=writer, stderr=subprocess.PIPE, text=True)
        os.close(writer)
        assert done.returncode == 0
        assert "codenib:" not in done.stderr
        assert "rror" not in done.stderr


def test_quiet_says_the_answer_alone_and_verbose_says_why(place: Path) -> None:
    def remarks(*options: str) -> str:
        command = _codenib(place, "search", "save", "-k", "1", *options)
        return subprocess.run(command, capture_output=True, text=True, check=True).stderr

    assert "matching units" in remarks()
    assert remarks("--quiet") == ""
    assert "route hybrid, because it is a short question" in remarks("-v")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_the_script_of_a_shell(place: Path, shell: str) -> None:
    command = _codenib(place, "completion", shell)
    assert "_CODENIB_COMPLETE" in subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_a_shell_completes_commands_and_their_options(place: Path) -> None:
    def completed(words: str, position: int) -> list[str]:
        asked = {"COMP_WORDS": words, "COMP_CWORD": str(position), "_CODENIB_COMPLETE": "bash_complete"}
        command = [sys.executable, "-m", "codenib"]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ | asked)
        return [line.partition(",")[2] for line in done.stdout.split()]

    assert completed("codenib sea", 1) == ["search"]
    assert "--route" in completed("codenib search --ro", 2)

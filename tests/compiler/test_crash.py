"""Invariant 3: a kill at any instant loses nothing published, and the next run repairs."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tests.gitrepo import GitRepo

import codenib
from codenib.core.answers import Answer

_WORD = "harbour"


def start(repository: Path, *arguments: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "codenib", "-C", str(repository), *arguments]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def duration_s(repository: Path, *arguments: str) -> float:
    """How long the command takes here, so that the kills fall on all of it."""
    started = time.perf_counter()
    assert start(repository, *arguments).wait() == 0
    return time.perf_counter() - started


def run_killed(repository: Path, delay_s: float, *arguments: str) -> None:
    process = start(repository, *arguments)
    try:
        process.wait(timeout=delay_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def published(repository: Path) -> tuple[Answer, list[str]]:
    """What the published manifest answers to a new process, with the text of each result."""
    with codenib.open(repository) as workspace:
        answer = workspace.search(_WORD, route="lexical", refresh="never")
        return answer, workspace.texts(answer.items, at_snapshot=answer.snapshot.id)


def check_kills(repository: Path, edit: Callable[[int], None], kills: int, *arguments: str) -> int:
    """Kill the command `kills` times; how often the kill came before its manifest was published."""
    chance = random.Random(20_26)
    edit(0)
    limit_s = duration_s(repository, *arguments)
    before, texts_before = published(repository)
    lost_updates = 0
    for number in range(1, kills + 1):
        edit(number)
        run_killed(repository, chance.uniform(0, limit_s), *arguments)
        after, texts_after = published(repository)
        if after.snapshot.id == before.snapshot.id:
            lost_updates += 1
            assert (after.items, texts_after) == (before.items, texts_before)
        with codenib.open(repository) as workspace:
            repaired = workspace.update().manifest.snapshot
            assert after.snapshot.id in (before.snapshot.id, repaired)
            assert not any(workspace.verify().values())
        before, texts_before = published(repository)
        assert before.snapshot.id == repaired
        assert before.items
        assert all(_WORD in text for text in texts_before)
    return lost_updates


def small_repository(make: Callable[..., GitRepo], files: int) -> tuple[Path, Callable[[int], None]]:
    repo = make()
    source = "def {name}():\n    return {number}\n\n\nclass Box{number}:\n    size = {number}\n"
    repo.commit({f"pkg/m{n}.py": source.format(name=f"function_{n}", number=n) for n in range(files)})

    def edit(number: int) -> None:
        repo.write(f"pkg/m{number % 5}.py", f"def {_WORD}_{number}():\n    return 'generation {number}'\n")

    return repo.path, edit


def test_killed_updates_lose_nothing_published(git_repo: Callable[..., GitRepo]) -> None:
    repository, edit = small_repository(git_repo, files=20)
    assert check_kills(repository, edit, 19, "update") > 0


def test_killed_rebuilds_lose_nothing_published(git_repo: Callable[..., GitRepo]) -> None:
    repository, edit = small_repository(git_repo, files=50)  # enough for worker processes
    assert check_kills(repository, edit, 6, "index", "--rebuild", "--views", "lexical,trigram") > 0

"""Invariant 3 for readers: whatever a writer does meanwhile, each answer is whole and of one snapshot."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from tests.gitrepo import GitRepo

import codenib
from codenib.compiler.registry import TEXT_VIEWS

READERS = 8
UPDATES = 25
FILES = 6
_WORD = "harbour"

# Says when it has its first answer, and at the end which different answers it got: the snapshot, how many
# results, and the generations that their texts show.
_READER = """
import re, select, sys
import codenib
repository, refresh, mode = sys.argv[1:]
workspace = codenib.open(repository)
seen = {}
said = False
while not said or not select.select([sys.stdin], [], [], 0)[0]:
    if mode == "reopen":
        workspace = codenib.open(repository)
    answer = workspace.search("harbour", k=50, refresh=refresh)
    texts = workspace.texts(answer.items, at_snapshot=answer.snapshot.id)
    assert all("harbour" in text for text in texts), texts
    found = workspace.regex("gen_[0-9]+", k=None, refresh=refresh)
    lines = [line.text for line in found.items]
    for snapshot, shown in ((answer.snapshot, texts), (found.snapshot, lines)):
        generations = sorted(set(re.findall("gen_[0-9]+", " ".join(shown))))
        seen[f"{snapshot.id} {len(shown)} {' '.join(generations)}"] = None
    if not said:
        print("answered", flush=True)
        said = True
print("\\n".join(seen))
"""


def write_generation(repo: GitRepo, number: int) -> None:
    for index in range(FILES):
        repo.write(f"pkg/m{index}.py", f"def {_WORD}_{index}():\n    return '{_WORD} gen_{number:06}'\n")


def run_readers(repository: Path, refresh: str, work: Callable[[], None]) -> list[str]:
    """Do `work` while the readers ask; their different answers. A reader that failed fails the test."""
    with ExitStack() as stack:
        readers = [
            stack.enter_context(
                subprocess.Popen(
                    [sys.executable, "-c", _READER, str(repository), refresh, ("keep", "reopen")[number % 2]],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                )
            )
            for number in range(READERS)
        ]
        for reader in readers:
            assert reader.stdout is not None
            assert reader.stdout.readline() == "answered\n"
        work()
        answers = [reader.communicate()[0] for reader in readers]
        assert [reader.returncode for reader in readers] == [0] * READERS
    return [line for answer in answers for line in answer.splitlines() if line != "answered"]


def check_generations(repo: GitRepo, updates: int) -> int:
    """Write and update `updates` generations under the readers' eyes; how many snapshots they saw."""
    repo.commit({f"other{n}.py": f"def other_{n}(): ...\n" for n in range(20)})
    write_generation(repo, 0)
    with codenib.open(repo.path) as workspace:
        workspace.index(TEXT_VIEWS)

        def work() -> None:
            for number in range(1, updates + 1):
                write_generation(repo, number)
                assert not workspace.update().nothing_to_do

        answers = run_readers(repo.path, "never", work)
        assert not any(workspace.verify().values())
    for answer in answers:
        _, count, *generations = answer.split()
        assert (int(count), len(generations)) == (FILES, 1), answer
    return len({answer.split()[0] for answer in answers})


def test_readers_see_one_whole_generation_or_another(git_repo: Callable[..., GitRepo]) -> None:
    assert check_generations(git_repo(), UPDATES) > 1


def test_readers_that_refresh_answer_from_one_snapshot_while_files_change(
    git_repo: Callable[..., GitRepo],
) -> None:
    """These readers are writers too; the worktree itself may be between two generations when they look."""
    repo = git_repo()
    write_generation(repo, 0)
    repo.commit()

    def work() -> None:
        for number in range(1, 6):
            write_generation(repo, number)
            with codenib.open(repo.path) as workspace:
                workspace.update()

    answers = run_readers(repo.path, "auto", work)
    assert all(re.fullmatch(r"[0-9a-f]{32} \d+( gen_\d{6})+", answer) for answer in answers)
    with codenib.open(repo.path) as workspace:
        workspace.update()
        assert not any(workspace.verify().values())

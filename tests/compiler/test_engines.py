from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest
from tests.gitrepo import GitRepo
from tests.views.graph.toy import ToyBackend

from codenib.compiler.engines import EditSession, EnginePool, MachineMemory, machine_memory
from codenib.core.source import SourceSnapshot
from codenib.manifest.store import Store
from codenib.serving.workspace import Workspace
from codenib.snapshot.repository import locate


class RecordingEngine:
    """A `DifferenceEngine` that remembers what it was told."""

    settled = False
    requests = 0
    resident_bytes = 0

    def __init__(self) -> None:
        self.told: list[tuple[list[str], list[str]]] = []
        self.alive = True

    def sync(self, files: Sequence[str], changed: Sequence[str]) -> None:
        self.told.append((list(files), list(changed)))

    def differing(self, paths: Sequence[str], *, anew: bool) -> tuple[Mapping[str, bytes], frozenset[str]]:
        return {}, frozenset(paths)

    def close(self) -> None:
        self.alive = False


class RecordingBackend(ToyBackend):
    stays = True
    caveat = ""
    reread_files: frozenset[str] = frozenset()

    def __init__(self) -> None:
        super().__init__()
        self.started: list[RecordingEngine] = []

    def engine(self, root: Path, *, trusted: bool) -> RecordingEngine:
        self.started.append(RecordingEngine())
        return self.started[-1]

    def configures(self, root: Path, path: str, before: bytes | None, after: bytes | None) -> str:
        return ""


@pytest.fixture
def states(git_repo: Callable[..., GitRepo], tmp_path: Path) -> tuple[GitRepo, list[SourceSnapshot]]:
    repo = git_repo()
    found: list[SourceSnapshot] = []
    for files in ({"a.py": "one", "lib/b.py": "b"}, {"a.py": "two"}):
        repo.commit(files)
        if len(found) == 1:
            (repo.path / "lib/b.py").unlink()
            repo.commit()
        with Workspace(repo.path) as workspace:
            found.append(workspace._compiler.take())
    return repo, found


def open_session(
    repo: GitRepo, before: SourceSnapshot, after: SourceSnapshot
) -> tuple[EnginePool, EditSession]:
    repository = locate(repo.path)
    pool = EnginePool(repository, Store(repository.key))
    return pool, pool.open(before, after)


def test_an_engine_stays_and_is_told_only_what_changed(
    states: tuple[GitRepo, list[SourceSnapshot]],
) -> None:
    repo, (first, second) = states
    backend = RecordingBackend()
    pool, session = open_session(repo, first, second)
    engine, start_s = session.engine(backend)
    session.check_out(session.after)
    again, no_start_s = pool.open(second, second).engine(backend)
    assert again is engine and len(backend.started) == 1
    assert start_s > 0 and no_start_s == 0
    assert backend.started[0].told == [
        (["a.py", "lib/b.py"], ["a.py", "lib/b.py"]),
        (["a.py"], ["a.py", "lib/b.py"]),
    ]
    pool.close()
    assert not backend.started[0].alive and pool.running == 0


def test_an_engine_that_ended_is_started_again(states: tuple[GitRepo, list[SourceSnapshot]]) -> None:
    repo, (first, _) = states
    backend = RecordingBackend()
    pool, session = open_session(repo, first, first)
    session.engine(backend)
    backend.started[0].alive = False
    session.engine(backend)
    assert len(backend.started) == 2
    session.end_engine(backend.group)
    assert not backend.started[1].alive
    pool.close()


def test_memory_is_the_containers_where_that_has_less(tmp_path: Path) -> None:
    info = tmp_path / "meminfo"
    info.write_text("MemTotal: 4096 kB\nMemFree: 1 kB\nMemAvailable: 2048 kB\nHugePages_Total: 0\n")
    assert machine_memory(info, tmp_path) == MachineMemory(4096 * 1024, 2048 * 1024)
    (tmp_path / "memory.max").write_text("max\n")
    (tmp_path / "memory.current").write_text("1024\n")
    assert machine_memory(info, tmp_path).total_bytes == 4096 * 1024
    (tmp_path / "memory.max").write_text("1000000\n")
    assert machine_memory(info, tmp_path) == MachineMemory(1000000, 1000000 - 1024)
    assert machine_memory(tmp_path / "none", tmp_path / "none").left_bytes > 1 << 60


def test_the_largest_engine_is_ended_when_all_together_take_too_much_memory(
    states: tuple[GitRepo, list[SourceSnapshot]],
) -> None:
    repo, (first, _) = states
    small, large = RecordingBackend(), RecordingBackend()
    large.group = "another"
    pool, session = open_session(repo, first, first)
    for backend in (small, large):
        session.engine(backend)
    pool.trim()
    assert pool.running == 2
    small.started[0].resident_bytes, large.started[0].resident_bytes = 1 << 20, 1 << 60
    pool.trim()
    assert small.started[0].alive and not large.started[0].alive
    pool.close()

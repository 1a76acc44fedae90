from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from tests.gitrepo import GitRepo
from tests.views.graph.toy import ToyBackend

from codenib.compiler.checkouts import Checkout, Desk, MachineMemory, Workshop, machine_memory
from codenib.core.facts import WireNode
from codenib.core.source import SourceSnapshot
from codenib.manifest.store import Store
from codenib.serving.workspace import Workspace
from codenib.snapshot.blobs import BlobSource
from codenib.snapshot.repository import locate


class RecordingEngine:
    """Satisfies `Engine` as far as a desk needs it, and remembers what it was told."""

    whole = True
    settled = False
    requests = 0
    resident_bytes = 0

    def __init__(self) -> None:
        self.told: list[tuple[list[str], list[str]]] = []
        self.alive = True

    def sync(self, files: Sequence[str], changed: Sequence[str]) -> None:
        self.told.append((list(files), list(changed)))

    def lines(
        self, paths: Sequence[str], within: Mapping[str, Sequence[tuple[int, int]]] | None = None
    ) -> Iterator[bytes]:
        yield from ()

    def differing(self, paths: Sequence[str], *, anew: bool) -> tuple[Mapping[str, bytes], frozenset[str]]:
        return {}, frozenset(paths)

    def nodes(self, paths: Sequence[str]) -> Mapping[str, list[WireNode]]:
        return {}

    def surfaces(
        self,
        paths: Sequence[str],
        touched: Sequence[str] = (),
        entries: Mapping[str, Sequence[str]] | None = None,
        held: Sequence[str] = (),
    ) -> Mapping[str, Mapping[str, str]]:
        return {}

    def imports(self, paths: Sequence[str]) -> Mapping[str, list[str]]:
        return {}

    def apart(self) -> frozenset[str]:
        return frozenset()

    def close(self) -> None:
        self.alive = False


class RecordingBackend(ToyBackend):
    stays = True
    caveat = ""

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


def desk(repo: GitRepo, workshop: Workshop, before: SourceSnapshot, after: SourceSnapshot) -> Desk:
    repository = locate(repo.path)
    store = Store(repository.key)
    source = BlobSource.of(repository, store.blob_store)
    return workshop.desk(source, repository, store.checkouts, before, after, trusted=False)


def test_a_checkout_moves_to_exactly_the_files_of_a_snapshot(
    states: tuple[GitRepo, list[SourceSnapshot]], tmp_path: Path
) -> None:
    repo, (first, second) = states
    repository = locate(repo.path)
    source = BlobSource.of(repository, Store(repository.key).blob_store)
    checkout = Checkout(source, repository, tmp_path / "checkouts")
    for state, expected in ((first, {"a.py": "one", "lib/b.py": "b"}), (second, {"a.py": "two"})):
        checkout.move(state.files)
        there = {path.relative_to(checkout.root).as_posix(): path.read_text()
                 for path in checkout.root.rglob("*") if path.is_file()}  # fmt: skip
        assert there == expected
    assert not (checkout.root / "lib").exists()
    checkout.close()
    assert not checkout.root.exists()


def test_an_engine_stays_and_is_told_only_what_changed(
    states: tuple[GitRepo, list[SourceSnapshot]],
) -> None:
    repo, (first, second) = states
    workshop, backend = Workshop(), RecordingBackend()
    work = desk(repo, workshop, first, second)
    engine, start_s = work.engine(backend)
    work.turn(work.after)
    again, no_start_s = desk(repo, workshop, second, second).engine(backend)
    assert again is engine and len(backend.started) == 1
    assert start_s > 0 and no_start_s == 0
    assert backend.started[0].told == [
        (["a.py", "lib/b.py"], ["a.py", "lib/b.py"]),
        (["a.py"], ["a.py", "lib/b.py"]),
    ]
    workshop.close()
    assert not backend.started[0].alive and workshop.running == 0


def test_an_engine_that_ended_is_started_again(states: tuple[GitRepo, list[SourceSnapshot]]) -> None:
    repo, (first, _) = states
    workshop, backend = Workshop(), RecordingBackend()
    work = desk(repo, workshop, first, first)
    work.engine(backend)
    backend.started[0].alive = False
    work.engine(backend)
    assert len(backend.started) == 2
    work.drop(backend.group)
    assert not backend.started[1].alive
    workshop.close()


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


def test_the_largest_engine_is_ended_when_all_together_hold_too_much(
    states: tuple[GitRepo, list[SourceSnapshot]],
) -> None:
    repo, (first, _) = states
    workshop, small, large = Workshop(), RecordingBackend(), RecordingBackend()
    large.group = "another"
    work = desk(repo, workshop, first, first)
    for backend in (small, large):
        work.engine(backend)
    workshop.trim()
    assert workshop.running == 2
    small.started[0].resident_bytes, large.started[0].resident_bytes = 1 << 20, 1 << 60
    workshop.trim()
    assert small.started[0].alive and not large.started[0].alive
    workshop.close()

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest
from tests.compiler.damage import LONG_SOURCE, damaged_object
from tests.gitrepo import GitRepo

import codenib
from codenib.compiler.records.derive import Job, derive_blob
from codenib.compiler.records.workers import CRASHED, Worker, WorkerSetup, crashed, derive_in_workers
from codenib.compiler.registry import TEXT_VIEWS, derivers_of
from codenib.core.errors import ProviderError
from codenib.core.views import Status, ViewKind
from codenib.snapshot.blobs import BlobSource, LocalBlobs, blob_digest

NAMES = list(derivers_of(TEXT_VIEWS))
DATA = [f"def function_{number}():\n    return {number}\n".encode() for number in range(100)]
JOBS: list[Job] = [(blob_digest(data), "python") for data in DATA]


@pytest.fixture
def source(tmp_path: Path) -> BlobSource:
    with closing(LocalBlobs(tmp_path / "blobs.sqlite")) as local:
        local.put_many((blob_digest(data), data) for data in DATA)
    return BlobSource(None, str(tmp_path / "blobs.sqlite"))


@pytest.fixture
def worker(source: BlobSource) -> Iterator[Worker]:
    with closing(Worker(WorkerSetup(source, NAMES))) as started:
        yield started


def test_workers_derive_what_this_process_would(source: BlobSource) -> None:
    derivers = list(derivers_of(TEXT_VIEWS).values())
    expected = {job: derive_blob(data, "python", derivers) for job, data in zip(JOBS, DATA, strict=True)}
    assert dict(derive_in_workers(JOBS, source, NAMES)) == expected


def test_a_missing_object_derives_nothing(worker: Worker) -> None:
    absent: Job = ("0" * 40, "python")
    assert dict(worker.derive([JOBS[0], absent]))[absent] == []


def test_a_worker_that_was_killed_is_replaced_and_no_blob_is_lost(worker: Worker) -> None:
    expected = worker.derive(JOBS[:3])
    for batch in (JOBS[:3], JOBS[:1]):
        before = worker.pid
        os.kill(before, signal.SIGKILL)
        assert worker.derive(batch) == expected[: len(batch)]
        assert worker.pid != before


def test_a_worker_that_dies_over_a_blob_skips_that_blob_alone(git_repo: Callable[..., GitRepo]) -> None:
    repo = git_repo()
    repo.commit({"long.py": LONG_SOURCE, **{f"m{n}.py": data.decode() for n, data in enumerate(DATA)}})
    with damaged_object(repo, "long.py"), codenib.open(repo.path) as workspace:
        manifest = workspace.index(at="HEAD").manifest
        lexical = manifest.views[ViewKind.LEXICAL]
        assert {record.status for record in manifest.views.values()} == {Status.FRESH}
        assert lexical.counts["files"] == len(DATA)
        assert lexical.counts[f"skipped: {CRASHED}"] == 1
        assert workspace.search("function_99", at="HEAD").items
    with codenib.open(repo.path) as workspace:
        rebuilt = workspace.index(rebuild=True)
        assert rebuilt.manifest.views[ViewKind.LEXICAL].counts["files"] == len(DATA) + 1
        assert not any(workspace.verify().values())


def test_a_worker_that_cannot_start_is_an_error_and_not_a_skipped_repository(tmp_path: Path) -> None:
    with pytest.raises(ProviderError, match="did not start") as caught:
        list(derive_in_workers(JOBS, BlobSource(None, str(tmp_path)), NAMES))
    assert caught.value.hint == "codenib doctor"


def test_a_consumer_that_stops_early_leaves_no_worker_behind(source: BlobSource) -> None:
    before = _children()
    results = derive_in_workers(JOBS, source, NAMES)
    next(results)
    assert _children() > before
    results.close()
    assert _children() <= before


def _children() -> set[str]:
    """The processes whose parent is this one; other tests may have left some that nobody waits for."""
    children = set()
    for file in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it ended since it was listed
            if file.read_text().rpartition(")")[2].split()[1] == str(os.getpid()):
                children.add(file.parent.name)
    return children


def test_no_module_of_the_indexed_repository_is_imported(git_repo: Callable[..., GitRepo]) -> None:
    """Invariant 8: the repository is the current folder, and its modules have the names of ours."""
    repo = git_repo()
    trap = "from pathlib import Path\nPath(__file__).with_name('imported').touch()\n"
    names = ("msgspec", "numpy", "queue", "struct", "signal", "codenib/__init__", "tree_sitter")
    repo.commit({f"{name}.py": trap for name in names})
    repo.commit({f"m{n}.py": data.decode() for n, data in enumerate(DATA)})
    done = subprocess.run(
        [sys.executable, "-P", "-m", "codenib", "index"],
        cwd=repo.path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert not list(repo.path.rglob("imported"))


def test_a_crashed_blob_has_a_record_of_every_deriver() -> None:
    assert [name for name, _ in crashed(["a", "b"])] == ["units", "a", "b"]

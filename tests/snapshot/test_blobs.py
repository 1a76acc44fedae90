"""Blobs through git, the local store, and both."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
from contextlib import closing
from itertools import islice
from pathlib import Path

import pytest
from tests.gitrepo import GitRepo

from codenib.core.errors import ProviderError
from codenib.snapshot.blobs import Blobs, BlobSource, GitBlobs, LocalBlobs, blob_digest
from codenib.snapshot.repository import locate


def fill(repo: GitRepo, contents: list[bytes]) -> list[str]:
    """Put blobs into the repository's objects and return their digests."""
    stream = b"".join(b"blob\ndata %d\n%s\n" % (len(data), data) for data in contents)
    subprocess.run(["git", "-C", str(repo.path), "fast-import", "--quiet"], input=stream, check=True)
    return [blob_digest(data) for data in contents]


def children() -> set[int]:
    """Processes that this one started and that still run."""
    own = str(os.getpid())
    out = subprocess.run(
        ["ps", "-ewwo", "pid=,ppid=,args="], capture_output=True, text=True, check=True
    ).stdout
    rows = [line.split(None, 2) for line in out.splitlines()]
    return {int(row[0]) for row in rows if row[1] == own and "cat-file" in row[-1]}


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    return GitRepo(tmp_path / "repo")


def test_a_digest_is_the_id_that_git_gives(repo: GitRepo) -> None:
    repo.write("x", "some\r\nbytes\n")
    assert blob_digest(b"some\r\nbytes\n") == repo.git("hash-object", "--no-filters", "x")
    assert blob_digest(b"") == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
    assert len(blob_digest(b"", "sha256")) == 64


def test_thousands_of_large_blobs_come_in_order_without_deadlock(repo: GitRepo) -> None:
    noise = random.Random(7)
    contents = [noise.randbytes(noise.choice((0, 10, 1_000, 200_000))) for _ in range(400)]
    digests = fill(repo, contents)
    order = [noise.randrange(len(contents)) for _ in range(3_000)]
    with closing(GitBlobs(repo.path / ".git")) as blobs:
        for wanted, data in zip(order, blobs.read([digests[number] for number in order]), strict=True):
            assert data == contents[wanted]


def test_what_is_no_blob_of_the_repository_is_none(repo: GitRepo) -> None:
    commit = repo.commit({"a": "a"})
    with closing(GitBlobs(repo.path / ".git")) as blobs:
        assert list(blobs.read(["0" * 40, blob_digest(b"a"), commit, "1" * 40])) == [None, b"a", None, None]
        assert list(blobs.read([])) == []


def test_a_blob_over_the_cap_is_cut_one_byte_past_it(repo: GitRepo) -> None:
    digests = fill(repo, [b"x" * 3_000_000, b"y" * 1000, b"z" * 1001])
    with closing(GitBlobs(repo.path / ".git", max_bytes=1000)) as blobs:
        assert list(blobs.read(digests)) == [b"x" * 1001, b"y" * 1000, b"z" * 1001]


def test_one_process_serves_all_reads_and_ends_with_close(repo: GitRepo) -> None:
    digests = fill(repo, [b"a", b"b"])
    before = children()
    blobs = GitBlobs(repo.path / ".git")
    assert children() == before
    list(blobs.read(digests))
    (process,) = children() - before
    assert next(blobs.read(digests[1:])) == b"b"
    assert children() - before == {process}
    blobs.close()
    assert children() == before
    assert list(blobs.read(digests)) == [b"a", b"b"]
    blobs.close()


def test_a_killed_process_is_started_again(repo: GitRepo) -> None:
    digests = fill(repo, [b"%d" % number for number in range(500)])
    before = children()
    with closing(GitBlobs(repo.path / ".git")) as blobs:
        got: list[bytes | None] = []
        for data in blobs.read(digests):
            if len(got) % 100 == 0:
                for process in children() - before:
                    os.kill(process, signal.SIGKILL)
            got.append(data)
        assert got == [b"%d" % number for number in range(500)]


def test_readers_may_stop_early_and_overlap(repo: GitRepo) -> None:
    digests = fill(repo, [b"%d" % number for number in range(300)])
    with closing(GitBlobs(repo.path / ".git")) as blobs:
        assert list(islice(blobs.read(digests), 3)) == [b"0", b"1", b"2"]
        pairs = [(data, next(blobs.read([digests[0]]))) for data in blobs.read(digests)]
        assert pairs == [(b"%d" % number, b"0") for number in range(300)]


def test_threads_share_a_reader(repo: GitRepo) -> None:
    contents = [b"%d" % number for number in range(200)]
    digests = fill(repo, contents)
    results: list[list[bytes | None]] = []
    with closing(GitBlobs(repo.path / ".git")) as blobs:
        threads = [
            threading.Thread(target=lambda: results.append(list(blobs.read(digests)))) for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert results == [contents] * 4


def test_a_git_folder_that_is_gone_is_a_provider_error(tmp_path: Path) -> None:
    with (
        closing(GitBlobs(tmp_path / "nothing")) as blobs,
        pytest.raises(ProviderError, match="not a git repository"),
    ):
        list(blobs.read(["0" * 40]))


def test_a_blob_that_a_partial_clone_lacks_is_none_and_not_fetched(repo: GitRepo, tmp_path: Path) -> None:
    repo.commit({"a": "first"})
    repo.commit({"a": "second"})
    repo.git("config", "uploadpack.allowFilter", "true")
    clone = repo.clone(tmp_path / "clone", "--filter=blob:none")
    lacking, held = blob_digest(b"first"), blob_digest(b"second")
    with closing(GitBlobs(clone.path / ".git")) as blobs:
        assert list(blobs.read([held, lacking, held])) == [b"second", None, b"second"]


def test_both_sides_are_one_reader(repo: GitRepo, tmp_path: Path) -> None:
    in_git = fill(repo, [b"git %d" % number for number in range(1500)])
    with (
        closing(LocalBlobs(tmp_path / "blobs.db")) as local,
        closing(GitBlobs(repo.path / ".git")) as objects,
    ):
        local.put_many((blob_digest(data), data) for data in [b"local"])
        mixed = [*in_git, blob_digest(b"local"), "0" * 40, in_git[3]]
        expected = [*(b"git %d" % number for number in range(1500)), b"local", None, b"git 3"]
        assert list(Blobs(local, objects).read(mixed)) == expected
        assert list(Blobs(local, None).read(mixed[-3:])) == [b"local", None, None]


def test_another_process_opens_the_same_source(repo: GitRepo, tmp_path: Path) -> None:
    repo.commit({"a": "in git"})
    with closing(LocalBlobs(tmp_path / "blobs.db")) as local:
        local.put_many([(blob_digest(b"local"), b"local")])
    source = BlobSource.of(locate(repo.path), tmp_path / "blobs.db")
    code = (
        "import sys; from contextlib import closing; from codenib.snapshot.blobs import BlobSource\n"
        "with closing(BlobSource(*sys.argv[1:3]).open()) as blobs: print(list(blobs.read(sys.argv[3:])))"
    )
    digests = [blob_digest(b"in git"), blob_digest(b"local"), "0" * 40]
    assert source.git_dir is not None
    args = [sys.executable, "-c", code, source.git_dir, source.store, *digests]
    out = subprocess.run(args, capture_output=True, text=True, check=True).stdout
    assert out.strip() == "[b'in git', b'local', None]"

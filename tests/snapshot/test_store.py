"""The local store of contents."""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from codenib.core.errors import StateError
from codenib.snapshot.store import LocalBlobs

WRITER = """
import sys
from contextlib import closing
from pathlib import Path
from codenib.snapshot.store import LocalBlobs
first, last = int(sys.argv[2]), int(sys.argv[3])
with closing(LocalBlobs(Path(sys.argv[1]))) as store:
    for number in range(first, last):
        store.put_many([(f"{number:040x}", b"%d" % number * 1000)])
        print(number, flush=True)
"""


def writer(path: Path, first: int, last: int) -> subprocess.Popen[str]:
    args = [sys.executable, "-c", WRITER, str(path), str(first), str(last)]
    return subprocess.Popen(args, stdout=subprocess.PIPE, text=True)


def test_contents_come_back_in_order_and_missing_ones_are_none(tmp_path: Path) -> None:
    with closing(LocalBlobs(tmp_path / "deep/er/blobs.db")) as store:
        store.put_many([("aa", b"first"), ("bb", b""), ("aa", b"first")])
        assert list(store.read(["bb", "zz", "aa", "bb"])) == [b"", None, b"first", b""]
        assert store.known(["aa", "zz"]) == {"aa"}
    with closing(LocalBlobs(tmp_path / "deep/er/blobs.db")) as store:
        assert store.digests() == {"aa", "bb"}


def test_more_than_a_batch_goes_through(tmp_path: Path) -> None:
    with closing(LocalBlobs(tmp_path / "blobs.db")) as store:
        store.put_many((f"{number:040x}", bytes([number]) * 3_000_000) for number in range(10))
        names = [f"{number:040x}" for number in range(2_000)]
        assert store.known(names) == set(names[:10])
        assert [len(data or b"") for data in store.read(names[:10])] == [3_000_000] * 10


def test_deleted_contents_are_gone_and_their_space_too(tmp_path: Path) -> None:
    noise = random.Random(1).randbytes(4_000_000)
    with closing(LocalBlobs(tmp_path / "blobs.db")) as store:
        store.put_many([("aa", noise), ("bb", b"kept")])
        store.delete(["aa", "unknown"])
        assert list(store.read(["aa", "bb"])) == [None, b"kept"]
    assert (tmp_path / "blobs.db").stat().st_size < 100_000


def test_processes_that_create_and_fill_one_store_lose_nothing(tmp_path: Path) -> None:
    writers = [writer(tmp_path / "blobs.db", start, start + 25) for start in (0, 100, 200)]
    for process in writers:
        process.communicate()
    assert [process.returncode for process in writers] == [0, 0, 0]
    with closing(LocalBlobs(tmp_path / "blobs.db")) as store:
        assert len(store.digests()) == 75


def test_a_kill_loses_nothing_that_was_put(tmp_path: Path) -> None:
    process = writer(tmp_path / "blobs.db", 0, 100_000)
    assert process.stdout is not None
    with process:
        said = [int(process.stdout.readline()) for _ in range(20)]
        process.kill()
    with closing(LocalBlobs(tmp_path / "blobs.db")) as store:
        contents = store.read([f"{number:040x}" for number in said])
        assert list(contents) == [b"%d" % number * 1000 for number in said]


def test_a_file_that_is_no_store_is_made_anew(tmp_path: Path) -> None:
    (tmp_path / "blobs.db").write_bytes(b"not a database" * 1000)
    with closing(LocalBlobs(tmp_path / "blobs.db")) as store:
        store.put_many([("a" * 40, b"content")])
        assert list(store.read(["a" * 40])) == [b"content"]


def test_a_damaged_content_is_an_error_once_and_then_absent(tmp_path: Path) -> None:
    path = tmp_path / "blobs.db"
    with closing(LocalBlobs(path)) as store:
        store.put_many([("a" * 40, b"content")])
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE blobs SET data = x'00'")
    with closing(LocalBlobs(path)) as store:
        with pytest.raises(StateError, match="damaged and is dropped"):
            list(store.read(["a" * 40]))
        assert store.known(["a" * 40]) == set()

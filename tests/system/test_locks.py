"""Locks of files keep the same contract on POSIX and, through a fake of its module, on Windows."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.system import fake_msvcrt

from codenib.system.locks import ByteRangeLocks, FileLocks, WholeFileLocks


@pytest.fixture(params=["posix", "windows"])
def locks(request: pytest.FixtureRequest) -> FileLocks:
    return WholeFileLocks() if request.param == "posix" else ByteRangeLocks(fake_msvcrt)


@pytest.fixture
def files(tmp_path: Path) -> Iterator[list[int]]:
    """The same file, opened three times."""
    (tmp_path / "lock").write_bytes(b"12345\n")
    opened = [os.open(tmp_path / "lock", os.O_RDWR) for _ in range(3)]
    yield opened
    for each in opened:
        os.close(each)


def let_go(locks: FileLocks, descriptor: int, path: Path) -> int:
    """End as a holder does: release, close; and open again."""
    locks.release(descriptor)
    os.close(descriptor)
    return os.open(path, os.O_RDWR)


def test_an_exclusive_holder_is_alone(locks: FileLocks, files: list[int], tmp_path: Path) -> None:
    assert locks.acquire(files[0], shared=False, wait=False)
    assert not locks.acquire(files[1], shared=False, wait=False)
    assert not locks.acquire(files[1], shared=True, wait=False)
    files[0] = let_go(locks, files[0], tmp_path / "lock")
    assert locks.acquire(files[1], shared=False, wait=False)
    locks.release(files[1])


def test_shared_holders_are_together_and_against_an_exclusive_one(
    locks: FileLocks, files: list[int], tmp_path: Path
) -> None:
    assert locks.acquire(files[0], shared=True, wait=False)
    assert locks.acquire(files[1], shared=True, wait=False)
    assert not locks.acquire(files[2], shared=False, wait=False)
    files[0] = let_go(locks, files[0], tmp_path / "lock")
    assert not locks.acquire(files[2], shared=False, wait=False)
    files[1] = let_go(locks, files[1], tmp_path / "lock")
    assert locks.acquire(files[2], shared=False, wait=False)
    locks.release(files[2])


def test_who_waits_gets_the_lock_when_it_is_free(locks: FileLocks, files: list[int], tmp_path: Path) -> None:
    assert locks.acquire(files[0], shared=False, wait=False)
    began, got = threading.Event(), []

    def wait() -> None:
        began.set()
        got.append(locks.acquire(files[1], shared=False, wait=True))

    thread = threading.Thread(target=wait)
    thread.start()
    assert began.wait(30)
    files[0] = let_go(locks, files[0], tmp_path / "lock")
    thread.join(30)
    assert got == [True]
    locks.release(files[1])


def test_what_the_file_holds_can_be_read_while_it_is_locked(locks: FileLocks, files: list[int]) -> None:
    os.lseek(files[0], 2, os.SEEK_SET)
    assert locks.acquire(files[0], shared=False, wait=False)
    assert os.read(files[0], 9) == b"345\n"  # the position is as it was
    assert os.fstat(files[0]).st_size == 6
    locks.release(files[0])

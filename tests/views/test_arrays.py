"""Arrays are written whole, or it is an error."""

from __future__ import annotations

import errno
import gc
import os
import threading
from pathlib import Path

import numpy as np
import pytest

from codenib.views.arrays import map_array, save_array

_FULL = Path("/dev/full")


@pytest.mark.skipif(not _FULL.exists(), reason="needs Linux's device that is always full")
@pytest.mark.parametrize("size", [0, 3, 100_000])
def test_a_full_disk_is_an_error_whatever_the_size(size: int) -> None:
    with pytest.raises(OSError) as caught:
        save_array(_FULL, np.arange(size))
    assert caught.value.errno == errno.ENOSPC


@pytest.mark.parametrize("array", [np.arange(7), np.zeros((0, 4), np.int32), np.eye(3, dtype=np.float32).T])
def test_an_array_is_read_as_it_was_written_and_as_numpy_writes_it(tmp_path: Path, array: np.ndarray) -> None:
    save_array(tmp_path / "ours.npy", array)
    np.save(tmp_path / "theirs.npy", array)
    assert np.array_equal(map_array(tmp_path / "ours.npy"), array)
    assert (tmp_path / "ours.npy").read_bytes() == (tmp_path / "theirs.npy").read_bytes()


class _Junk:
    """What the collector finds in the middle of anything; its end lets other threads go on."""

    def __init__(self) -> None:
        self.me = self

    def __del__(self) -> None:
        for _ in range(5):
            os.sched_yield()


@pytest.mark.skipif(not hasattr(os, "sched_yield"), reason="needs threads that give way")
def test_threads_map_arrays_at_once_while_the_collector_runs(tmp_path: Path) -> None:
    """Of 1,200 some failed with `SystemError: AST constructor recursion depth mismatch` (Python 3.11)."""
    save_array(tmp_path / "a.npy", np.arange(10))
    failed: list[BaseException] = []

    def work() -> None:
        for _ in range(150):
            _Junk()
            try:
                map_array(tmp_path / "a.npy")
            except BaseException as error:  # noqa: BLE001 - of a thread
                failed.append(error)

    before = gc.get_threshold()
    gc.set_threshold(20, 1, 1)
    try:
        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    finally:
        gc.set_threshold(*before)
    assert failed == []

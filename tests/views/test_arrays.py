"""Arrays are written whole, or it is an error."""

from __future__ import annotations

import errno
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

"""Files' bytes in, one mapped file out: `NAME.text`, and where each file begins in `NAME.offsets.npy`."""

from __future__ import annotations

import mmap
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from codenib.core.errors import StateError
from codenib.views.arrays import map_part, save_parts

BOM = b"\xef\xbb\xbf"


def write_texts(blobs: Iterable[bytes], out: Path, name: str) -> None:
    """Write the bytes one after the other, holding one blob at a time."""
    offsets = [0]
    with (out / f"{name}.text").open("wb") as text:
        for data in blobs:
            text.write(data)
            offsets.append(offsets[-1] + len(data))
    save_parts(out, name, {"offsets": np.array(offsets, np.uint64)})


class StoredTexts:
    """The texts of some files, by index."""

    def __init__(self, folder: Path, name: str, count: int) -> None:
        try:
            self._text = _map_text(folder / f"{name}.text")
            self._offsets = map_part(folder, name, "offsets")
        except (OSError, ValueError) as error:
            raise StateError(
                f"text of {folder / name} cannot be read: {error}", hint="codenib index --rebuild"
            ) from error
        if len(self._offsets) != count + 1 or int(self._offsets[-1]) != len(self._text):
            raise StateError(
                f"text of {folder / name} does not fit its offsets", hint="codenib index --rebuild"
            )

    def bounds(self, index: int) -> tuple[int, int]:
        return int(self._offsets[index]), int(self._offsets[index + 1])

    def sizes(self) -> NDArray[np.int64]:
        """The bytes of each file."""
        ends: NDArray[np.int64] = self._offsets.astype(np.int64)
        return ends[1:] - ends[:-1]

    def data(self, index: int) -> bytes:
        """The bytes of a file."""
        start, end = self.bounds(index)
        return self._text[start:end]

    def holds(self, index: int, needle: bytes) -> bool:
        """Whether a file's bytes contain `needle`; copies nothing."""
        return self._text.find(needle, *self.bounds(index)) >= 0

    def decoded(self, index: int, needles: Iterable[bytes] | None = None) -> str | None:
        """The text of a file as it is searched: without a byte order mark, broken bytes replaced.

        None when `needles` are given and the file holds none of them.
        """
        if needles is not None and not any(self.holds(index, needle) for needle in needles):
            return None
        return self.data(index).removeprefix(BOM).decode("utf-8", "replace")


def _map_text(path: Path) -> mmap.mmap | bytes:
    with path.open("rb") as file:
        if not path.stat().st_size:  # an empty file cannot be mapped
            return b""
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)

"""Strings in, two memory-mapped arrays out: all bytes in a row, and where each string begins."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from codenib.views.arrays import map_array, save_array


def write_strings(folder: Path, name: str, strings: Iterable[str]) -> None:
    """Write `NAME.text.npy` and `NAME.at.npy`."""
    parts = [string.encode() for string in strings]
    save_array(folder / f"{name}.text.npy", np.frombuffer(b"".join(parts), np.uint8))
    save_array(folder / f"{name}.at.npy", np.cumsum([0, *map(len, parts)], dtype=np.int64).astype(np.uint32))


class Strings:
    """A table of strings on disk; each is decoded when asked for."""

    def __init__(self, folder: Path, name: str) -> None:
        self._text = map_array(folder / f"{name}.text.npy")
        self._at = map_array(folder / f"{name}.at.npy")

    def __len__(self) -> int:
        return len(self._at) - 1

    def __iter__(self) -> Iterator[str]:
        return (self[index] for index in range(len(self)))

    def holding(self, word: str) -> list[int]:
        """The strings with `word` in them in any case, in order."""
        text = self._text.tobytes().lower()
        wanted = word.lower().encode()
        matches = re.finditer(b"(?=%b)" % re.escape(wanted), text)
        begins = np.array([match.start() for match in matches], np.int64)
        owners = np.searchsorted(self._at, begins, side="right") - 1
        whole = begins + len(wanted) <= self._at[owners + 1]
        found: list[int] = np.unique(owners[whole]).tolist()
        return found

    def __getitem__(self, index: int) -> str:
        return self._text[self._at[index] : self._at[index + 1]].tobytes().decode()

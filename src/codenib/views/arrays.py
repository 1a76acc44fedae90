"""The arrays of a segment: numbers and names in, `NAME.PART.npy` files out, and the same memory-mapped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sized
from pathlib import Path
from threading import Lock
from tokenize import TokenError
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from codenib.core.errors import UNDECODABLE

Array = NDArray[Any]
Numbers = NDArray[np.int64]
#: numpy reads the head of a file as Python. Version 3.11 counts the depth of that for all threads together:
#: two that do it at once can fail with a SystemError (python/cpython#106905).
_HEADS = Lock()


def save_parts(folder: Path, name: str, parts: Mapping[str, Array]) -> None:
    """Write each part of the segment `name`."""
    for part, array in parts.items():
        save_array(folder / f"{name}.{part}.npy", array)


def save_array(file: Path, array: Array) -> None:
    """Write an array as `np.save` does, but every byte or an OSError.

    numpy hands an open file to C's streams and does not look at what closing them says: with a full disk the
    last bytes are lost, and nobody is told.
    """
    with file.open("wb") as stream:
        np.lib.format.write_array(_Bytes(stream), array, allow_pickle=False)


class _Bytes:
    """A stream that numpy does not take for a file."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.write = stream.write


def map_array(file: Path) -> Array:
    """Map an array that `save_array` wrote; raises OSError or ValueError when it cannot be read."""
    try:
        with _HEADS:
            mapped: Array = np.load(file, mmap_mode="r", allow_pickle=False)
    except (EOFError, SyntaxError, TokenError, TypeError, OverflowError, *UNDECODABLE) as error:
        raise ValueError(f"{file.name} is no array: {error}") from error  # numpy reads the head as Python
    return mapped.view(np.ndarray)  # a memmap pays for its class on every slice


def read_array(file: Path) -> Array:
    """Read an array that `save_array` wrote; raises as numpy does."""
    with _HEADS:
        whole: Array = np.load(file, allow_pickle=False)
    return whole


def map_part(folder: Path, name: str, part: str) -> Array:
    """Map a part of the segment `name`; raises OSError or ValueError when it cannot be read."""
    return map_array(folder / f"{name}.{part}.npy")


class StringTable:
    """Each string once, numbered in the order in which they come."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        return self._numbers.setdefault(text, len(self._numbers))

    @property
    def rows(self) -> list[str]:
        return list(self._numbers)


def first_numbers(parts: Iterable[Sized]) -> Numbers:
    """Where each part begins when all are numbered one after the other; and the end of the last."""
    return np.cumsum([0, *(len(part) for part in parts)])


def locate(firsts: Numbers, number: int) -> tuple[int, int]:
    """The part that a number over all parts falls into, and its number there."""
    part = int(np.searchsorted(firsts, number, "right")) - 1
    return part, number - int(firsts[part])

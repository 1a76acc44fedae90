"""Where objects are: the few operations that a folder and a bucket both have."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, Protocol

from codenib.core.errors import ProviderError

#: What says that an object is still the one that was read; empty: there was none.
Version = str


class StoredObject(NamedTuple):
    """An object as listings have it; `modified_s` is when it was written, by the clock of the store."""

    path: str
    size: int
    modified_s: float


class Unacknowledged(ProviderError):
    """A write was sent, and nobody knows whether it took place."""


class Backend(Protocol):
    """Paths in, bytes out. Every write is whole or not at all."""

    def read(self, path: str) -> tuple[bytes, Version] | None:
        """An object with its version; None when there is none."""
        ...

    def read_ranges(self, path: str, ranges: list[tuple[int, int]]) -> list[bytes]:
        """Pieces of an object, each from its start to its end; FileNotFoundError when there is none."""
        ...

    def chunks(self, path: str) -> Iterator[bytes]:
        """An object piece by piece; FileNotFoundError when there is none."""
        ...

    def size(self, path: str) -> int | None:
        """How many bytes an object has; None when there is none."""
        ...

    def create(self, path: str, source: bytes | Path) -> bool:
        """Write an object where there is none; False when there is one."""
        ...

    def overwrite(self, path: str, source: bytes | Path) -> None:
        """Write an object, whatever is there."""
        ...

    def replace(self, path: str, data: bytes, version: Version) -> bool:
        """Write an object if it is still of `version`; False when it is another, or there is one already.

        Raises `Unacknowledged` when nobody knows.
        """
        ...

    def list(self, prefix: str) -> Iterator[StoredObject]:
        """Every object below `prefix`, which is a whole number of segments."""
        ...

    def remove(self, path: str) -> None:
        """Remove an object if it is there."""
        ...

    def remove_partials(self, before_s: float) -> int:
        """Remove what killed writers left that is no object yet, older than `before_s`; how many."""
        ...

"""What was learnt of this repository: the stored file in, scores to add to the shipped order out.

It is used for snapshots whose commit is the one that it was learnt at, or descends from it: an answer for an
earlier revision must not know what came later.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from codenib.core.errors import UNDECODABLE, StateError
from codenib.core.updates import LearnedSummary
from codenib.manifest.learned import learned_files, read_learned
from codenib.manifest.store import Store
from codenib.serving.search.learned.memory import COLUMNS, Fix, FixMemory, QuerySimilarity

FORMAT = 2
#: Commits after which it is not used: a memory of years ago cost whole answers on requests and pylint.
LEARNED_FOR = 1000
Array = NDArray[Any]


class LearnedFile(msgspec.Struct, frozen=True):
    """What the file holds. `profile` is all that decides it besides the commits, `card` what was measured.

    `files` and `units` are the weights of the signals, by their names in `memory.COLUMNS`. They count for
    questions of which the shipped order is as unsure as `unsure`, from 0, all of them, to 1.
    """

    format: int
    commit: str
    profile: dict[str, str]
    card: dict[str, Any]
    files: dict[str, float]
    units: dict[str, float]
    fixes: tuple[Fix, ...]
    unsure: float = 0.0


class _Header(msgspec.Struct, frozen=True):
    format: int
    commit: str


_Content = TypeVar("_Content", LearnedFile, _Header)


class RepositoryOrder:
    """Weights and fixes of one repository, opened once for all questions."""

    def __init__(self, file: LearnedFile) -> None:
        self.commit = file.commit
        self.unsure = file.unsure
        self.memory = FixMemory(file.fixes)
        self._files = weights_of(file.files)
        self._units = weights_of(file.units)

    def compare(self, query: str) -> QuerySimilarity:
        """Compare a question with every fix."""
        return self.memory.compare(query)

    def file_bonus(self, asked: QuerySimilarity, paths: Sequence[str]) -> Array:
        """What to add to the score of each file."""
        bonus: Array = self.memory.of_paths(asked, paths) @ self._files
        return bonus

    def unit_bonus(self, asked: QuerySimilarity, names: Sequence[tuple[str, str]]) -> Array:
        """What to add to the score of each unit."""
        bonus: Array = self.memory.of_symbols(asked, names) @ self._units
        return bonus


def weights_of(named: Mapping[str, float]) -> Array:
    """Weights in the order of the signals; one that is not named counts nothing."""
    return np.array([named.get(name, 0.0) for name in COLUMNS])


def decode_learned(data: bytes) -> LearnedFile:
    """The file's content; an error when another version wrote it."""
    return _decode(data, LearnedFile)


def _decode(data: bytes, kind: type[_Content]) -> _Content:
    try:
        file = msgspec.json.decode(data, type=kind)
    except UNDECODABLE as error:
        raise StateError(f"what was learnt cannot be read: {error}", hint="codenib learn") from error
    if file.format != FORMAT:
        raise StateError("what was learnt is of another version", hint="codenib learn")
    return file


def learned_for(store: Store, commit: str | None, leads_to: Callable[[str, str], bool]) -> Path | None:
    """The file to use for a snapshot of `commit`: the newest that was learnt at it or at an ancestor.

    One that is damaged or of another version is passed over: `status` names it, `learn` makes another.
    """
    if commit is None:
        return None
    for path in learned_files(store):
        try:
            learnt = _commit_of(path, path.stat().st_mtime_ns)
        except (StateError, OSError):
            continue
        if learnt == commit or leads_to(learnt, commit):
            return path
    return None


@lru_cache(maxsize=64)
def _commit_of(path: Path, changed_ns: int) -> str:
    """The commit that a file was learnt at, read again when the file changed: it must not."""
    return _decode(read_learned(path), _Header).commit


@lru_cache(maxsize=8)
def open_learned(path: Path) -> RepositoryOrder:
    """A stored file, opened; its name is its digest, so it never changes."""
    return RepositoryOrder(decode_learned(read_learned(path)))


def learned_summaries(
    store: Store, commit: str | None, leads_to: Callable[[str, str], bool]
) -> tuple[LearnedSummary, ...]:
    """Every stored file, the newest first; `applies` for the one that answers of `commit` use."""
    used, found = learned_for(store, commit, leads_to), []
    for path in learned_files(store):
        try:
            size = path.stat().st_size
        except FileNotFoundError:  # forgotten meanwhile
            continue
        try:
            file = decode_learned(read_learned(path))
        except StateError as error:
            found.append(LearnedSummary(artifact=path.stem, size_bytes=size, error=error.message))
            continue
        summary = LearnedSummary(
            artifact=path.stem,
            size_bytes=size,
            commit=file.commit,
            rows=file.card["rows"],
            questions=file.card.get("questions", 0),
            file_gain=file.card["gains"]["files"],
            unit_gain=file.card["gains"]["functions"],
            applies=path == used,
        )
        found.append(summary)
    return tuple(found)

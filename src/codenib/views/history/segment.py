"""Commits in, one immutable segment of plain arrays out; and the same arrays, mapped, for readers.

NAME.ids.npy       a row of bytes for each commit, newest first
NAME.commits.npy   age key, times, author, parents, end of its message, end of its changes
NAME.changes.npy   commit, path, old path, the blobs before and after, end of its hunks
NAME.hunks.npy     old start and count, new start and count
NAME.messages.npy, NAME.paths.npy, NAME.authors.npy   texts as bytes; names end with NUL
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from codenib.core.history import Commit, FileChange, Hunk
from codenib.views.arrays import StringTable, map_part, save_parts
from codenib.views.history.window import Aged

_COMMIT = np.dtype(
    [("key", "<i8"), ("authored", "<i8"), ("committed", "<i8"), ("author", "<u4"), ("parents", "<u4"),
     ("message_end", "<u8"), ("change_end", "<u4"), ("lacking", "u1")]
)  # fmt: skip
LACKING, OVERSIZED = 1, 2  # git does not have what tells its changes; they are too many to list
_CHANGE = np.dtype(
    [("commit", "<u4"), ("path", "<u4"), ("old_path", "<u4"), ("hunk_end", "<u4"),
     ("old", "<u8"), ("new", "<u8")]
)  # fmt: skip


def segment_name(commits: Sequence[Aged]) -> str:
    """A segment is a pure function of its commits, so their ids name it."""
    return hashlib.sha256("\n".join(commit.id for commit in commits).encode()).hexdigest()[:16]


def write_segment(aged: Sequence[Aged], commits: Iterable[Commit], out: Path) -> str:
    """Write commits, newest first, with their age keys; the segment's name."""
    name = segment_name(aged)
    paths, authors = StringTable(), StringTable()
    rows: list[tuple[int, ...]] = []
    changes: list[tuple[int, ...]] = []
    hunks = array("I")
    messages = bytearray()
    for number, (each, commit) in enumerate(zip(aged, commits, strict=True)):
        for change in commit.changes:
            for hunk in change.hunks:
                hunks.extend(hunk)
            changes.append(
                (number, paths.number(change.path), paths.number(change.old_path), len(hunks) // 4,
                 change.old_blob, change.new_blob)
            )  # fmt: skip
        messages += commit.message.encode()
        rows.append(
            (each.key, commit.authored, commit.committed, authors.number(commit.author), commit.parents,
             len(messages), len(changes), commit.lacking * LACKING | commit.oversized * OVERSIZED)
        )  # fmt: skip
    width = len(aged[0].id) // 2 if aged else 20
    ids = b"".join(bytes.fromhex(each.id) for each in aged)
    parts = {
        "ids": np.frombuffer(ids, np.uint8).reshape(-1, width),
        "commits": np.array(rows, _COMMIT),
        "changes": np.array(changes, _CHANGE),
        "hunks": np.array(hunks, "<u4").reshape(-1, 4),
        "messages": np.frombuffer(bytes(messages), np.uint8),
        "paths": _pack_names(paths.rows),
        "authors": _pack_names(authors.rows),
    }
    save_parts(out, name, parts)
    return name


class CommitRow(NamedTuple):
    """A row of `commits`; `author` is the number of a name, the ends say where its parts elsewhere end."""

    key: int
    authored: int
    committed: int
    author: int
    parents: int
    message_end: int
    change_end: int
    lacking: int  # LACKING, OVERSIZED: why its changes are not known


class ChangeRow(NamedTuple):
    """A row of `changes`; paths are numbers of names, `old` and `new` the blobs."""

    commit: int
    path: int
    old_path: int
    hunk_end: int
    old: int
    new: int


class CommitSegment:
    """The commits of one segment; `dead` rows are no longer part of the view."""

    def __init__(self, folder: Path, name: str, dead: Collection[int] = ()) -> None:
        self._folder = folder
        self.name = name
        self.dead = frozenset(dead)
        self.ids = map_part(folder, name, "ids")
        self.commits = map_part(folder, name, "commits")
        self.changes = map_part(folder, name, "changes")
        self.hunks: NDArray[np.uint32] = map_part(folder, name, "hunks").view(np.uint32)
        self._messages = map_part(folder, name, "messages")
        self._paths = map_part(folder, name, "paths")
        self._authors = map_part(folder, name, "authors")

    def __len__(self) -> int:
        return len(self.commits)

    @property
    def live_count(self) -> int:
        return len(self) - len(self.dead)

    def with_dead(self, dead: Collection[int]) -> CommitSegment:
        """The same segment with other dead rows."""
        return CommitSegment(self._folder, self.name, dead)

    def live(self) -> list[int]:
        """The rows that are part of the view, newest first."""
        return [row for row in range(len(self)) if row not in self.dead]

    @cached_property
    def aged(self) -> list[Aged]:
        """The age key and id of every row."""
        keys: list[int] = self.commits["key"].tolist()
        digits, width = self.ids.tobytes().hex(), 2 * self.ids.shape[1]
        ids = (digits[start : start + width] for start in range(0, len(digits), width))
        return list(map(Aged, keys, ids))

    @cached_property
    def paths(self) -> list[str]:
        return _unpack_names(self._paths)

    @cached_property
    def authors(self) -> list[str]:
        return _unpack_names(self._authors)

    @cached_property
    def path_numbers(self) -> dict[str, int]:
        return {path: number for number, path in enumerate(self.paths)}

    @cached_property
    def is_dead(self) -> NDArray[np.bool_]:
        """For each commit whether it is dead."""
        dead = np.zeros(len(self), bool)
        dead[list(self.dead)] = True
        return dead

    @cached_property
    def _by_path(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Changes in the order of their paths, and where each path's begin."""
        of = np.asarray(self.changes["path"])
        order = np.argsort(of, kind="stable")
        return order, np.searchsorted(of[order], np.arange(len(self.paths) + 1))

    def changes_of(self, path: str) -> list[int]:
        """The rows of the changes that left a file at `path`, or took it from there; newest first."""
        number = self.path_numbers.get(path)
        if number is None:
            return []
        order, first = self._by_path
        rows = order[first[number] : first[number + 1]]
        live: list[int] = rows[~self.is_dead[self.changes["commit"][rows]]].tolist()
        return live

    def id_of(self, row: int) -> str:
        return str(self.ids[row].tobytes().hex())

    def message(self, row: int) -> str:
        ends = self.commits["message_end"]
        begin = int(ends[row - 1]) if row else 0
        return self._messages[begin : int(ends[row])].tobytes().decode()

    def changes_in(self, row: int) -> range:
        """The rows of a commit's changes."""
        ends = self.commits["change_end"]
        return range(int(ends[row - 1]) if row else 0, int(ends[row]))

    def hunks_of(self, change: int) -> NDArray[np.uint32]:
        ends = self.changes["hunk_end"]
        return self.hunks[int(ends[change - 1]) if change else 0 : int(ends[change])]

    def commit_row(self, row: int) -> CommitRow:
        return CommitRow._make(self.commits[row].tolist())

    def change_row(self, row: int) -> ChangeRow:
        return ChangeRow._make(self.changes[row].tolist())

    def change(self, row: int) -> FileChange:
        """The value of a change."""
        stored = self.change_row(row)
        hunks = tuple(map(Hunk._make, self.hunks_of(row).tolist()))
        return FileChange(self.paths[stored.path], self.paths[stored.old_path], stored.old, stored.new, hunks)

    def commit(self, row: int) -> Commit:
        """The value of a commit."""
        stored = self.commit_row(row)
        return Commit(
            id=self.id_of(row),
            parents=stored.parents,
            author=self.authors[stored.author],
            authored=stored.authored,
            committed=stored.committed,
            message=self.message(row),
            changes=tuple(self.change(each) for each in self.changes_in(row)),
            lacking=bool(stored.lacking & LACKING),
            oversized=bool(stored.lacking & OVERSIZED),
        )


def _pack_names(names: Iterable[str]) -> NDArray[np.uint8]:
    return np.frombuffer("".join(f"{name}\0" for name in names).encode(), np.uint8)


def _unpack_names(raw: NDArray[np.uint8]) -> list[str]:
    return raw.tobytes().decode().split("\0")[:-1]

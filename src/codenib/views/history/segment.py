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

import numpy as np
from numpy.typing import NDArray

from codenib.core.history import Commit, FileChange
from codenib.views.history.window import Aged

_COMMIT = np.dtype(
    [("key", "<i8"), ("authored", "<i8"), ("committed", "<i8"), ("author", "<u4"), ("parents", "<u4"),
     ("message_end", "<u8"), ("change_end", "<u4")]
)  # fmt: skip
_CHANGE = np.dtype(
    [("commit", "<u4"), ("path", "<u4"), ("old_path", "<u4"), ("hunk_end", "<u4"),
     ("old", "<u8"), ("new", "<u8")]
)  # fmt: skip


def segment_name(commits: Sequence[Aged]) -> str:
    """A segment is a pure function of its commits, so their ids name it."""
    return hashlib.sha256("\n".join(commit for _, commit in commits).encode()).hexdigest()[:16]


def write_segment(aged: Sequence[Aged], commits: Iterable[Commit], out: Path) -> str:
    """Write commits, newest first, with their age keys; the segment's name."""
    name = segment_name(aged)
    paths, authors = _Names(), _Names()
    rows: list[tuple[int, ...]] = []
    changes: list[tuple[int, ...]] = []
    hunks = array("I")
    messages = bytearray()
    for number, ((key, _), commit) in enumerate(zip(aged, commits, strict=True)):
        for change in commit.changes:
            for hunk in change.hunks:
                hunks.extend(hunk)
            changes.append(
                (number, paths.number(change.path), paths.number(change.old_path), len(hunks) // 4,
                 change.old_blob, change.new_blob)
            )  # fmt: skip
        messages += commit.message.encode()
        rows.append(
            (key, commit.authored, commit.committed, authors.number(commit.author), commit.parents,
             len(messages), len(changes))
        )  # fmt: skip
    width = len(aged[0][1]) // 2 if aged else 20
    ids = b"".join(bytes.fromhex(commit) for _, commit in aged)
    for part, values in (
        ("ids", np.frombuffer(ids, np.uint8).reshape(-1, width)),
        ("commits", np.array(rows, _COMMIT)),
        ("changes", np.array(changes, _CHANGE)),
        ("hunks", np.array(hunks, "<u4").reshape(-1, 4)),
        ("messages", np.frombuffer(bytes(messages), np.uint8)),
        ("paths", paths.as_bytes()),
        ("authors", authors.as_bytes()),
    ):
        np.save(out / f"{name}.{part}.npy", values)
    return name


class _Names:
    """Numbers names in the order in which they come."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, name: str) -> int:
        return self._numbers.setdefault(name, len(self._numbers))

    def as_bytes(self) -> NDArray[np.uint8]:
        return np.frombuffer("".join(f"{name}\0" for name in self._numbers).encode(), np.uint8)


class CommitSegment:
    """The commits of one segment; `dead` rows are no longer part of the view."""

    def __init__(self, folder: Path, name: str, dead: Collection[int] = ()) -> None:
        def part(which: str) -> NDArray[np.void]:
            return np.asarray(np.load(folder / f"{name}.{which}.npy", mmap_mode="r", allow_pickle=False))

        self._folder = folder
        self.name = name
        self.dead = frozenset(dead)
        self.ids = part("ids")
        self.commits = part("commits")
        self.changes = part("changes")
        self.hunks: NDArray[np.uint32] = part("hunks").view(np.uint32)
        self._messages = part("messages")
        self._paths = part("paths")
        self._authors = part("authors")

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
        return [(key, digits[row * width : (row + 1) * width]) for row, key in enumerate(keys)]

    @cached_property
    def paths(self) -> list[str]:
        return _names(self._paths)

    @cached_property
    def authors(self) -> list[str]:
        return _names(self._authors)

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
        found: list[int] = rows[~self.is_dead[self.changes["commit"][rows]]].tolist()
        return found

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

    def change(self, row: int) -> FileChange:
        """The value of a change."""
        _, path, old_path, _, old, new = self.changes[row].tolist()
        hunks = tuple((a, b, c, d) for a, b, c, d in self.hunks_of(row).tolist())
        return FileChange(self.paths[path], self.paths[old_path], old, new, hunks)

    def commit(self, row: int) -> Commit:
        """The value of a commit."""
        _, authored, committed, author, parents, _, _ = self.commits[row].tolist()
        changes = tuple(self.change(each) for each in self.changes_in(row))
        return Commit(
            self.id_of(row), parents, self.authors[author], authored, committed, self.message(row), changes
        )


def _names(raw: NDArray[np.void]) -> list[str]:
    return raw.tobytes().decode().split("\0")[:-1]

"""A file or lines of it in, the commits that made them out: the snapshot's own and what leads to it."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from codenib.compiler.compiler import IndexCompiler
from codenib.core.errors import InputError
from codenib.core.history import HistoryAnswer, UnitHistory
from codenib.core.views import ViewKind
from codenib.snapshot.history import CommitLog
from codenib.views.history.lines import Lines, hunks_between, step_back
from codenib.views.history.read import Past

if TYPE_CHECKING:
    from codenib.serving.snapshots.pinned import Pinned
    from codenib.serving.snapshots.pool import Pins, Refresh

_TOGETHER = 5

#: A path, and the first and last line when not all are meant.
Where = tuple[str, int | None, int | None]


@dataclass(frozen=True, slots=True)
class Committed:
    """A file of the snapshot beside the same file of its commit: the hunks are what is not committed yet."""

    path: str
    blob: str  # empty when the commit has no such file
    lines: int
    hunks: Lines

    def back(self, starts: Lines, ends: Lines) -> tuple[Lines, Lines]:
        """Ranges of the snapshot's file as ranges of the commit's."""
        first, last, _ = step_back(starts, ends, self.hunks)
        return first, last

    def uncommitted(self, start: int, end: int) -> int:
        """How many lines of a range are in no commit."""
        if not self.blob:
            return end - start + 1
        return sum(max(0, min(end, n + c - 1) - max(start, n) + 1) for _, _, n, c in self.hunks.tolist())


def ask_history(
    compiler: IndexCompiler, pins: Pins, where: Where, *, k: int, at: str | None, refresh: Refresh
) -> HistoryAnswer:
    """The answer for the worktree, or for revision `at`."""
    started = time.perf_counter()
    if compiler.repository.kind == "folder":
        raise InputError(f"{compiler.repository.root} is not in a git repository, so it has no history")
    pinned, refreshed = pins.pin(ViewKind.HISTORY, at, refresh)
    answer = history_pinned(pinned, compiler.history.log, where, k)
    return replace(answer, seconds=time.perf_counter() - started, refreshed=refreshed)


def history_pinned(pinned: Pinned, log: CommitLog, where: Where, k: int) -> HistoryAnswer:
    """Who changed a file or lines of it, from an opened view."""
    path, start, end = where
    file = committed(pinned, log, path)
    first, last = start or 1, min(end or file.lines, file.lines)
    if file.lines and not 1 <= first <= last:
        raise InputError(
            f"{path} has {file.lines} lines; {start}-{end} is outside", hint=f"codenib history {path}"
        )
    past = _past(pinned, file, None if start is None else (first, last))
    items = tuple(pinned.history.touch(made) for made in past.touches[: max(k, 0) or None])
    view = pinned.history
    companions = view.cochange(path, _TOGETHER, pinned.files) if start is None else ()
    return HistoryAnswer(
        path, first, last, items, tuple(companions), pinned.ref, len(past.touches),
        len(past.touches) > len(items), past.complete, file.uncommitted(first, last), view.commit_count,
        view.reachable, note=_note(pinned, file, past),
    )  # fmt: skip


def unit_histories(pinned: Pinned, log: CommitLog, path: str) -> list[UnitHistory]:
    """The named units of a file, each with the commits that touched it."""
    file = committed(pinned, log, path)
    rows = [row for row in pinned.units(path)[0].rows if row.symbol]
    starts, ends = file.back(
        np.array([row.start_line for row in rows], np.int64),
        np.array([row.end_line for row in rows], np.int64),
    )
    ranges = list(zip(starts.tolist(), ends.tolist(), strict=True))
    pasts = pinned.history.pasts(path, file.blob, ranges) if file.blob else [Past([], True)] * len(rows)
    found = []
    for row, past in zip(rows, pasts, strict=True):
        commits = [pinned.history.commit_of(made) for made in past.touches]
        ids = tuple(commit for commit, _ in commits)
        last = max((when for _, when in commits), default=0)
        found.append(UnitHistory(row.symbol, row.kind, row.start_line, row.end_line, ids, last))
    return found


def committed(pinned: Pinned, log: CommitLog, path: str) -> Committed:
    """A file beside what the snapshot's commit has at its path."""
    text = pinned.text(path)
    lines = _lines(text)
    digest = pinned.files[path]
    nothing = np.zeros((0, 4), np.int64)
    if not pinned.ref.dirty:
        return Committed(path, digest, len(lines), nothing)
    committed = log.file_at(pinned.history.commit, path)
    if committed is None:
        return Committed(path, "", len(lines), nothing)
    if committed[0] == digest:
        return Committed(path, digest, len(lines), nothing)
    return Committed(
        path, committed[0], len(lines), hunks_between(_lines(committed[1].decode("utf-8", "replace")), lines)
    )


def _past(pinned: Pinned, file: Committed, lines: tuple[int, int] | None) -> Past:
    if not file.blob:
        return Past([], True)
    if lines is None:
        return pinned.history.past_of_file(file.path, file.blob)
    starts, ends = file.back(np.array([lines[0]]), np.array([lines[1]]))
    return pinned.history.pasts(file.path, file.blob, [(int(starts[0]), int(ends[0]))])[0]


def _note(pinned: Pinned, file: Committed, past: Past) -> str:
    if not file.blob:
        return f"{file.path} is in no commit yet"
    if past.complete:
        return ""
    view, record = pinned.history, pinned.manifest.views[ViewKind.HISTORY]
    if record.error:
        return record.error
    if view.commit_count < view.reachable:
        return f"earlier changes are older than the {view.commit_count:,} commits that the view holds"
    return "an earlier version was not found: a merge or a replaced file broke the trail"


def _lines(text: str) -> list[str]:
    """Lines without their ends, so that a checkout with other line ends is the same."""
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    if lines and not lines[-1]:
        lines.pop()
    return lines

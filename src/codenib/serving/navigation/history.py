"""A file or lines of it in, the commits that changed them out: those that lead to the snapshot."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from codenib.core.errors import InputError
from codenib.core.history import BlameAnswer, BlameRun, HistoryAnswer, Touch, UnitHistory
from codenib.core.requests import HistoryRequest
from codenib.core.text.masking import mask_secrets
from codenib.core.views import ViewKind
from codenib.snapshot.history import CommitLog
from codenib.units.encoding import as_utf8
from codenib.views.history.lines import Lines, hunks_between, step_back
from codenib.views.history.read import Past

if TYPE_CHECKING:
    from codenib.compiler.compiler import IndexCompiler
    from codenib.serving.snapshots.pinned import PinnedSnapshot
    from codenib.serving.snapshots.pool import Snapshots

_TOGETHER = 5
PastT = TypeVar("PastT", HistoryAnswer, BlameAnswer)


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


def ask_past(
    compiler: IndexCompiler,
    snapshots: Snapshots,
    request: HistoryRequest,
    ask: Callable[[PinnedSnapshot, CommitLog, HistoryRequest], PastT],
) -> PastT:
    """What `ask` says of the snapshot with its history; an error where there is no git."""
    started, repository = time.perf_counter(), compiler.repository
    if repository.kind == "folder":
        raise InputError(f"{repository.root} is not in a git repository, so it has no history")
    pinned, refreshed = snapshots.pin(ViewKind.HISTORY, request.snapshot)
    answer = replace(ask(pinned, compiler.history.log, request), refreshed=refreshed)
    return replace(answer, seconds=time.perf_counter() - started)


def history_of(pinned: PinnedSnapshot, log: CommitLog, request: HistoryRequest) -> HistoryAnswer:
    """Who changed a file or lines of it, from the opened view; the path is relative to the root."""
    path, start, end = request.path, request.start, request.end
    file = committed(pinned, log, path)
    first, last = start or 1, min(end or file.lines, file.lines)
    if file.lines and not 1 <= first <= last:
        what = f"{path} has {file.lines} lines; {start}-{end} is outside"
        raise InputError(what, hint=f"codenib history {path}")
    view, past = pinned.history, _past(pinned, file, None if start is None else (first, last))
    items = tuple(view.touch(touch) for touch in past.touches[: max(request.k, 0) or None])
    together = view.cochange(path, _TOGETHER, pinned.files) if start is None else ()
    return HistoryAnswer(
        path=path,
        start_line=first,
        end_line=last,
        items=items,
        together=tuple(together),
        snapshot=pinned.ref,
        total=len(past.touches),
        truncated=len(past.touches) > len(items),
        complete=past.complete and not (file.blob and view.lacks_changes),
        uncommitted=file.uncommitted(first, last),
        commits=view.commit_count,
        reachable=view.reachable,
        note=_note(pinned, file, past),
    )


def blame_of(pinned: PinnedSnapshot, log: CommitLog, request: HistoryRequest) -> BlameAnswer:
    """Which commit changed each line last; lines that follow each other and have the same one are a run."""
    path, view = request.path, pinned.history
    file = committed(pinned, log, path)
    first, last = request.start or 1, min(request.end or file.lines, file.lines)
    numbers = np.arange(first, last + 1, dtype=np.int64)
    starts, ends = file.back(numbers, numbers)
    ranges = list(zip(starts.tolist(), ends.tolist(), strict=True))
    pasts = view.pasts(path, file.blob, ranges) if file.blob else [Past([], True)] * len(ranges)
    runs: list[BlameRun] = []
    known: dict[tuple[str, int], Touch] = {}
    uncommitted = unknown = 0
    for line, past in zip(numbers.tolist(), pasts, strict=True):
        touch = None
        if file.uncommitted(line, line):
            uncommitted += 1
        elif past.touches:
            step = past.touches[0]
            key = (step.segment.name, step.change)
            touch = known[key] = known.get(key) or view.touch(step)
        else:
            unknown += 1
        if runs and runs[-1].commit == (touch.commit if touch else ""):
            runs[-1] = replace(runs[-1], end_line=line)
        elif touch is None:
            runs.append(BlameRun(line, line, commit="", author="", committed=0, subject=""))
        else:
            told = BlameRun(line, line, touch.commit, author=touch.author, committed=0, subject=touch.subject)
            runs.append(replace(told, committed=touch.committed))
    note = _note(pinned, file, Past([], not unknown))
    return BlameAnswer(path, tuple(runs), pinned.ref, uncommitted, unknown, note=note)


def unit_histories(pinned: PinnedSnapshot, log: CommitLog, path: str) -> list[UnitHistory]:
    """The named units of a file, each with the commits that touched it."""
    file = committed(pinned, log, path)
    rows = [row for row in pinned.units(path)[0].rows if row.symbol]
    starts, ends = file.back(
        np.array([row.start_line for row in rows], np.int64),
        np.array([row.end_line for row in rows], np.int64),
    )
    ranges = list(zip(starts.tolist(), ends.tolist(), strict=True))
    pasts = pinned.history.pasts(path, file.blob, ranges) if file.blob else [Past([], True)] * len(rows)
    histories = []
    for row, past in zip(rows, pasts, strict=True):
        commits = [pinned.history.commit_of(touch) for touch in past.touches]
        history = UnitHistory(
            symbol=row.symbol,
            kind=row.kind,
            start_line=row.start_line,
            end_line=row.end_line,
            commits=tuple(commit for commit, _ in commits),
            last=max((when for _, when in commits), default=0),
        )
        histories.append(history)
    return histories


def committed(pinned: PinnedSnapshot, log: CommitLog, path: str) -> Committed:
    """A file beside what the snapshot's commit has at its path."""
    text = pinned.text(path)
    lines = _lines(text)
    digest = pinned.files[path]
    nothing = np.zeros((0, 4), np.int64)
    if not pinned.ref.dirty:
        return Committed(path, digest, len(lines), nothing)
    committed_file = log.file_at(pinned.history.commit, path)
    if committed_file is None:
        return Committed(path, "", len(lines), nothing)
    blob, data = committed_file
    if blob == digest:
        return Committed(path, digest, len(lines), nothing)
    before = _lines(mask_secrets(as_utf8(data).decode("utf-8", "replace")))  # as the snapshot's text is
    return Committed(path, blob, len(lines), hunks_between(before, lines))


def _past(pinned: PinnedSnapshot, file: Committed, lines: tuple[int, int] | None) -> Past:
    if not file.blob:
        return Past([], True)
    if lines is None:
        return pinned.history.past_of_file(file.path, file.blob)
    starts, ends = file.back(np.array([lines[0]]), np.array([lines[1]]))
    return pinned.history.pasts(file.path, file.blob, [(int(starts[0]), int(ends[0]))])[0]


def _note(pinned: PinnedSnapshot, file: Committed, past: Past) -> str:
    if not file.blob:
        return f"{file.path} is in no commit yet"
    if past.complete and not pinned.history.lacks_changes:
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

"""An artifact in, answers about the past of its commit out: who, when, why, and what changes together."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from codenib.core.history import Commit, Companion, Hunk, Touch
from codenib.views.history.artifact import read_artifact
from codenib.views.history.together import FileActivity, Pasts
from codenib.views.history.walk import LineTrace, Step, Versions, walk

_DAY_S = 86_400
_ALL = 1 << 30  # a last line beyond every file's


@dataclass(frozen=True, slots=True)
class CommitMessage:
    """A commit's message with the files that it touched, as they were called then; a merge touches none."""

    commit: str
    author: str
    committed: int
    text: str
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Past:
    """The commits that touched a range, newest first; `complete` when the walk reached its beginning."""

    touches: list[Step]
    complete: bool


class HistoryView:
    """The commits that lead to one commit. Knows nothing later, and no file but theirs."""

    def __init__(self, folder: Path) -> None:
        self._artifact = read_artifact(folder)
        self._segments = self._artifact.segments
        self._versions = Versions(self._segments)

    @property
    def commit(self) -> str:
        """The commit that the view is for."""
        return self._artifact.tip.commit

    @property
    def commit_count(self) -> int:
        """How many commits the view holds."""
        return self._artifact.commit_count

    @property
    def lacks_changes(self) -> bool:
        """Whether it does not know what some of its commits changed."""
        return self._artifact.lacking_count + self._artifact.oversized_count > 0

    @property
    def reachable(self) -> int:
        """How many commits lead to the snapshot, also those that are too old for the view."""
        return self._artifact.tip.reachable

    def pasts(self, path: str, blob: str, ranges: Sequence[tuple[int, int]]) -> list[Past]:
        """The past of each line range of a file, which has the blob `blob` in the view's commit."""
        trace = self._walk(path, blob, ranges)
        return [
            Past(
                [step for step in trace.steps if step.touched[number]],
                not trace.cut[number],
            )
            for number in range(len(ranges))
        ]

    def past_of_file(self, path: str, blob: str) -> Past:
        """The past of a whole file, with its renames and changes of mode."""
        trace = self._walk(path, blob, [(1, _ALL)])
        return Past([step for step in trace.steps if step.touched[0] or not step.merge], not trace.cut[0])

    def touch(self, step: Step, number: int = 0) -> Touch:
        """What a person wants to know of a change to range `number` of a walk."""
        segment, change = step.segment, step.segment.change(step.change)
        number_of_commit = segment.change_row(step.change).commit
        commit, message = segment.commit_row(number_of_commit), segment.message(number_of_commit)
        start, end = int(step.ranges.starts[number]), int(step.ranges.ends[number])
        hunks = [hunk for hunk in change.hunks if _touches(hunk, start, end)]
        return Touch(
            commit=segment.id_of(number_of_commit),
            author=segment.authors[commit.author],
            authored=commit.authored,
            committed=commit.committed,
            subject=message.partition("\n")[0],
            message=message,
            path=change.path,
            old_path=change.old_path if change.old_path != change.path else "",
            lines=tuple((each.new_start, each.new_start + max(each.new_count, 1) - 1) for each in hunks),
            added=sum(hunk.new_count for hunk in hunks),
            removed=sum(hunk.old_count for hunk in hunks),
        )

    def commit_of(self, step: Step) -> tuple[str, int]:
        """The id and the commit time of a change."""
        row = int(step.segment.changes["commit"][step.change])
        return step.segment.id_of(row), int(step.segment.commits["committed"][row])

    def messages(self) -> Iterator[CommitMessage]:
        """Every commit's message, newest first."""
        rows = [(segment.aged[row], segment, row) for segment in self._segments for row in segment.live()]
        numbers = {segment.name: segment.changes["path"].tolist() for segment in self._segments}
        for (_, commit), segment, row in sorted(rows, key=lambda each: each[0], reverse=True):
            about = segment.commit_row(row)
            changes = segment.changes_in(row) if about.parents < 2 else ()
            paths = tuple(segment.paths[numbers[segment.name][each]] for each in changes)
            author, text = segment.authors[about.author], segment.message(row)
            yield CommitMessage(commit, author, about.committed, text, paths)

    def commits(self) -> Iterator[Commit]:
        """Every commit with what it changed, newest first."""
        rows = [(segment.aged[row], segment, row) for segment in self._segments for row in segment.live()]
        for _, segment, row in sorted(rows, key=lambda each: each[0], reverse=True):
            yield segment.commit(row)

    def cochange(self, path: str, k: int, files: Collection[str]) -> list[Companion]:
        """The files among `files` that change together with `path`, the surest first."""
        return self._pasts.companions(path, k, files)

    def activity(self, path: str) -> FileActivity:
        """How much a file was worked on."""
        return self._pasts.activity(path)

    def churn(self, path: str) -> int:
        """How many commits changed a file, through its renames."""
        return len(self._pasts.commits_of(path))

    def recency(self, path: str) -> float:
        """How many days before the view's commit a file was last changed; infinite when it never was."""
        last = self._pasts.activity(path).last
        return (self._now - last) / _DAY_S if last else float("inf")

    @cached_property
    def _now(self) -> int:
        """The time of the view's commit: it comes after all that lead to it."""
        rows = ((segment.aged[row], segment, row) for segment in self._segments for row in segment.live()[:1])
        _, segment, row = max(rows, key=lambda each: each[0])  # only asked where there is a change
        return int(segment.commits["committed"][row])

    @cached_property
    def _pasts(self) -> Pasts:
        return Pasts(self._segments)

    def _walk(self, path: str, blob: str, ranges: Sequence[tuple[int, int]]) -> LineTrace:
        starts, ends = np.array(ranges, np.int64).reshape(-1, 2).T
        return walk(self._versions, path, int(blob[:16], 16), starts, ends)


def _touches(hunk: Hunk, start: int, end: int) -> bool:
    """Whether a hunk has lines from `start` to `end`; a deletion, whether it lies between two of them."""
    last = hunk.new_start + hunk.new_count - 1 if hunk.new_count else hunk.new_start
    first = hunk.new_start if hunk.new_count else hunk.new_start + 1
    return last >= start and first <= end

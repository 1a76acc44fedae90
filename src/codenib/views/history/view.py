"""The history view for the compiler: a snapshot's commit in, the commits that lead to it out.

The artifact is a function of the commit, not of the files: edits of a worktree leave it as it is. What a
commit did never changes, so a view follows any other of the same repository: commits that are no longer
reachable go, and only those that are new are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

from codenib.core.errors import CannotMaintain, ProviderError
from codenib.core.history import Commit, ListedCommit
from codenib.core.protocols import Progress, Records
from codenib.core.source import Delta, SourceSnapshot
from codenib.core.views import ArtifactProfile, ViewFacts, ViewKind
from codenib.views.history.artifact import Artifact, Tip, advance_artifact, read_artifact, write_artifact
from codenib.views.history.profile import history_profile
from codenib.views.history.window import Aged, age, newest


class Log(Protocol):
    """What the view needs of git."""

    def boundary(self) -> str: ...

    def listing(self, commit: str) -> list[ListedCommit]: ...

    def between(self, base: str, commit: str) -> tuple[set[str], list[ListedCommit]]: ...

    def read(self, ids: Sequence[str]) -> Iterator[Commit]: ...


class HistoryViewBuilder:
    """Reads commits and keeps the newest `max_commits` of them."""

    kind = ViewKind.HISTORY

    def __init__(self, log: Log, max_commits: int, progress: Progress) -> None:
        self._log = log
        self._max = max_commits
        self._progress = progress

    def profile(self) -> ArtifactProfile:
        return history_profile(self._max, self._log.boundary())

    def build(self, snapshot: SourceSnapshot, records: Records, out: Path) -> ViewFacts:
        commit = snapshot.commit or ""
        listed = self._log.listing(commit) if commit else []  # without a commit, an empty history
        wanted = newest(age(listed, {}), self._max)
        write_artifact(Tip(commit, len(listed)), wanted, self._read(wanted), out)
        return self._facts(out)

    def maintain(self, base: Path, delta: Delta, records: Records, out: Path) -> ViewFacts:
        """Drop what the commit does not reach, read what the base did not."""
        commit = delta.commit or ""
        old = read_artifact(base)
        if not commit or not old.tip.commit:
            raise CannotMaintain("there is no commit to follow")
        try:
            gone, new = self._log.between(old.tip.commit, commit)
        except ProviderError as error:
            raise CannotMaintain(f"git does not know {old.tip.commit} any more") from error
        wanted = self._wanted(old, commit, gone, new)
        stored = old.stored()
        fresh = [each for each in wanted if each not in stored]
        read = dict(zip(fresh, self._read(fresh), strict=True))
        tip = Tip(commit, old.tip.reachable - len(gone) + len(new))
        advance_artifact(old, tip, {each.id for each in wanted}, read, out)
        return self._facts(out)

    def differences(self, left: Path, right: Path) -> Iterator[str]:
        """Compare what is said of each commit."""
        ours, theirs = read_artifact(left), read_artifact(right)
        if ours.tip != theirs.tip:
            yield " and ".join(f"of {tip.commit} ({tip.reachable})" for tip in (ours.tip, theirs.tip))
        rows, others = (
            {segment.aged[row]: (segment, row) for segment in side.segments for row in segment.live()}
            for side in (ours, theirs)
        )
        for aged in sorted(rows.keys() | others.keys(), reverse=True):
            if aged not in rows or aged not in others:
                yield f"{aged.id}: only in the {'first' if aged in rows else 'second'}"
                continue
            (segment, row), (other, place) = rows[aged], others[aged]
            if segment.commit(row) != other.commit(place):
                yield f"{aged.id}: not equal"

    def _wanted(self, old: Artifact, commit: str, gone: set[str], new: list[ListedCommit]) -> list[Aged]:
        """The commits that the view holds, newest first, by the shortest way to find out."""
        stored = old.aged()
        if not gone or old.commit_count == old.tip.reachable:  # otherwise older commits may move up
            try:
                fresh = age(new, {each.id: each.key for each in stored})
            except KeyError:  # a parent is older than all that the base holds
                pass
            else:
                return newest([*(each for each in stored if each.id not in gone), *fresh], self._max)
        return newest(age(self._log.listing(commit), {}), self._max)

    def _read(self, wanted: Sequence[Aged]) -> Iterator[Commit]:
        ids = [each.id for each in wanted]
        for done, commit in enumerate(self._log.read(ids)):
            if done % 256 == 0:
                self._progress("reading commits", done, len(ids))
            yield commit

    def _facts(self, out: Path) -> ViewFacts:
        artifact = read_artifact(out)
        lacking, oversized = artifact.lacking_count, artifact.oversized_count
        known = artifact.commit_count - lacking - oversized
        counts = {"commits": known, "reachable commits": artifact.tip.reachable}
        lacks = []
        if self._log.boundary():
            lacks.append("a shallow clone: commits before its boundary are unknown; git fetch --unshallow")
        if lacking:
            lacks.append(
                f"{lacking:,} commits whose objects git does not have; git fetch --refetch --no-filter"
            )
        if oversized:
            lacks.append(f"{oversized:,} commits that change more files than can be listed")
        if lacking or oversized:
            counts["commits left out"] = lacking + oversized
        return ViewFacts(counts, ("history",), "; ".join(lacks))

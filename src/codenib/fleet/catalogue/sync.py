"""Entries in, mirrors that follow their sources out: what moved, and what failed and why.

A source that cannot be reached, or is gone, costs nothing that was fetched before: the mirror and its heads
stay, and the outcome says so.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from codenib.core.errors import CodenibError, InputError, ProviderError
from codenib.fleet.catalogue.catalogue import Catalogue
from codenib.fleet.catalogue.entry import RepositoryEntry
from codenib.fleet.catalogue.remote import SourceGone, fetch_branches, make_mirror, remote_heads
from codenib.fleet.catalogue.state import RepositoryState, read_state, write_state
from codenib.manifest.lock import exclusive
from codenib.snapshot import git
from codenib.snapshot.repository import Repository, locate

#: Sources that are asked at once: mostly waiting, and a server counts connections.
JOBS = 8
_LOCK_S = 3600.0


@dataclass(frozen=True, slots=True)
class HeadMove:
    """A branch that is at another commit than before; "" where it was not, or is not any more."""

    branch: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class SyncOutcome:
    """What came of one repository; `moved` is empty where nothing did. With an `error` all is as before."""

    name: str
    state: Literal["fresh", "failed", "gone"]
    moved: tuple[HeadMove, ...]
    error: str
    seconds: float

    @property
    def repeat(self) -> str:
        """The command that tries it again."""
        return f"codenib fleet sync --repos {self.name}"


def sync_all(
    catalogue: Catalogue, entries: Sequence[RepositoryEntry], *, jobs: int = JOBS
) -> Iterator[SyncOutcome]:
    """Synchronize repositories, several at once; each outcome as soon as it is there."""
    with ThreadPoolExecutor(max(1, jobs), thread_name_prefix="sync") as pool:
        waiting = [pool.submit(sync_repository, catalogue, entry) for entry in entries]
        try:
            for done in as_completed(waiting):
                yield done.result()
        finally:
            for each in waiting:
                each.cancel()


def is_due(catalogue: Catalogue, entry: RepositoryEntry, now: float) -> bool:
    """Whether the schedule of a repository asks for it; a source that failed is tried at the same pace."""
    if entry.every_s is None:
        return False
    return now - read_state(catalogue.state_file(entry)).tried >= entry.every_s


def sync_repository(catalogue: Catalogue, entry: RepositoryEntry) -> SyncOutcome:
    """Fetch what the source has of the wanted branches, drop those that it has no more."""
    started, file = time.perf_counter(), catalogue.state_file(entry)
    before = read_state(file)
    try:
        after = _in_place(entry) if entry.in_place else _mirrored(catalogue.mirror_of(entry), entry)
    except CodenibError as error:
        gone = isinstance(error, SourceGone) or (entry.in_place and not Path(entry.source).exists())
        what = f"{entry.source}: {error.message}"
        if before.heads:
            what += "; its last state stays"
        failed = RepositoryState(
            heads=before.heads,
            default=before.default,
            synced=before.synced,
            tried=time.time(),
            error=what,
            gone=gone,
        )
        write_state(file, failed)
        state: Literal["failed", "gone"] = "gone" if gone else "failed"
        return SyncOutcome(entry.name, state, (), what, time.perf_counter() - started)
    write_state(file, after)
    moved = tuple(
        HeadMove(branch, before.heads.get(branch, ""), after.heads.get(branch, ""))
        for branch in sorted({*before.heads, *after.heads})
        if before.heads.get(branch) != after.heads.get(branch)
    )
    return SyncOutcome(entry.name, "fresh", moved, "", time.perf_counter() - started)


def current_state(catalogue: Catalogue, entry: RepositoryEntry) -> RepositoryState:
    """What is known of a repository without asking its source: one that is read in place is looked at now.

    Of a mirror it is what the last synchronization learned; before the first, nothing.
    """
    if not entry.in_place:
        return read_state(catalogue.state_file(entry))
    try:
        return _in_place(entry)
    except CodenibError as error:
        last = read_state(catalogue.state_file(entry))
        gone = not Path(entry.source).exists()
        what = f"{entry.source}: {error.message}"
        return msgspec.structs.replace(last, tried=time.time(), error=what, gone=gone)


def local_heads(place: Path) -> tuple[dict[str, str], str]:
    """The branches of a local repository with their commits, and the one that HEAD names.

    A HEAD that names no branch counts as a branch `HEAD`.
    """
    return heads_of(locate(place))


def heads_of(repository: Repository) -> tuple[dict[str, str], str]:
    """As `local_heads`, of a repository that was located already."""
    args = repository.git_args()
    form = "--format=%(objectname) %(refname) %(HEAD)"
    heads: dict[str, str] = {}
    default = ""
    for line in os.fsdecode(git.run([*args, "for-each-ref", form, "refs/heads/"])).splitlines():
        commit, ref, mark = line.split(" ", 2)
        heads[ref.removeprefix("refs/heads/")] = commit
        if mark == "*":
            default = ref.removeprefix("refs/heads/")
    if not default:
        answer = git.call([*args, "rev-parse", "--verify", "--quiet", "HEAD^{commit}"])
        if answer.code == 0:
            heads["HEAD"] = answer.out.decode().strip()
            default = "HEAD"
    return heads, default


def wanted_branches(entry: RepositoryEntry, heads: Mapping[str, str], default: str) -> list[str]:
    """The branches of a source that an entry asks for; an InputError when it has none of them."""
    if not entry.branches:
        return [default] if default else []
    patterns = [re.compile(re.escape(each).replace(r"\*", ".*")) for each in entry.branches]
    wanted = [branch for branch in heads if any(pattern.fullmatch(branch) for pattern in patterns)]
    if not wanted and heads:
        raise InputError(
            f"no branch is called {' or '.join(entry.branches)}",
            hint=f"codenib fleet add {entry.source} --name {entry.name} --branch NAME",
        )
    return wanted


def _in_place(entry: RepositoryEntry) -> RepositoryState:
    heads, default = local_heads(Path(entry.source))
    wanted = wanted_branches(entry, heads, default)
    now = time.time()
    return RepositoryState(
        heads={branch: heads[branch] for branch in wanted}, default=default, synced=now, tried=now
    )


def _mirrored(mirror: Path, entry: RepositoryEntry) -> RepositoryState:
    with exclusive(mirror.with_suffix(".lock"), timeout_s=_LOCK_S):
        make_mirror(mirror, entry.source)
        there = remote_heads(mirror, entry.source)
        wanted = wanted_branches(entry, there.heads, there.default)
        have, head = local_heads(mirror)
        have.pop("HEAD", None)
        if any(have.get(branch) != there.heads[branch] for branch in wanted):
            in_the_way = [branch for branch in have if _in_the_way(branch, wanted)]
            _drop(mirror, in_the_way)
            have = {branch: commit for branch, commit in have.items() if branch not in in_the_way}
            fetch_branches(mirror, entry.source, wanted)
        default = there.default if there.default in wanted else (wanted[0] if wanted else "")
        if default and default != head:
            git.run([f"--git-dir={mirror}", "symbolic-ref", "HEAD", f"refs/heads/{default}"])
        _drop(mirror, [branch for branch in have if branch not in wanted])
        have, _ = local_heads(mirror)
    lacking = [branch for branch in wanted if branch not in have]
    if lacking:
        raise ProviderError(f"{', '.join(lacking)} did not arrive")
    now = time.time()
    return RepositoryState(
        heads={branch: have[branch] for branch in wanted}, default=default, synced=now, tried=now
    )


def _in_the_way(branch: str, wanted: Sequence[str]) -> bool:
    """Whether git cannot have this branch beside the wanted ones: `a` is a file where `a/b` needs a folder.

    >>> _in_the_way("a", ["a/b"]), _in_the_way("a/b", ["a"]), _in_the_way("a", ["a", "ab"])
    (True, True, False)
    """
    return any(each.startswith(f"{branch}/") or branch.startswith(f"{each}/") for each in wanted)


def _drop(mirror: Path, branches: Sequence[str]) -> None:
    """Forget branches that the source has no more, or that nobody asks for any more."""
    if branches:
        lines = "".join(f"delete refs/heads/{branch}\n" for branch in branches)
        git.run([f"--git-dir={mirror}", "update-ref", "--stdin"], stdin=os.fsencode(lines))

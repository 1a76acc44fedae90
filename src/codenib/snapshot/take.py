"""A repository in, a SourceSnapshot out: a commit, the worktree as it is now, or a plain folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from codenib.core.errors import InputError
from codenib.core.source import SourceSnapshot
from codenib.snapshot import git, ignore, index
from codenib.snapshot.content import Digester, Folder
from codenib.snapshot.ignore import (
    CONFIG_FILE,
    IGNORE_FILE,
    Configure,
    file_in_tree,
    file_on_disk,
    leave_out,
    unconfigured,
)
from codenib.snapshot.listing import (
    NOT_CHECKED_OUT,
    SUBMODULE,
    Listing,
    WorktreeStatus,
    parse_paths,
    parse_tree,
)
from codenib.snapshot.repository import Repository, refuse_endless_rules
from codenib.snapshot.store import LocalBlobs

_STATS = "stats.msgpack"


def take(
    repo: Repository,
    state_dir: Path,
    store: LocalBlobs,
    at: str | None = None,
    configure: Configure = unconfigured,
) -> SourceSnapshot:
    """The snapshot of revision `at`; without it, of what is on disk now, or of HEAD in a bare repository.

    `configure` says what the snapshot's own `codenib.toml` and the user's mean for its files.
    """
    if repo.kind == "folder":
        if at is not None:
            raise InputError(f"{repo.root} is not in a git repository, so it has no revision {at!r}")
        return take_folder(repo, state_dir, store, configure)
    if at is None and repo.kind == "git":
        return take_worktree(repo, state_dir, store, configure)
    return take_commit(repo, "HEAD" if at is None else at, configure)


def take_commit(repo: Repository, rev: str, configure: Configure = unconfigured) -> SourceSnapshot:
    """The files of the commit that `rev` names; nothing on disk but git's objects is read."""
    commit = _resolve(repo, rev)
    at = repo.git_args()
    listing = parse_tree(git.list_files([*at, "ls-tree", "-r", "-z", "--full-tree", commit]))
    patterns = listing.files.get(IGNORE_FILE)
    settings = configure(lambda: file_in_tree(at, listing), f"{CONFIG_FILE} of {commit[:12]}")
    ignore.apply(listing, git.run([*at, "cat-file", "blob", patterns]) if patterns is not None else None)
    leave_out(listing, settings)
    return SourceSnapshot(repo.name, commit, False, listing.files, listing.counts(), settings=settings)


def take_worktree(
    repo: Repository, state_dir: Path, store: LocalBlobs, configure: Configure = unconfigured
) -> SourceSnapshot:
    """The worktree as it is now, with staged, unstaged and untracked (not ignored) edits.

    `state_dir` belongs to this worktree alone; contents that git does not hold go to `store`. A clean
    worktree gives the snapshot of its HEAD commit. The user's index is not written.
    """
    with index.locked(state_dir):
        listing, unwatched, status = index.compare(repo, state_dir)
        digester = Digester(repo.root, state_dir / _STATS, store, repo.object_format)
        wanted, head = _merge(listing, unwatched, status, digester.folder)
        settings = configure(lambda: file_on_disk(digester.folder), CONFIG_FILE)
        hidden = ignore.apply(listing, _patterns(digester.folder)) | leave_out(listing, settings)
        _fill(listing, digester, {path: stored for path, stored in wanted.items() if path not in hidden})
    differing = (path for path, digest in head.items() if listing.files.get(path) != digest)
    dirty = any(path not in hidden or path in (IGNORE_FILE, CONFIG_FILE) for path in differing)
    return SourceSnapshot(repo.name, status.commit, dirty, listing.files, listing.counts(), settings=settings)


def take_folder(
    repo: Repository, state_dir: Path, store: LocalBlobs, configure: Configure = unconfigured
) -> SourceSnapshot:
    """A folder outside git as it is now, less what its .gitignore files exclude. Contents go to `store`."""
    with index.locked(state_dir):
        empty = ignore.empty_repository(state_dir / "empty.git")
        at = ["-C", str(repo.root), f"--git-dir={empty}", f"--work-tree={repo.root}"]
        listing = parse_paths(_untracked(repo, at))
        digester = Digester(repo.root, state_dir / _STATS, store, repo.object_format)
        settings = configure(lambda: file_on_disk(digester.folder), CONFIG_FILE)
        ignore.apply(listing, _patterns(digester.folder))
        leave_out(listing, settings)
        _fill(listing, digester, {path: frozenset() for path in listing.files})
    return SourceSnapshot(repo.name, None, False, listing.files, listing.counts(), settings=settings)


def _untracked(repo: Repository, at: Sequence[str]) -> bytes:
    args = [*at, "ls-files", "--others", "--exclude-standard", "-z"]
    return git.checked(git.finish(git.start(args), on_stall=lambda: refuse_endless_rules(repo.root)), args)


def _resolve(repo: Repository, rev: str) -> str:
    """The full id of the commit that `rev` names."""
    if rev and not rev.startswith("-") and "\0" not in rev:
        answer = git.call([*repo.git_args(), "rev-parse", "--verify", "--quiet", f"{rev}^{{commit}}"])
        if answer.code == 0:
            return answer.out.decode().strip()
    hint = f"`git -C {repo.root} log --oneline --all` lists commits"
    raise InputError(f"{repo.name} has no revision {rev!r}", hint=hint)


def _merge(
    listing: Listing, unwatched: Mapping[str, str], status: WorktreeStatus, folder: Folder
) -> tuple[dict[str, frozenset[str]], dict[str, str | None]]:
    """Bring what differs on disk into the index's `listing`; files to read still have a wrong digest there.

    Returns those files, each with the digests that git holds, and what HEAD has at each path that may differ.
    """
    wanted, head = dict(status.changed), dict(status.head)
    for path, digest in unwatched.items():
        present = folder.stat(path) is not None
        if not present and listing.skipped.get(path) == NOT_CHECKED_OUT:
            continue
        listing.put(path, digest)
        wanted[path] = frozenset((digest,))
        head.setdefault(path, digest)
    for path in status.deleted:
        listing.drop(path)
    for path in status.changed:
        listing.put(path, "")
    for path in status.nested:
        listing.skip(path, SUBMODULE)
    for path, reason in status.unfit.items():
        listing.skip(path, reason)
    return wanted, head


def _fill(listing: Listing, digester: Digester, wanted: Mapping[str, frozenset[str]]) -> None:
    """Give each wanted file its digest, or its reason to be skipped; drop those that are gone."""
    digested = digester.digest(wanted)
    for path in wanted:
        listing.drop(path)
    listing.files.update(digested.files)
    listing.skipped.update(digested.skipped)


def _patterns(folder: Folder) -> bytes | None:
    """What the `.codenibignore` on disk says."""
    answer = folder.read(IGNORE_FILE)
    return answer[0] if isinstance(answer, tuple) else None

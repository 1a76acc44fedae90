"""A private copy of a worktree's index, so that git can refresh it and the user's .git stays as it was."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from codenib.core.errors import InputError, ProviderError
from codenib.snapshot import git
from codenib.snapshot.listing import Listing, WorktreeStatus, parse_index, parse_status
from codenib.snapshot.repository import Repository, refuse_endless_rules
from codenib.system.files import open_flags
from codenib.system.locks import LOCKS

_STATUS = (
    "status",
    "--porcelain=v2",
    "-z",
    "--branch",
    "--no-ahead-behind",
    "--untracked-files=all",
    "--no-renames",
    "--ignore-submodules=all",
)
_MAGIC = b"DIRC"
_HEADER = 12  # bytes before the entries of an index
_ENTRIES = ("ls-files", "-s", "-v", "-z")


@contextmanager
def locked(state_dir: Path) -> Iterator[None]:
    """One taker at a time in `state_dir`; a crash frees the lock."""
    state_dir.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(state_dir / "lock", open_flags("O_RDWR", "O_CREAT", "O_CLOEXEC"), 0o600)
    try:
        LOCKS.acquire(descriptor, shared=False, wait=True)
        yield
    finally:
        LOCKS.release(descriptor)
        os.close(descriptor)


def compare(repo: Repository, state_dir: Path) -> tuple[Listing, dict[str, str], WorktreeStatus]:
    """The index's entries, those that git does not watch, and how the worktree differs. Call it `locked`."""
    index = private_index(repo, state_dir)
    try:
        return _compare(repo, index)
    except ProviderError:
        if not index.exists():
            raise
        # A power cut may have damaged our copy; the user's own index decides.
        index.unlink()
        return _compare(repo, private_index(repo, state_dir))


def _compare(repo: Repository, index: Path) -> tuple[Listing, dict[str, str], WorktreeStatus]:
    # The lock of a killed git would silently keep every later one from saving what it refreshed.
    index.with_name(f"{index.name}.lock").unlink(missing_ok=True)
    at = [*repo.git_args(), "-c", "index.skipHash=false"]  # by its checksum we know our copy again
    env = {"GIT_INDEX_FILE": str(index), "GIT_OPTIONAL_LOCKS": "1"}
    # git status takes 45 ms on Django and most of it waits for the disk: read the entries meanwhile.
    status = git.start([*at, *_STATUS], env={**env, **git.without_filters(at)})
    try:
        listing, unwatched = parse_index(git.run([*at, *_ENTRIES], env=env))
    finally:
        answer = git.finish(status, on_stall=lambda: _explain_stall(repo))
    return listing, unwatched, parse_status(git.checked(answer, _STATUS))


def _explain_stall(repo: Repository) -> None:
    """Raise where git would never end: it waits for a pipe, or HEAD names more files than a disk holds."""
    refuse_endless_rules(repo.root)
    tree = ["ls-tree", "-r", "-z", "--full-tree", "HEAD"]
    with suppress(ProviderError):  # an unborn branch
        git.list_files([*repo.git_args(), *tree])


def private_index(repo: Repository, state_dir: Path) -> Path:
    """A copy of the user's index in `state_dir`, named by what it is a copy of; absent when that is absent.

    The name holds as long as the user's index is the same file, so what git refreshed in the copy is kept.
    """
    assert repo.git_dir is not None
    data, stat = b"", None
    source = repo.git_dir / "index"
    try:
        with os.fdopen(os.open(source, open_flags("O_RDONLY", "O_NONBLOCK")), "rb") as file:
            stat = os.fstat(file.fileno())
            # The last bytes are a checksum over the rest: two writes in one tick of the clock still differ.
            file.seek(max(0, stat.st_size - 32))
            facts = f"{source}\0{stat.st_mtime_ns} {stat.st_size} {stat.st_ino} {file.read().hex()}"
            copy = state_dir / f"index-{hashlib.sha256(os.fsencode(facts)).hexdigest()[:24]}"
            if _is_whole(copy, repo.object_format):
                return copy
            file.seek(0)
            data = file.read()
            if not data.startswith(_MAGIC):  # it may be a link to anything, which is not ours to copy
                raise InputError(f"{source} is not an index of git", hint=f"git -C {repo.root} status")
    except FileNotFoundError:
        copy = state_dir / "index-none"
    for old in state_dir.glob("index-*"):
        old.unlink()
    if stat is not None:
        fresh = state_dir / "index-new"
        fresh.write_bytes(data)
        # git tells entries that may have changed within the clock's tick by the index's own time.
        os.utime(fresh, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        fresh.replace(copy)
    return copy


def _is_whole(index: Path, object_format: str) -> bool:
    """Whether an index has its checksum, which git itself does not look at; zeros stand for none."""
    try:
        data = index.read_bytes()
    except FileNotFoundError:
        return False
    length = hashlib.new(object_format, usedforsecurity=False).digest_size
    body, end = data[:-length], data[-length:]
    if not data.startswith(_MAGIC) or len(body) < _HEADER:
        return False
    return end in (bytes(length), hashlib.new(object_format, body, usedforsecurity=False).digest())

"""A commit in, what git knows of its past out: the commits that lead to it, and what each changed.

Diffs are made as in a bare repository, so that neither the worktree's attributes nor the user's settings
decide them: a commit always gives the same values.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import suppress

from codenib.core.errors import ProviderError
from codenib.core.history import Commit, ListedCommit
from codenib.snapshot import git
from codenib.snapshot.blobs import blob_digest
from codenib.snapshot.changes import parse_commits
from codenib.snapshot.repository import Repository

# A batch bounds the memory: Django's 20,000 newest commits are 165 MB of patches.
_BATCH = 256
_FORMAT = "--format=%x00%x00%H%x00%P%x00%an%x00%at%x00%ct%x00%B%x00"
# Exact renames are always found; the limit bounds the pairs that are compared line by line in huge commits.
_DIFF = (
    "--stdin", "--always", "--root", "-r", "-M50%", "-l400", "--raw", "-p", "--no-abbrev", "--no-color",
    "--no-ext-diff", "--no-textconv", "--submodule=short", "--diff-algorithm=myers", "--no-indent-heuristic",
    "--irreversible-delete", "-O/dev/null", "--encoding=UTF-8", _FORMAT,
)  # fmt: skip
_PLAIN = ("-U0", "--inter-hunk-context=0")
_MERGES = ("-c", "--combined-all-paths", "-U1")  # without context, git's counts here are wrong


class CommitLog:
    """The commits of one repository. A question names a commit, and nothing later is read."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository

    def boundary(self) -> str:
        """Names the place where a shallow clone ends; empty when all commits are there."""
        shallow = self._shallow()
        return hashlib.sha256("\n".join(sorted(shallow)).encode()).hexdigest()[:16] if shallow else ""

    def listing(self, commit: str) -> list[ListedCommit]:
        """Every commit reachable from `commit`, itself included, parents before their children."""
        out = self._git("rev-list", "--topo-order", "--reverse", "--parents", "--timestamp", commit, "--")
        return [_listed(line) for line in out.decode().splitlines()]

    def between(self, base: str, commit: str) -> tuple[set[str], list[ListedCommit]]:
        """What `base` reaches and `commit` does not, and the reverse, parents before their children."""
        out = self._git(
            "rev-list", "--topo-order", "--reverse", "--parents", "--timestamp", "--left-right",
            f"{base}...{commit}", "--",
        )  # fmt: skip
        gone: set[str] = set()
        new: list[ListedCommit] = []
        for line in out.decode().splitlines():
            time, _, rest = line.partition(" ")
            if rest.startswith("<"):
                gone.add(rest[1:].split(" ")[0])
            else:
                new.append(_listed(f"{time} {rest[1:]}"))
        return gone, new

    def read(self, ids: Sequence[str]) -> Iterator[Commit]:
        """Each commit with its changes, in order. Where a shallow clone ends, changes are unknown: none."""
        shallow = self._shallow()
        for start in range(0, len(ids), _BATCH):
            batch = ids[start : start + _BATCH]
            commits = self._parsed(batch, _PLAIN, shallow)
            merges = [commit.id for commit in commits if commit.parents > 1]
            merged = iter(self._parsed(merges, _MERGES, shallow) if merges else ())
            for commit in commits:
                yield next(merged) if commit.parents > 1 else commit

    def file_at(self, commit: str, path: str) -> tuple[str, bytes] | None:
        """The id and the bytes of a file of a commit; None when it has no such file."""
        answer = git.call([*self._at(), "cat-file", "blob", f"{commit}:{path}"])
        if answer.code:
            return None
        return blob_digest(answer.out, self._repository.object_format), answer.out

    def _parsed(self, ids: Sequence[str], how: Sequence[str], shallow: frozenset[str]) -> list[Commit]:
        asked = "".join(f"{each}\n" for each in ids).encode()
        commits = list(parse_commits(self._git("diff-tree", *_DIFF, *how, stdin=asked), shallow))
        if [commit.id for commit in commits] != list(ids):
            raise ProviderError("git diff-tree did not answer for every commit")
        return commits

    def _shallow(self) -> frozenset[str]:
        folder = self._repository.common_dir
        with suppress(FileNotFoundError):
            return frozenset((folder / "shallow").read_text().split()) if folder else frozenset()
        return frozenset()

    def _git(self, *args: str, stdin: bytes = b"") -> bytes:
        empty = hashlib.new(self._repository.object_format, b"tree 0\0", usedforsecurity=False).hexdigest()
        result = git.call(
            [*self._at(), *args], stdin=stdin, env={"GIT_ATTR_NOSYSTEM": "1", "GIT_ATTR_SOURCE": empty}
        )
        if result.code and ("promisor" in result.err or "unable to read" in result.err):
            raise ProviderError(
                f"git lacks objects of past commits: {result.err.splitlines()[-1]}",
                hint="git fetch --refetch --no-filter, in a partial clone",
            )
        return git.checked(result, args)

    def _at(self) -> list[str]:
        folder = str(self._repository.common_dir)
        options = ["-c", "core.bare=true", "-c", "core.attributesFile=/dev/null"]
        return ["-C", folder, f"--git-dir={folder}", *options]


def _listed(line: str) -> ListedCommit:
    time, commit, *parents = line.split(" ")
    return ListedCommit(commit, tuple(parents), int(time))

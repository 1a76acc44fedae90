"""A commit in, what git knows of its past out: the commits that lead to it, and what each changed.

Diffs are made as in a bare repository, so that neither the worktree's attributes nor the user's settings
decide them: a commit always gives the same values.
"""

from __future__ import annotations

import hashlib
import os
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

from codenib.core.errors import ProviderError
from codenib.core.history import Commit, ListedCommit
from codenib.snapshot import git
from codenib.snapshot.blobs import blob_digest
from codenib.snapshot.changes import count_changes, parse_commits, read_time
from codenib.snapshot.repository import Repository, history_boundary, shallow_commits

# A batch bounds the memory: Django's 20,000 newest commits are 165 MB of patches.
_BATCH = 256
# Git processes beside each other: nine tenths of the time is theirs, for reading and comparing blobs.
_AT_ONCE = min(os.cpu_count() or 1, 4)
# Of one batch, and of one commit: the first of Linux, all of its files, is 200 MB.
_MOST_PATCHES = 512 << 20
_MOST_CHANGES = 200_000
# To compare a batch; and again, once the commits that change too many files are known: two texts of 1 GB.
_MEMORY, _MOST_MEMORY = 512 << 20, 4 << 30
_FORMAT = "--format=%x00%x00%H%x00%P%x00%an%x00%at%x00%ct%x00%B%x00"
# Exact renames are always found; the limit bounds the pairs that are compared line by line in huge commits.
_DIFF = (
    "--stdin", "--always", "--root", "-r", "-M50%", "-l400", "--raw", "-p", "--no-abbrev", "--no-color",
    "--no-ext-diff", "--no-textconv", "--submodule=short", "--diff-algorithm=myers", "--no-indent-heuristic",
    "--irreversible-delete", "-O/dev/null", "--encoding=UTF-8", _FORMAT,
)  # fmt: skip
_NO_BLOB = (":000000", "000000", ":160000", "160000")  # modes of an absent file and of a submodule
_PLAIN = ("-U0", "--inter-hunk-context=0")
_MERGES = ("-c", "--combined-all-paths", "-U1")  # without context, git's counts here are wrong


class CommitLog:
    """The commits of one repository. A question names a commit, and nothing later is read."""

    def __init__(
        self, repository: Repository, place: Path | None = None, memory_bytes: int = _MEMORY
    ) -> None:
        """`place` is a git folder to read the repository's objects from, instead of its own; `memory_bytes`
        what git may take to compare a batch."""
        self._repository = repository
        self._place = place
        self._memory_bytes = memory_bytes

    def boundary(self) -> str:
        """Names the place where a shallow clone ends; empty when all commits are there."""
        return history_boundary(self._repository)

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

    def count(self, base: str | None, commit: str, most: int) -> int:
        """How many commits `commit` reaches and `base` does not, or the reverse; counted up to `most`."""
        range_ = commit if base is None else f"{base}...{commit}"
        return int(self._git("rev-list", "--count", f"--max-count={most}", range_, "--"))

    def read(self, ids: Sequence[str]) -> Iterator[Commit]:
        """Each commit with its changes, in order. Where a shallow clone ends, changes are unknown: none.

        A commit whose objects git does not have, as in a partial clone, is `lacking`; nothing is fetched.
        One that changes more files than memory holds is `oversized`.
        """
        shallow = shallow_commits(self._repository)
        batches = [ids[start : start + _BATCH] for start in range(0, len(ids), _BATCH)]
        if len(batches) < 2:
            for batch in batches:
                yield from self._read_some(batch, shallow)
            return
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            reading: deque[Future[list[Commit]]] = deque()
            for batch in batches:
                reading.append(pool.submit(self._read_some, batch, shallow))
                if len(reading) > 2 * _AT_ONCE:
                    yield from reading.popleft().result()
            while reading:
                yield from reading.popleft().result()

    def _read_some(self, ids: Sequence[str], shallow: frozenset[str]) -> list[Commit]:
        try:
            return self._read_batch(ids, shallow)
        except git.OutputTooLarge:
            return self._read_bounded(ids, shallow)
        except ProviderError:
            with self._alone() as alone:
                return list(alone._read_present(ids, shallow))

    def _read_bounded(self, ids: Sequence[str], shallow: frozenset[str]) -> list[Commit]:
        """The commits, where what some changed cannot be listed: those that change too many files, or each
        half by itself, down to the one commit."""
        counted = self._oversized(ids)
        rest = [each for each in ids if each not in counted]
        middle = len(rest) // 2
        halves = (rest,) if counted else (rest[:middle], rest[middle:]) if middle else ()
        large = CommitLog(self._repository, self._place, _MOST_MEMORY)
        known = {commit.id: commit for half in halves for commit in large._read_some(half, shallow)}
        return [known.get(commit.id) or replace(commit, oversized=True) for commit in self._bare(ids)]

    def _oversized(self, ids: Sequence[str]) -> set[str]:
        """Those that change more than `_MOST_CHANGES` files, by comparing trees: equal ones once."""
        rows = self._git("rev-list", "--no-walk=unsorted", "--parents", "--stdin", stdin=_lines(ids)).decode()
        parents = {row.split()[0]: row.split()[1:] or [""] for row in rows.splitlines()}
        names = sorted({each for commit, olds in parents.items() for each in (commit, *olds) if each})
        found = self._git("rev-parse", *(f"{each}^{{tree}}" for each in names)).decode().split()
        trees = {"": "", **dict(zip(names, found, strict=True))}
        pairs = {
            commit: [(trees[old], trees[commit]) for old in olds if trees[old] != trees[commit]]
            for commit, olds in parents.items()
        }
        counts = count_changes([pair for some in pairs.values() for pair in some], self._read_trees)
        return {
            commit for commit, some in pairs.items() if any(counts[pair] > _MOST_CHANGES for pair in some)
        }

    def _read_trees(self, ids: Sequence[str]) -> Iterator[bytes]:
        """The bytes of each tree; of one that git does not have none."""
        out = self._git("cat-file", "--batch", stdin=_lines(ids))
        at = 0
        for _ in ids:
            end = out.index(b"\n", at)
            head = out[at:end].split(b" ")
            size = int(head[2]) if len(head) == 3 else -1
            yield out[end + 1 : end + 1 + max(size, 0)]
            at = end + size + 2

    def _bare(self, ids: Sequence[str]) -> Iterator[Commit]:
        """The commits without what they changed."""
        out = self._git("log", "--no-walk=unsorted", "--no-patch", "--stdin", _FORMAT, stdin=_lines(ids))
        return parse_commits(out, ids)

    def _read_batch(self, ids: Sequence[str], shallow: frozenset[str]) -> list[Commit]:
        commits = self._parsed(ids, _PLAIN, shallow)
        merges = [commit.id for commit in commits if commit.parents > 1]
        merged = iter(self._parsed(merges, _MERGES, shallow) if merges else ())
        return [next(merged) if commit.parents > 1 else commit for commit in commits]

    def _read_present(self, ids: Sequence[str], shallow: frozenset[str]) -> Iterator[Commit]:
        """The commits, those without all of their objects as lacking."""
        present = self._with_objects(ids)
        known = {commit.id: commit for commit in self._read_halves(sorted(present), shallow)}
        for commit in self._bare(ids):
            yield known.get(commit.id) or replace(commit, lacking=commit.id not in shallow)

    def _read_halves(self, ids: Sequence[str], shallow: frozenset[str]) -> list[Commit]:
        """The commits that can be read: where some cannot, each half by itself."""
        try:
            return self._read_batch(ids, shallow) if ids else []
        except ProviderError:
            middle = len(ids) // 2
            halves = (ids[:middle], ids[middle:]) if middle else ()
            return [commit for half in halves for commit in self._read_halves(half, shallow)]

    def _with_objects(self, ids: Sequence[str]) -> set[str]:
        """Those whose trees are there, and every blob that they or their parents have otherwise."""
        rows = self._git("rev-list", "--no-walk=unsorted", "--parents", "--stdin", stdin=_lines(ids)).decode()
        trees = {row.split()[0]: [f"{each}^{{tree}}" for each in row.split()] for row in rows.splitlines()}
        present = self._without_missing(trees)
        listed = self._git(
            "diff-tree", "--stdin", "--always", "--root", "-r", "-m", "--raw", "--no-abbrev", "--no-renames",
            "--format=%x00%H", stdin=_lines(sorted(present)), ok=(0, 128),
        ).decode("utf-8", "replace")  # fmt: skip
        blobs: dict[str, list[str]] = {commit: [] for commit in present}
        for record in listed.split("\0")[1:]:
            commit, _, raw = record.partition("\n")
            facts = [row.split("\t")[0].split(" ") for row in raw.splitlines() if row.startswith(":")]
            objects = [fact[side] for fact in facts for side in (2, 3) if fact[side - 2] not in _NO_BLOB]
            blobs.setdefault(commit, []).extend(objects)
        return self._without_missing(blobs)

    def _without_missing(self, needs: Mapping[str, Sequence[str]]) -> set[str]:
        """The commits all of whose needs git has."""
        asked = sorted({each for names in needs.values() for each in names})
        answers = self._git("cat-file", "--batch-check", stdin=_lines(asked)).decode().splitlines()
        lacking = {name for name, answer in zip(asked, answers, strict=True) if answer.endswith(" missing")}
        return {commit for commit, names in needs.items() if lacking.isdisjoint(names)}

    @contextmanager
    def _alone(self) -> Iterator[CommitLog]:
        """The same objects without the repository's settings: git then knows of no remote to ask for more.

        Git before 2.45 starts a fetch, if only to be refused, for each object that a partial clone lacks.
        """
        form = self._repository.object_format
        with TemporaryDirectory(prefix="codenib-") as folder:
            place = Path(folder)
            (place / "refs").mkdir()
            (place / "HEAD").write_text("ref: refs/heads/none\n")
            extension = f"[extensions]\n\tobjectformat = {form}\n" if form != "sha1" else ""
            version = 1 if extension else 0
            (place / "config").write_text(f"[core]\n\trepositoryformatversion = {version}\n{extension}")
            yield CommitLog(self._repository, place, self._memory_bytes)

    def file_at(self, commit: str, path: str) -> tuple[str, bytes] | None:
        """The id and the bytes of a file of a commit; None when it has no such file."""
        if not commit:
            return None
        answer = git.call([*self._at(), "cat-file", "blob", f"{commit}:{path}"])
        if answer.code:
            return None
        return blob_digest(answer.out, self._repository.object_format), answer.out

    def _parsed(self, ids: Sequence[str], how: Sequence[str], shallow: frozenset[str]) -> list[Commit]:
        command = [*self._at(), "diff-tree", *_DIFF, *how]
        out = git.run_bounded(
            command,
            _MOST_PATCHES,
            stdin=_lines(ids),
            env=self._variables(),
            memory_bytes=self._memory_bytes,
        )
        commits = list(parse_commits(out, shallow))
        if [commit.id for commit in commits] != list(ids):
            raise ProviderError("git diff-tree did not answer for every commit")
        return commits

    def _git(self, *args: str, stdin: bytes = b"", ok: Sequence[int] = (0,)) -> bytes:
        return git.run([*self._at(), *args], stdin=stdin, env=self._variables(), ok=ok)

    def _variables(self) -> dict[str, str]:
        empty = hashlib.new(self._repository.object_format, b"tree 0\0", usedforsecurity=False).hexdigest()
        env = {"GIT_ATTR_NOSYSTEM": "1", "GIT_ATTR_SOURCE": empty}
        if self._place is not None:
            own = self._repository.common_dir
            env |= {"GIT_OBJECT_DIRECTORY": f"{own}/objects", "GIT_SHALLOW_FILE": f"{own}/shallow"}
        return env

    def _at(self) -> list[str]:
        folder = str(self._place or self._repository.common_dir)
        options = ["-c", "core.bare=true", "-c", "core.attributesFile=/dev/null"]
        return ["-C", folder, f"--git-dir={folder}", *options]


def _listed(line: str) -> ListedCommit:
    time, commit, *parents = line.split(" ")
    return ListedCommit(commit, tuple(parents), read_time(time))


def _lines(names: Iterable[str]) -> bytes:
    return "".join(f"{name}\n" for name in names).encode()


def leads_to(repository: Repository, older: str, newer: str, most: int) -> bool:
    """Whether `older` leads to `newer` in at most `most` commits; not where git does not know one of them."""
    if repository.common_dir is None:
        return False
    return _leads_to(str(repository.common_dir), older, newer, most)


@lru_cache(maxsize=256)  # the past of a commit never changes
def _leads_to(git_dir: str, older: str, newer: str, most: int) -> bool:
    at = f"--git-dir={git_dir}"
    if git.call([at, "merge-base", "--is-ancestor", older, newer]).code != 0:
        return False
    counted = git.run([at, "rev-list", "--count", f"--max-count={most + 1}", f"{older}..{newer}"])
    return int(counted) <= most

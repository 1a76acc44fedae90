"""Digests in, bytes out: from git's objects, from a local store, or from both.

A digest is the git blob id of the raw bytes, so a dirty file that is committed later keeps its digest, and a
plain folder shares records with a clone of the same code.
"""

from __future__ import annotations

import hashlib
import tempfile
import weakref
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO

from codenib.core.errors import ProviderError, StoreFault
from codenib.snapshot import git
from codenib.snapshot.repository import Repository
from codenib.snapshot.store import LocalBlobs

__all__ = ["MAX_BYTES", "BlobSource", "Blobs", "GitBlobs", "LocalBlobs", "blob_digest"]

MAX_BYTES = 10 * 1024 * 1024  # units skip what is longer as "huge"

# Requests in flight. 48 of 65 bytes stay under 4096, the smallest pipe that POSIX allows, so a write to git
# never blocks while git itself waits for us to read.
_WINDOW = 48

# Digests per look at the local store; a window of git requests ends with it.
_CHUNK = 512


def blob_digest(data: bytes, object_format: str = "sha1") -> str:
    """The id that git gives to a blob of these bytes."""
    state = hashlib.new(object_format, b"blob %d\0" % len(data), usedforsecurity=False)
    state.update(data)
    return state.hexdigest()


class GitBlobs:
    """Reads blobs through one `git cat-file --batch` that lives as long as this object.

    A blob longer than `max_bytes` comes as its first `max_bytes + 1` bytes, so that its reader sees that it
    is too long while it never fills the memory. Readers that overlap (threads, nested loops) get a process
    each.
    """

    def __init__(self, git_dir: str | Path, max_bytes: int = MAX_BYTES) -> None:
        self._git_dir = str(git_dir)
        self._max_bytes = max_bytes
        self._idle: list[_CatFile] = []
        self._finalizer = weakref.finalize(self, _stop_all, self._idle)

    def read(self, digests: Sequence[str]) -> Iterator[bytes | None]:
        """The bytes of each digest, in order; None where git has no such blob."""
        done = 0
        failures = 0
        while done < len(digests):
            before = done
            died: _Died | None = None
            process = self._lease()
            try:
                for data in process.answers(islice(digests, done, None), self._max_bytes):
                    done += 1
                    yield data
            except _Died as error:
                died = error
            finally:
                # A reader that stopped early leaves answers in the pipe: that process cannot be used again.
                if process.settled and died is None and not self._idle:
                    self._idle.append(process)
                else:
                    process.stop()
            if died is None:
                return
            if "promisor" in died.message:  # a partial clone without this blob; we do not fetch it
                done += 1
                yield None
            failures = 1 if done > before else failures + 1
            if failures > 2:
                raise ProviderError(f"git cat-file ended early in {self._git_dir}: {died.message}")

    def _lease(self) -> _CatFile:
        try:
            return self._idle.pop()
        except IndexError:
            return _CatFile(self._git_dir)

    def close(self) -> None:
        """Stop the process; a later `read` starts a new one."""
        _stop_all(self._idle)


class Blobs:
    """The local store and git's objects as one reader; each digest may be in either.

    The store is asked first: a query answers for hundreds of digests; git scans its packs for each miss.
    """

    def __init__(self, local: LocalBlobs, git_blobs: GitBlobs | None) -> None:
        self.local = local
        self._git = git_blobs

    def read(self, digests: Sequence[str]) -> Iterator[bytes | None]:
        """The bytes of each digest, in order; None where neither side has it."""
        if self._git is None:
            yield from self.local.read(digests)
            return
        for start in range(0, len(digests), _CHUNK):
            chunk = digests[start : start + _CHUNK]
            local = self.local.known(chunk)
            from_git = self._git.read([digest for digest in chunk if digest not in local])
            for digest in chunk:
                if digest not in local:
                    yield next(from_git)
                    continue
                yield self._local_or_git(digest)
            next(from_git, None)  # lets the reader hand its process back

    def _local_or_git(self, digest: str) -> bytes | None:
        """What the store should have; a damaged one is git's to give, or an error."""
        assert self._git is not None
        try:
            data = next(self.local.read([digest]))
        except StoreFault:
            data = next(self._git.read([digest]))
            if data is None:
                raise
            return data
        return data if data is not None else next(self._git.read([digest]))

    def close(self) -> None:
        """Close both sides."""
        self.local.close()
        if self._git is not None:
            self._git.close()


@dataclass(frozen=True, slots=True)
class BlobSource:
    """Where blobs are, as plain strings that another process can be given."""

    git_dir: str | None
    store: str

    @classmethod
    def of(cls, repository: Repository, store: Path) -> BlobSource:
        """The blobs of `repository`: its common git folder, which outlives linked worktrees, and `store`."""
        common = repository.common_dir
        return cls(None if common is None else str(common), str(store))

    def open(self) -> Blobs:
        """A reader of its own; the caller closes it."""
        git_blobs = None if self.git_dir is None else GitBlobs(self.git_dir)
        return Blobs(LocalBlobs(Path(self.store)), git_blobs)


class _Died(Exception):
    """The process ended before it answered; `message` is what it wrote to stderr."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class _CatFile:
    """One `git cat-file --batch`; `settled` when every request has been answered and read."""

    def __init__(self, git_dir: str) -> None:
        self.settled = True
        self._err: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed by stop()
        try:
            self._process = git.start([f"--git-dir={git_dir}", "cat-file", "--batch"], err=self._err)
        except ProviderError:
            self._err.close()
            raise
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._stdin: IO[bytes] = self._process.stdin
        self._stdout: IO[bytes] = self._process.stdout

    def answers(self, digests: Iterator[str], cap: int) -> Iterator[bytes | None]:
        """The content of each digest; the process is settled while the last one is handed out."""
        with git.unless_stuck(self._process):
            waiting = self._ask(digests, _WINDOW)
            while waiting:
                data = self._answer(cap)
                waiting -= 1
                self.settled = waiting == 0
                yield data
                if waiting <= _WINDOW // 2:
                    waiting += self._ask(digests, _WINDOW - waiting)

    def _ask(self, digests: Iterator[str], count: int) -> int:
        lines = [digest.encode() + b"\n" for digest in islice(digests, count)]
        self.settled = self.settled and not lines
        try:
            self._stdin.write(b"".join(lines))
            self._stdin.flush()
        except (BrokenPipeError, ConnectionResetError) as error:
            raise _Died(self._message()) from error
        return len(lines)

    def _answer(self, cap: int) -> bytes | None:
        header = self._stdout.readline().split()
        if len(header) != 3:
            if not header:
                raise _Died(self._message())
            return None  # "<digest> missing"
        size = int(header[2])
        data = self._take(min(size, cap + 1))
        left = size + 1 - len(data)  # and the line feed after the content
        while left:
            left -= len(self._take(min(left, 1 << 20)))
        return data if header[1] == b"blob" else None

    def _take(self, size: int) -> bytes:
        data = self._stdout.read(size)
        if len(data) < size:
            raise _Died(self._message())
        return data

    def _message(self) -> str:
        self._process.kill()
        self._process.wait()
        self._err.seek(0)
        return (
            self._err.read().decode("utf-8", "replace").strip() or f"exit status {self._process.returncode}"
        )

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()
        self._err.close()
        self._stdout.close()
        with suppress(BrokenPipeError):  # unsent requests to a process that is gone
            self._stdin.close()


def _stop_all(idle: list[_CatFile]) -> None:
    while idle:
        idle.pop().stop()

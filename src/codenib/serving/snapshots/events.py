"""A worktree in, whether any file of it changed since a moment out: exactly, from the kernel's own queue.

The kernel queues an event while the change is made, so reading the queue when a question comes misses no edit
that was made before the question. Only on Linux; elsewhere, or where watches run out, nobody knows (`None`).
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
import sys
import threading
import time
from pathlib import Path

from codenib.core.errors import CodenibError
from codenib.snapshot import git
from codenib.snapshot.repository import Repository, locate

_MODIFY, _ATTRIB, _CLOSE_WRITE = 0x2, 0x4, 0x8
_MOVED_FROM, _MOVED_TO, _CREATE, _DELETE, _DELETE_SELF = 0x40, 0x80, 0x100, 0x200, 0x400
_MOVE_SELF, _OVERFLOW, _IGNORED, _ONLYDIR, _ISDIR = 0x800, 0x4000, 0x8000, 0x1000000, 0x40000000
_CHANGES = (
    _MODIFY | _ATTRIB | _CLOSE_WRITE | _MOVED_FROM | _MOVED_TO | _CREATE | _DELETE | _DELETE_SELF | _MOVE_SELF
)
_HEAD = struct.Struct("iIII")
_BUFFER = 1 << 18
#: What of git's own folder says that a commit, a branch or an ignore rule changed.
_GIT_FILES = frozenset(("HEAD", "index", "packed-refs", "exclude", "config", "sparse-checkout"))


class FileEvents:
    """The changes of one worktree, its ignored and nested folders left out."""

    @classmethod
    def of(cls, path: Path) -> FileEvents:
        """The changes of the worktree that `path` is in."""
        return cls(locate(path))

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._lock = threading.Lock()
        self._descriptor = -1
        self._folders: dict[int, tuple[Path, bool]] = {}  # by watch: where, and whether it is git's own
        self._last = time.monotonic()
        self.note = "" if sys.platform == "linux" else "no exact file events on this system"

    @property
    def watching(self) -> bool:
        """Whether every folder is watched."""
        return self._descriptor >= 0

    def start(self) -> None:
        """Watch every folder. Takes about a second for 50,000 of them, so call it beside other work."""
        if self.note:
            return
        with self._lock:
            try:
                self._watch_all()
            except (OSError, CodenibError) as error:
                self.note = f"no file events: {error}"
                self._close()

    def close(self) -> None:
        """Let go of the queue."""
        with self._lock:
            self._close()

    def unchanged_since(self, moment: float) -> bool | None:
        """Whether nothing changed since `moment` (monotonic); None when that is not known."""
        with self._lock:
            if not self.watching:
                return None
            try:
                self._drain()
            except OSError as error:  # watches ran out: from now on nobody knows
                self.note = f"no file events: {error}"
                self._close()
                return None
            return self._last < moment

    def _close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
        self._descriptor = -1
        self._folders.clear()

    def _watch_all(self) -> None:
        self._close()
        self._descriptor = _checked(_libc().inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC))
        repository = self._repository
        self._last = time.monotonic()
        left_out = _ignored_folders(repository)
        self._watch_tree(repository.root, left_out)
        for folder in {repository.git_dir, repository.common_dir} - {None}:
            assert folder is not None
            self._watch(folder, of_git=True)
            for inside in ("refs", "info"):
                for place, _, _ in os.walk(folder / inside):
                    self._watch(Path(place), of_git=True)
        self._last = time.monotonic()

    def _watch_tree(self, top: Path, left_out: frozenset[str] = frozenset()) -> None:
        for place, folders, _ in os.walk(top):
            self._watch(Path(place), of_git=False)
            folders[:] = [
                name
                for name in folders
                if name != ".git"
                and (path := os.path.join(place, name)) not in left_out  # noqa: PTH118 - 50,000 folders
                and not os.path.lexists(os.path.join(path, ".git"))  # noqa: PTH118
            ]

    def _watch(self, folder: Path, *, of_git: bool) -> None:
        try:
            number = _checked(
                _libc().inotify_add_watch(self._descriptor, os.fsencode(folder), _CHANGES | _ONLYDIR)
            )
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.EACCES):
                return  # gone meanwhile; or nobody can read it, so no snapshot has it
            raise
        self._folders[number] = (folder, of_git)

    def _drain(self) -> None:
        """Read the queue to its end."""
        while True:
            try:
                data = os.read(self._descriptor, _BUFFER)
            except BlockingIOError:
                return
            at = 0
            while at < len(data):
                number, mask, _, size = _HEAD.unpack_from(data, at)
                name = os.fsdecode(data[at + _HEAD.size : at + _HEAD.size + size].rstrip(b"\0"))
                at += _HEAD.size + size
                self._take(number, mask, name)

    def _take(self, number: int, mask: int, name: str) -> None:
        if mask & _OVERFLOW:
            self._watch_all()
            return
        folder, of_git = self._folders.get(number, (None, False))
        if mask & _IGNORED:
            self._folders.pop(number, None)
        if folder is None or (of_git and not _matters(folder, name)):
            return
        self._last = time.monotonic()
        if mask & _ISDIR and mask & (_CREATE | _MOVED_TO) and name != ".git":
            if of_git:
                self._watch(folder / name, of_git=True)
            else:
                self._watch_tree(folder / name)
        elif name == ".gitignore" or (of_git and name == "exclude"):
            self._watch_all()


def _matters(folder: Path, name: str) -> bool:
    return not name.endswith(".lock") and (name in _GIT_FILES or "refs" in folder.parts)


def _ignored_folders(repository: Repository) -> frozenset[str]:
    """The topmost folders that git ignores, as absolute paths."""
    if repository.kind != "git":
        return frozenset()
    args = ["ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z"]
    out = git.run([*repository.git_args(), *args])
    names = (os.fsdecode(name) for name in out.split(b"\0"))
    return frozenset(str(repository.root / name) for name in names if name.endswith("/"))


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _checked(result: int) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result

"""A folder in, what changed in it since the last look out: by stat, without reading what did not change."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from codenib.navigation.live.text import Stamp

_SKIPPED = frozenset({"node_modules", "__pycache__"})
# A folder that holds one of these was made by a tool: a virtual environment, a build's cache.
_TOOL_FOLDER_MARKERS = frozenset({"pyvenv.cfg", "CACHEDIR.TAG"})


@dataclass(frozen=True, slots=True)
class Changes:
    """Paths that appeared, changed or went away, each in order."""

    created: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.created or self.changed or self.removed)


@dataclass(frozen=True, slots=True)
class _FileState:
    stamp: Stamp
    content: int | None  # kept while another write could leave the same stamp


class Worktree:
    """The watched files below `root`; `watches` decides by name."""

    def __init__(self, root: Path, watches: Callable[[str], bool]) -> None:
        self._root = root
        self._watches = watches
        self._states: dict[str, _FileState] = {}
        #: Watched names that are pipes: a server that opens one waits for ever.
        self.pipes: set[str] = set()
        self.changes()

    @property
    def paths(self) -> list[str]:
        """The watched files as of the last look, in order."""
        return sorted(self._states)

    def changes(self) -> Changes:
        """What changed since the last look."""
        before, after = self._states, dict[str, _FileState]()
        changed = []
        for path, stamp in self._files():
            old = before.get(path)
            if old is not None and old.stamp == stamp and old.content is None:
                after[path] = old
                continue
            unsure = stamp.is_recent() or (old is not None and old.content is not None)
            content = _content(self._root, path) if unsure else None
            after[path] = _FileState(stamp, content if stamp.is_recent() else None)
            if old is not None and (old.stamp != stamp or old.content != content):
                changed.append(path)
        self._states = after
        return Changes(
            tuple(sorted(after.keys() - before.keys())),
            tuple(sorted(changed)),
            tuple(sorted(before.keys() - after.keys())),
        )

    def _files(self) -> Iterator[tuple[str, Stamp]]:
        folders = [""]
        while folders:
            folder = folders.pop()
            try:
                with os.scandir(self._root / folder) as entries:
                    found = list(entries)
            except OSError:
                continue
            if folder and any(entry.name in _TOOL_FOLDER_MARKERS for entry in found):
                continue
            for entry in found:
                path = f"{folder}/{entry.name}" if folder else entry.name
                try:
                    if entry.is_dir(follow_symlinks=False):
                        if not entry.name.startswith(".") and entry.name not in _SKIPPED:
                            folders.append(path)
                    elif self._watches(entry.name):
                        info = entry.stat()
                        if stat.S_ISREG(info.st_mode):
                            yield path, Stamp(info.st_mtime_ns, info.st_ctime_ns, info.st_size, info.st_ino)
                        elif stat.S_ISFIFO(info.st_mode):
                            self.pipes.add(path)
                except OSError:
                    continue


def _content(root: Path, path: str) -> int:
    try:
        return hash((root / path).read_bytes())
    except OSError:
        return 0

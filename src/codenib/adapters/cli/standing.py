"""Where a person stands: paths as they are written there in, paths of the repository out, and back.

A path is looked for below the folder where one stands first, then below the root, so that what any command
prints can be given to any other. Text names paths from where one stands, JSON from the root.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from codenib.core.requests import SnapshotRequest
from codenib.serving.navigation.positions import parse_place
from codenib.serving.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Standing:
    """A folder of the repository; `prefix` is empty at the root."""

    prefix: str = ""

    def from_here(self, path: str) -> str:
        """A path of the repository, as one writes it here.

        >>> Standing("src").from_here("src/app.py"), Standing("src").from_here("docs/a.md")
        ('app.py', '../docs/a.md')
        """
        return posixpath.relpath(path, self.prefix) if self.prefix else path

    def meant(self, path: str, files: Collection[str]) -> str:
        """The path of the repository that `path` means here: of these files, a folder of them, or as written.

        >>> files = ["src/app.py"]
        >>> Standing("src").meant("app.py", files), Standing("src").meant("src/app.py", files)
        ('src/app.py', 'src/app.py')
        """
        if os.path.isabs(path):  # noqa: PTH117 - as text: a path of another revision is not on disk
            return path
        from_root = posixpath.normpath(path)
        here = posixpath.normpath(posixpath.join(self.prefix, path))
        if _points(path):
            return here
        is_here = here in files or any(file.startswith(f"{here}/") for file in files)
        return here if is_here else from_root

    def globs(self, globs: Sequence[str]) -> tuple[str, ...]:
        """Globs over paths of the repository: as written, and below where one stands; `.` is here alone.

        >>> Standing("src").globs([".", "a/*.py", "!./gen", "*.md"])
        ('src', 'a/*.py', 'src/a/*.py', '!src/gen', '*.md')
        """
        found: list[str] = []
        for glob in globs:
            sign, body = ("!", glob[1:]) if glob.startswith("!") else ("", glob)
            here = posixpath.normpath(posixpath.join(self.prefix, body))
            if _points(body):
                found.append(f"{sign}{'**' if here == '.' else here}")
            elif self.prefix and "/" in body.rstrip("/"):
                found += [glob, f"{sign}{here}"]
            else:
                found.append(glob)
        return tuple(found)


def standing_in(repository: str, workspace: Workspace) -> Standing:
    """Where `-C`, or the shell, stands in a workspace's repository."""
    place = Path(repository).resolve()
    inside = not workspace.is_bare and place.is_relative_to(workspace.root)
    prefix = place.relative_to(workspace.root).as_posix() if inside else "."
    return Standing("" if prefix == "." else prefix)


def path_here(standing: Standing, written: str, workspace: Workspace, request: SnapshotRequest) -> str:
    """A path, with lines or not, as written here, from the root."""
    path = parse_place(written).target
    files = workspace.reader.files(request) if standing.prefix else ()
    return f"{standing.meant(path, files)}{written.strip()[len(path) :]}"


def place_here(standing: Standing, written: str, workspace: Workspace, request: SnapshotRequest) -> str:
    """A place, path or symbol as written here, with its path from the root."""
    place = parse_place(written)
    if not standing.prefix and not _points(place.target):
        return written
    files = workspace.reader.files(request) if standing.prefix else ()
    path = standing.meant(place.target, files)
    is_path = place.line or path in files or "/" in place.target or _points(place.target)
    return f"{path}{written.strip()[len(place.target) :]}" if is_path else written


def _points(path: str) -> bool:
    """Whether a path says by its first part that it is from here."""
    return path.split("/", 1)[0] in (".", "..")

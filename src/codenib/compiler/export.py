"""A snapshot in, a folder with exactly its files out, for engines that read a checkout.

What the snapshot does not hold but the worktree does (installed dependencies, generated files, a build
folder) is linked, so that an engine resolves against the same surroundings as the worktree's own server.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from codenib.core.source import SourceSnapshot
from codenib.snapshot import git
from codenib.snapshot.blobs import BlobSource
from codenib.snapshot.repository import Repository

_NEVER_LINKED = frozenset({".git", "__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".tox"})


@contextmanager
def exported(
    snapshot: SourceSnapshot, source: BlobSource, repository: Repository, parent: Path
) -> Iterator[Path]:
    """A private folder below `parent` with the snapshot's files; gone afterwards."""
    parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(
        prefix=f"checkout-{os.getpid()}-", dir=parent, ignore_cleanup_errors=True
    ) as name:
        root = Path(name).resolve() / repository.root.name
        root.mkdir()
        write_files(snapshot, source, root)
        if repository.kind == "git":
            link_surroundings(repository, snapshot, root)
        yield root


def write_files(snapshot: SourceSnapshot, source: BlobSource, root: Path) -> None:
    """Write every file whose content is there; the rest the snapshot's views skip too."""
    files = snapshot.source_files()
    made: set[Path] = set()
    with closing(source.open()) as blobs:
        for file, data in zip(files, blobs.read([file.digest for file in files]), strict=True):
            if data is None:
                continue
            place = root / file.path
            if place.parent not in made:
                place.parent.mkdir(parents=True, exist_ok=True)
                made.add(place.parent)
            place.write_bytes(data)


def surroundings(repository: Repository) -> bytes:
    """What git ignores in the worktree, whole folders at once, as git prints it."""
    ignored = ("--others", "--ignored", "--exclude-standard", "--directory", "-z")
    return git.run([*repository.git_args(), "ls-files", *ignored])


def link_surroundings(
    repository: Repository, snapshot: SourceSnapshot, root: Path, listed: bytes | None = None
) -> None:
    """Link what git ignores in the worktree, whole folders at once."""
    for raw in (surroundings(repository) if listed is None else listed).split(b"\0"):
        path = os.fsdecode(raw).rstrip("/")
        parts = path.split("/")
        if not path or _NEVER_LINKED.intersection(parts) or parts[-1].endswith((".pyc", ".pyo")):
            continue
        place = root / path
        if place.parent.is_dir() and not place.exists() and path not in snapshot.files:
            place.symlink_to(repository.root / path)

"""A snapshot in, a folder with exactly its files out, for engines that read a checkout.

The folder moves from snapshot to snapshot by writing only what differs, so that an engine which has loaded it
reads the few changed files again. Of a notebook it has the Python of its cells. What the snapshot lacks but
the worktree has (installed dependencies, generated files, a build folder) is linked, so that an engine
resolves against the same surroundings as the worktree's own language server.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from codenib.core.errors import StateError
from codenib.core.source import SourceSnapshot
from codenib.navigation.engines.origin import forget_origin, note_origin
from codenib.snapshot import git
from codenib.snapshot.blobs import BlobSource
from codenib.snapshot.listing import is_plain
from codenib.snapshot.repository import Repository
from codenib.system.files import open_flags
from codenib.units.languages import NOTEBOOK_SUFFIX
from codenib.units.notebook_code import as_python, engine_name

_RECENT_BYTES = 32 << 20
_NEVER_LINKED = frozenset({".git", "__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".tox"})


@contextmanager
def exported(
    snapshot: SourceSnapshot, source: BlobSource, repository: Repository, parent: Path
) -> Iterator[Path]:
    """A private folder below `parent` with the snapshot's files; gone afterwards."""
    with closing(Checkout(source, repository, parent)) as checkout:
        checkout.move(snapshot.files)
        checkout.link(snapshot)
        yield checkout.root


class Checkout:
    """A private folder with exactly the files of one snapshot, and links to what git ignores beside them."""

    def __init__(self, source: BlobSource, repository: Repository, parent: Path) -> None:
        parent.mkdir(parents=True, exist_ok=True)
        self._top = Path(tempfile.mkdtemp(prefix=f"checkout-{os.getpid()}-", dir=parent)).resolve()
        self.root = self._top / repository.root.name
        self.root.mkdir()
        note_origin(self.root, repository.root)
        self._source = source
        self._repository = repository
        self._linked: bytes | None = None
        #: What was written last and what it replaced, by digest: an update goes to and fro between the two.
        self._recent: dict[str, bytes] = {}
        self.files: dict[str, str] = {}

    def move(self, files: Mapping[str, str]) -> None:
        """Write what differs from `files` (paths and digests), and drop what is not there."""
        changed = sorted(path for path, digest in files.items() if self.files.get(path) != digest)
        for path in self.files.keys() - files.keys():
            place = self.root / engine_name(path)
            place.unlink(missing_ok=True)
            self._prune(place.parent)
        folders: set[Path] = {self.root}
        if changed:
            for path, data in zip(changed, self._contents(changed, files), strict=True):
                place = self.root / engine_name(path)
                if not is_plain(path):
                    raise StateError(
                        f"{path!r} is not a path below a checkout", hint="codenib index --rebuild"
                    )
                if data is not None and path.endswith(NOTEBOOK_SUFFIX):
                    data = as_python(data)
                if data is None:
                    place.unlink(missing_ok=True)
                    continue
                _own_folder(place.parent, folders)
                _write(place, data)
        self.files = dict(files)

    def _contents(self, changed: Sequence[str], files: Mapping[str, str]) -> Iterator[bytes | None]:
        """The new contents of these files; those that they replace are read with them, and stay at hand."""
        wanted = [files[path] for path in changed]
        if all(digest in self._recent for digest in wanted):
            yield from (self._recent[digest] for digest in wanted)
            return
        self._recent = {}
        replaced = [self.files[path] for path in changed if path in self.files]
        with closing(self._source.open()) as blobs:
            size = 0
            for at, (digest, data) in enumerate(
                zip((*wanted, *replaced), blobs.read([*wanted, *replaced]), strict=True)
            ):
                if at < len(wanted):
                    yield data
                size += len(data or b"")
                if data is not None and size < _RECENT_BYTES:
                    self._recent[digest] = data
                elif at >= len(wanted):
                    return

    def link(self, snapshot: SourceSnapshot) -> bool:
        """Link what git ignores; false when that is not what is linked already: then a new folder is due."""
        if self._repository.kind != "git":
            return True
        ignored = ignored_paths(self._repository)
        if self._linked is None:
            self._link_ignored(snapshot, ignored)
            self._linked = ignored
        return ignored == self._linked

    def close(self) -> None:
        forget_origin(self.root)
        shutil.rmtree(self._top, ignore_errors=True)

    def _link_ignored(self, snapshot: SourceSnapshot, ignored: bytes) -> None:
        """Link what git ignores in the worktree, whole folders at once."""
        for raw in ignored.split(b"\0"):
            path = os.fsdecode(raw).rstrip("/")
            parts = path.split("/")
            if not path or _NEVER_LINKED.intersection(parts) or parts[-1].endswith((".pyc", ".pyo")):
                continue
            place = self.root / path
            if place.parent.is_dir() and not place.exists() and path not in snapshot.files:
                place.symlink_to(self._repository.root / path)

    def _prune(self, folder: Path) -> None:
        with suppress(OSError):  # not empty, or not there
            while folder != self.root:
                folder.rmdir()
                folder = folder.parent


def _own_folder(folder: Path, real: set[Path]) -> None:
    """Make a folder below those of `real`; a link to an ignored folder gives way, or we would write there."""
    if folder in real:
        return
    _own_folder(folder.parent, real)
    if folder.is_symlink():
        folder.unlink()
    folder.mkdir(exist_ok=True)
    real.add(folder)


def _write(place: Path, data: bytes) -> None:
    """Write a file of our own: what is linked there stays as it is."""
    if place.is_symlink():
        place.unlink()
    flags = open_flags("O_WRONLY", "O_CREAT", "O_TRUNC", "O_NOFOLLOW", "O_CLOEXEC")
    with os.fdopen(os.open(place, flags, 0o600), "wb") as file:
        file.write(data)


def ignored_paths(repository: Repository) -> bytes:
    """What git ignores in the worktree, whole folders at once, as git prints it."""
    ignored = ("--others", "--ignored", "--exclude-standard", "--directory", "-z")
    return git.run([*repository.git_args(), "ls-files", *ignored])

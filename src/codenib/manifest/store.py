"""The store of one repository: manifests, trees and artifacts; publication is its only mutation.

repos/KEY/manifests/SNAPSHOT.json   one per snapshot; written last, by rename
repos/KEY/trees/TREE.json           path and digest of every file
repos/KEY/artifacts/NAME/           immutable folders
repos/KEY/heads/WORKTREE.json       the snapshot that a worktree was last answered from
repos/KEY/worktrees/WORKTREE/       what snapshotting remembers of that worktree
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Protocol

import msgspec

from codenib.core.errors import UNDECODABLE, StateError, StoreFault
from codenib.core.source import SourceSnapshot
from codenib.core.views import MANIFEST_SCHEMA, RepoManifest, ViewKind
from codenib.manifest.cache import RecordCache
from codenib.manifest.embeddings import EmbeddingCache
from codenib.manifest.files import (
    EarlierForm,
    replace_file,
    sync_tree,
    with_checksum,
    without_checksum,
)
from codenib.manifest.home import home
from codenib.manifest.lock import exclusive, is_taken, shared
from codenib.manifest.seal import Seals
from codenib.system.files import sync_folder

_LOCK_S = 120.0
#: How long a process that must have a slow view waits for another that builds it: as long as that may take.
BUILDER_S = 1800.0


class _Schema(msgspec.Struct):
    schema: int


class _Views(msgspec.Struct):
    views: dict[str, msgspec.Raw]


class Head(msgspec.Struct):
    """What a worktree was last answered from."""

    snapshot: str
    place: str = ""  # the worktree's own git folder; a head whose place is gone pins nothing


class _Place(msgspec.Struct):
    location: str


class ArtifactSource(Protocol):
    """Where a store of published snapshots has its artifacts and file lists from."""

    def bring(self, name: str) -> None:
        """Make sure that the folder of an artifact, which is about to be opened, is in the store."""
        ...

    def tree(self, tree: str) -> dict[str, str]:
        """Path to digest of a published tree."""
        ...


class Store:
    """Paths and publication for one repository, by its key.

    `source` has what is not here yet, where artifacts come from elsewhere.
    """

    def __init__(self, key: str, *, root: Path | None = None, source: ArtifactSource | None = None) -> None:
        self.root = root or home()
        self._source = source
        self.folder = self.root / "repos" / key
        self.seals = Seals(self.folder / "checked")
        self._damaged: dict[str, None] = {}
        self._outdated: dict[str, None] = {}

    # -- shared by all repositories

    def open_cache(self) -> RecordCache:
        return RecordCache(self.root / "records.sqlite")

    def open_embeddings(self) -> EmbeddingCache:
        return EmbeddingCache(self.embeddings)

    @property
    def embeddings(self) -> Path:
        """Vectors of texts."""
        return self.root / "embeddings.sqlite"

    @property
    def blob_store(self) -> Path:
        """Blobs that git does not hold."""
        return self.root / "blobs.sqlite"

    def collecting(self) -> AbstractContextManager[None]:
        """Held by `gc`, against every writer of every repository."""
        return exclusive(self.root / "gc.lock", timeout_s=_LOCK_S)

    def not_collecting(self) -> AbstractContextManager[None]:
        return shared(self.root / "gc.lock", timeout_s=_LOCK_S)

    # -- of this repository

    def writing(self, timeout_s: float = _LOCK_S) -> AbstractContextManager[None]:
        """The writer lock of this repository."""
        return exclusive(self.folder / "writer.lock", timeout_s=timeout_s)

    def building(self, kind: str, timeout_s: float) -> AbstractContextManager[None]:
        """Held while a slow view is made, so that two processes do not; writers go on meanwhile."""
        return exclusive(self.folder / f"builder-{kind}.lock", timeout_s=timeout_s)

    def catching_up(self, worktree: str) -> AbstractContextManager[None]:
        """Held by the background process that brings up what an answer did not wait for; there is one."""
        return exclusive(self.worktree_state(worktree) / "background.lock", timeout_s=0.0)

    def is_catching_up(self, worktree: str) -> bool:
        """Whether a background process works for this worktree."""
        return is_taken(self.folder / "worktrees" / worktree / "background.lock")

    def keeping(self, worktree: str) -> AbstractContextManager[None]:
        """Held by the process that keeps a worktree's slow views with engines that stay; there is one."""
        return exclusive(self.worktree_state(worktree) / "keeper.lock", timeout_s=0.0)

    def has_keeper(self, worktree: str) -> bool:
        """Whether a process keeps the slow views of this worktree up to date."""
        return is_taken(self.folder / "worktrees" / worktree / "keeper.lock")

    def worktree_state(self, worktree: str) -> Path:
        """The folder that snapshotting keeps for a worktree."""
        folder = self.folder / "worktrees" / worktree
        try:
            folder.mkdir(parents=True, exist_ok=True)
            hide = self.root / ".gitignore"
            if not hide.exists():  # a home inside a checkout must not become part of its snapshots
                hide.write_text("*\n")
        except OSError as error:
            raise StoreFault(
                f"state cannot be written to {self.root}: {error.strerror}",
                hint="export CODENIB_HOME=a folder that you can write",
            ) from error
        return folder

    def artifact(self, name: str) -> Path:
        return self.folder / "artifacts" / name

    def damage(self, name: str) -> str:
        """What is wrong with an artifact that is there; nothing when it is whole, or gone altogether."""
        folder = self.artifact(name)
        what = self.seals.damage(folder)
        return what if what and folder.is_dir() else ""

    def is_whole(self, name: str) -> bool:
        """Whether an artifact is there and undamaged. Damage is noted: who makes it again says so."""
        folder = self.artifact(name)
        if not folder.is_dir():
            return False
        if self.damage(name):
            self._damaged[f"the {name.partition('-')[0]} view"] = None
            return False
        return True

    def whole_artifact(self, name: str) -> Path:
        """The folder of an artifact; an error when that is damaged."""
        if self._source is not None:
            self._source.bring(name)
        if what := self.damage(name):
            raise StateError(f"artifact {name} is damaged: {what}", hint="codenib update")
        return self.artifact(name)

    def take_damaged(self) -> tuple[str, ...]:
        """What was damaged and is not used any more, since the last time that somebody asked."""
        names = tuple(self._damaged)
        self._damaged.clear()
        return names

    def take_outdated(self) -> tuple[str, ...]:
        """As `take_damaged`, what an earlier version made."""
        names = tuple(self._outdated)
        self._outdated.clear()
        return names

    def _note(self, name: str, error: Exception) -> None:
        (self._outdated if isinstance(error, EarlierForm) else self._damaged)[name] = None

    def manifest(self, snapshot: str) -> RepoManifest | None:
        """The manifest of a snapshot; None when it was never published.

        Also None, and noted, when it is damaged or was made by an earlier version. One of a later version is
        an error: what it reaches belongs to that.
        """
        path = self._manifest_path(snapshot)
        try:
            data = without_checksum(path.read_bytes())
        except (FileNotFoundError, NotADirectoryError):
            return None
        except ValueError as error:
            self._note("a manifest", error)
            return None
        try:
            schema = msgspec.json.decode(data, type=_Schema).schema
            if schema < MANIFEST_SCHEMA:
                self._outdated["a manifest"] = None
                return None
            if schema != MANIFEST_SCHEMA:
                raise StateError(
                    f"manifest {snapshot} has schema {schema}; this codenib reads {MANIFEST_SCHEMA}",
                    hint="codenib index --rebuild",
                )
            return msgspec.json.decode(data, type=RepoManifest)
        except UNDECODABLE as error:
            raise StateError(
                f"manifest {snapshot} is damaged: {error}", hint="codenib index --rebuild"
            ) from error

    def manifests(self) -> list[RepoManifest]:
        """All readable manifests, the most recently used first."""
        return [manifest for manifest in self.manifests_or_none() if manifest is not None]

    def used_at(self, snapshot: str) -> float:
        """When a manifest was published or last used, in seconds since 1970; 0 when it is gone."""
        try:
            return self._manifest_path(snapshot).stat().st_mtime
        except OSError:
            return 0.0

    def manifests_or_none(self) -> Iterator[RepoManifest | None]:
        """Each undamaged manifest, the most recently used first; None for one of another schema."""
        for path in self._by_age():
            try:
                manifest = self.manifest(path.stem)
            except StateError:  # serves nobody; `status` and `index --rebuild` speak of it
                yield None
                continue
            if manifest is not None:
                yield manifest

    def drop_damaged(self) -> None:
        """Remove manifests that are damaged or of an earlier version. Under the writer lock."""
        for path in self._by_age():
            with suppress(OSError, StateError):  # one of a later version stays
                if self.manifest(path.stem) is None:
                    path.unlink(missing_ok=True)

    def head(self, worktree: str) -> str | None:
        """The snapshot last published for a worktree."""
        head = self._head(worktree)
        return head.snapshot if head else None

    def stamp_of(self, worktree: str, snapshot: str) -> tuple[int, ...] | None:
        """Equal as long as nobody moved this head or wrote this manifest; None: one is not there."""
        try:
            # A fleet's question asks this of every repository: as text, which is 30 us less than by `Path`.
            files = [
                os.stat(f"{self.folder}/heads/{worktree}.json"),  # noqa: PTH116
                os.stat(f"{self.folder}/manifests/{snapshot}.json"),  # noqa: PTH116
            ]
        except OSError:
            return None
        return tuple(number for each in files for number in (each.st_ino, each.st_size, each.st_mtime_ns))

    def views_before(self, worktree: str) -> tuple[ViewKind, ...]:
        """The views that a worktree had whose manifest is damaged, or was made by an earlier version."""
        try:
            head = msgspec.json.decode((self.folder / "heads" / f"{worktree}.json").read_bytes(), type=Head)
            named = msgspec.json.decode(self._manifest_path(head.snapshot).read_bytes(), type=_Views).views
        except (OSError, *UNDECODABLE):
            return ()
        return tuple(kind for kind in ViewKind if kind in named)

    def set_head(self, worktree: str, snapshot: str, place: Path) -> bool:
        """Remember what the worktree at `place` was answered from; False when that was pruned meanwhile."""
        head = Head(snapshot, str(place))
        if self._head(worktree) != head:
            with self.changing_heads():
                if not self._manifest_path(snapshot).exists():
                    return False
                text = with_checksum(msgspec.json.encode(head))
                replace_file(self.folder / "heads" / f"{worktree}.json", text)
        self.touch(snapshot)
        return True

    def touch(self, snapshot: str) -> None:
        """Mark a manifest as used now, so that pruning takes others first."""
        with suppress(OSError):  # another writer pruned it, or nothing can be written: nothing to keep
            os.utime(self._manifest_path(snapshot))

    def tree(self, tree: str) -> dict[str, str]:
        """Path to digest of a published tree."""
        if self._source is not None:
            return self._source.tree(tree)
        try:
            return msgspec.json.decode(self._tree_bytes(tree), type=dict[str, str])
        except (OSError, *UNDECODABLE) as error:
            raise StateError(f"tree {tree} cannot be read: {error}", hint="codenib update") from error

    def has_tree(self, tree: str) -> bool:
        """Whether a published tree is there and undamaged; damage is noted."""
        try:
            self._tree_bytes(tree)
        except (OSError, *UNDECODABLE) as error:
            self._note("a file list", error)
            return False
        return True

    def _tree_bytes(self, tree: str) -> bytes:
        return without_checksum(self._tree_path(tree).read_bytes())

    def trees(self) -> Iterator[dict[str, str]]:
        """All readable trees, also those that only a manifest of another schema names."""
        for path in (self.folder / "trees").glob("*.json"):
            with suppress(StateError):  # an unreadable one serves nobody
                yield self.tree(path.stem)

    def snapshot(self, manifest: RepoManifest, repository: str) -> SourceSnapshot:
        """The snapshot that a manifest was published for."""
        return SourceSnapshot(
            repository,
            manifest.commit,
            manifest.dirty,
            self.tree(manifest.tree),
            manifest.skipped,
            settings=manifest.settings,
        )

    def still_there(self) -> bool:
        """Whether the repository that this is the store of exists; an unknown one counts as there."""
        try:
            return Path(self._place().location).exists()
        except (OSError, *UNDECODABLE):
            return True

    def _place(self) -> _Place:
        data = without_checksum((self.folder / "repository.json").read_bytes())
        return msgspec.json.decode(data, type=_Place)

    # -- writing, under the writer lock

    def describe(self, location: Path) -> None:
        """Remember where the repository is, so that `gc` can tell when it is gone."""
        place = _Place(str(location))
        with suppress(OSError, ValueError):
            if self._place() == place:
                return
        replace_file(self.folder / "repository.json", with_checksum(msgspec.json.encode(place)))

    @property
    def checkouts(self) -> Path:
        """Where exports for engines are made, each named for the process that made it."""
        return self.folder / "checkouts"

    def scip_of(self, tree: str) -> Path | None:
        """The SCIP file that was imported for the files of a tree."""
        path = self._scip_path(tree)
        return path if path.exists() else None

    def keep_scip(self, tree: str, data: bytes) -> None:
        """Keep a SCIP file for the files of a tree."""
        replace_file(self._scip_path(tree), data)

    def new_artifact(self) -> Path:
        """An empty folder to build in; it becomes an artifact by `adopt`, or rubbish."""
        folder = self.folder / "artifacts" / f".tmp-{os.getpid()}-{secrets.token_hex(4)}"
        folder.mkdir(parents=True)
        return folder

    def adopt(self, folder: Path, kind: str, tree: str) -> str:
        """Make a built folder durable and give it its name; one without a seal is sealed first."""
        if not self.seals.is_sealed(folder):
            self.seals.seal(folder)
        sync_tree(folder)
        name = f"{kind}-{tree[:16]}-{secrets.token_hex(4)}"
        folder.rename(self.artifact(name))
        sync_folder(folder.parent)
        self.seals.adopt(folder, self.artifact(name))
        return name

    def publish(self, manifest: RepoManifest, files: Mapping[str, str]) -> None:
        """Make `manifest` the one of its snapshot. Everything that it names is durable before."""
        if not self._holds(manifest.tree, files):
            replace_file(self._tree_path(manifest.tree), with_checksum(msgspec.json.encode(files)))
        text = with_checksum(msgspec.json.encode(manifest))
        replace_file(self._manifest_path(manifest.snapshot), text)

    def forget_all_but(self, snapshot: str) -> None:
        """Forget every other manifest, readable or not; what they reach goes with the next sweep."""
        for path in (self.folder / "manifests").glob("*.json"):
            if path.stem != snapshot:
                path.unlink(missing_ok=True)

    def heads(self) -> Iterator[tuple[str, Head]]:
        """Each worktree with what it was last answered from."""
        for path in (self.folder / "heads").glob("*.json"):
            head = self._head(path.stem)
            if head is not None:
                yield path.stem, head

    def forget(self, manifest: RepoManifest) -> None:
        """Forget a manifest; what it reaches goes with the next sweep."""
        self._manifest_path(manifest.snapshot).unlink(missing_ok=True)

    def forget_worktree(self, worktree: str) -> None:
        """Forget what a worktree was last answered from, and what snapshotting remembers of it."""
        (self.folder / "heads" / f"{worktree}.json").unlink(missing_ok=True)
        shutil.rmtree(self.folder / "worktrees" / worktree, ignore_errors=True)

    def changing_heads(self) -> AbstractContextManager[None]:
        """Taken for a moment, so that no head comes to name a manifest that is being pruned."""
        return exclusive(self.folder / "heads.lock", timeout_s=_LOCK_S)

    def _head(self, worktree: str) -> Head | None:
        try:
            data = without_checksum((self.folder / "heads" / f"{worktree}.json").read_bytes())
            return msgspec.json.decode(data, type=Head)
        except (FileNotFoundError, NotADirectoryError, *UNDECODABLE):
            return None

    def _holds(self, tree: str, files: Mapping[str, str]) -> bool:
        try:
            return self.tree(tree) == files
        except StateError:
            return False

    def _by_age(self) -> list[Path]:
        stamped = []
        for path in (self.folder / "manifests").glob("*.json"):
            if not path.name.startswith("."):
                try:
                    stamped.append((path.stat().st_mtime_ns, path))
                except FileNotFoundError:  # a writer pruned it meanwhile
                    continue
        return [path for _, path in sorted(stamped, reverse=True)]

    def _manifest_path(self, snapshot: str) -> Path:
        return self.folder / "manifests" / f"{snapshot}.json"

    def _scip_path(self, tree: str) -> Path:
        return self.folder / "scip" / f"{tree}.scip"

    def _tree_path(self, tree: str) -> Path:
        return self.folder / "trees" / f"{tree}.json"

"""A published manifest in, a workspace that answers from it alone out: no builder is reachable from here."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from codenib.core.errors import InputError, StateError
from codenib.core.views import RepoManifest, ViewKind
from codenib.manifest.home import home
from codenib.manifest.store import Store
from codenib.serving.snapshots.pool import Pins, Refresh
from codenib.serving.workspace import Workspace

if TYPE_CHECKING:
    from codenib.compiler.compiler import IndexCompiler
    from codenib.compiler.outcome import Outcome
    from codenib.serving.snapshots.pinned import Pinned


class PublishedWorkspace(Workspace):
    """Every answer is of `manifest`, whatever the worktree has become since."""

    def __init__(self, path: str | Path, manifest: RepoManifest) -> None:
        super().__init__(path)
        self.manifest = manifest
        self._pins = _OnePin(self._compiler, manifest)

    def hold(self, views: Sequence[ViewKind]) -> None:
        """Open these views now; a `StateError` names the first that is missing, stale or failed."""
        for kind in views:
            self._pins.pin(kind, None, "never")

    @property
    def store_folder(self) -> Path:
        """Where this repository's manifests and artifacts are."""
        return self._store.folder

    @property
    def files(self) -> Sequence[str]:
        """The paths of the snapshot, in order."""
        return sorted(self._pins.pin(None, None, "never")[0].files)

    def current_snapshot(self) -> str:
        """The snapshot of the worktree as it is now."""
        return self._compiler.take().id

    def _index(self, views: Sequence[ViewKind], at: str | None, rebuild: bool) -> Outcome:
        raise StateError("a workspace of a published manifest builds nothing", hint="codenib index")


class _OnePin(Pins):
    """Pins that know one snapshot."""

    def __init__(self, compiler: IndexCompiler, manifest: RepoManifest) -> None:
        from codenib.serving.snapshots.pinned import Pinned

        super().__init__(compiler)
        self._only = Pinned(self._store, manifest, compiler.source, stale=False)

    def clear(self) -> None: ...

    def pin(self, kind: ViewKind | None, at: str | None, refresh: Refresh) -> tuple[Pinned, str]:
        if at is not None:
            raise InputError(
                f"this workspace has one snapshot, and cannot answer for {at}", hint="codenib … --at REV"
            )
        self._only.hold(kind)
        return self._only, ""

    def pin_ready(self, kind: ViewKind, at: str | None, patience_s: float = 0.0) -> Pinned:
        with suppress(StateError):  # the caller asks whether the view is there
            return self.pin(kind, at, "never")[0]
        return self._only

    def of_snapshot(self, snapshot: str) -> Pinned:
        if snapshot != self._only.ref.id:
            raise StateError(f"this workspace has no snapshot {snapshot}", hint="codenib update")
        return self._only

    def views_of_head(self) -> tuple[ViewKind, ...]:
        return tuple(self._only.manifest.views)


class _Place(msgspec.Struct):
    location: str


def open_published(manifest: RepoManifest | str | Path) -> PublishedWorkspace:
    """The workspace of a manifest: the value, or its file (`repos/KEY/manifests/SNAPSHOT.json`)."""
    file = _file_of(manifest) if isinstance(manifest, RepoManifest) else Path(manifest)
    folder = file.absolute().parent.parent
    hint = "codenib status --json"
    try:
        place = msgspec.json.decode((folder / "repository.json").read_bytes(), type=_Place)
    except (OSError, msgspec.DecodeError) as error:
        raise InputError(f"{file} is not a manifest of a store: {error}", hint=hint) from error
    found = Store(folder.name, root=folder.parent.parent).manifest(file.stem)
    if found is None:
        raise InputError(f"{file} does not exist", hint=hint)
    if isinstance(manifest, RepoManifest):
        found = manifest
    workspace = PublishedWorkspace(place.location, found)
    if workspace.store_folder != folder:
        raise InputError(f"{file} is in a store other than $CODENIB_HOME", hint="export CODENIB_HOME=…")
    return workspace


def _file_of(manifest: RepoManifest) -> Path:
    found = sorted((home() / "repos").glob(f"*/manifests/{manifest.snapshot}.json"))
    if not found:
        raise StateError(f"snapshot {manifest.snapshot} is no longer published", hint="codenib update")
    return found[0]

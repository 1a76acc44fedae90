"""A published manifest in, a workspace that answers from it alone out: no builder is reachable from it."""

from __future__ import annotations

from pathlib import Path

import msgspec

from codenib.core.errors import UNDECODABLE, InputError, StateError
from codenib.core.views import RepoManifest
from codenib.manifest.home import home
from codenib.manifest.store import Store
from codenib.serving.workspace import Workspace
from codenib.snapshot.repository import locate

_HINT = "codenib status --json"


class _RepositoryFile(msgspec.Struct):
    location: str


def open_published(manifest: RepoManifest | str | Path, *, repository: str | Path | None = None) -> Workspace:
    """The workspace of a manifest: the value, or its file (`repos/KEY/manifests/SNAPSHOT.json`).

    Clones of one commit have the same snapshot: `repository` says whose views a value means.
    """
    file = _file_of(manifest, repository) if isinstance(manifest, RepoManifest) else Path(manifest)
    folder = file.absolute().parent.parent
    try:
        data = (folder / "repository.json").read_bytes()
        location = msgspec.json.decode(data, type=_RepositoryFile).location
    except (OSError, *UNDECODABLE) as error:
        raise InputError(f"{file} is not a manifest of a store: {error}", hint=_HINT) from error
    published = Store(folder.name, root=folder.parent.parent).manifest(file.stem)
    if published is None:
        raise InputError(f"{file} does not exist", hint=_HINT)
    if Store(locate(Path(location)).key).folder != folder:
        raise InputError(f"{file} is in a store other than $CODENIB_HOME", hint="export CODENIB_HOME=…")
    return Workspace(location, manifest=manifest if isinstance(manifest, RepoManifest) else published)


def _file_of(manifest: RepoManifest, repository: str | Path | None) -> Path:
    key = "*" if repository is None else locate(Path(repository)).key
    files = sorted((home() / "repos").glob(f"{key}/manifests/{manifest.snapshot}.json"))
    if not files:
        raise StateError(f"snapshot {manifest.snapshot} is no longer published", hint="codenib update")
    return next((file for file in files if _has_artifacts(file, manifest)), files[0])


def _has_artifacts(file: Path, manifest: RepoManifest) -> bool:
    """Whether the artifacts of a manifest lie in the store that a file is of."""
    folder = file.parent.parent / "artifacts"
    return all((folder / each.artifact).is_dir() for each in manifest.views.values() if each.artifact)

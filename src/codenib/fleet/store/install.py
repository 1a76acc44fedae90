"""A publication and something that has its objects in, a local store that has its snapshot out.

Every part is compared with its digest before it gets its name, and the manifest comes last.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import msgspec

from codenib.core.errors import UNDECODABLE, StateError
from codenib.core.source import SourceSnapshot
from codenib.core.views import MANIFEST_SCHEMA, RepoManifest, Status, ViewKind
from codenib.fleet.store.layout import ObjectRef, Publication
from codenib.fleet.store.publish import manifest_of
from codenib.manifest.seal import SEAL
from codenib.manifest.store import Store

_THREADS = 8
_REBUILD = "codenib index"

#: Writes an object to a place that is not there yet, compared with its digest.
Fetch = Callable[[ObjectRef, Path], None]


def checked_manifest(publication: Publication, tree: bytes) -> tuple[RepoManifest, dict[str, str]]:
    """The manifest of a publication with its files; an error where the two do not belong together."""
    manifest = manifest_of(publication)
    try:
        files = msgspec.json.decode(tree, type=dict[str, str])
    except UNDECODABLE as error:
        raise StateError(f"the file list of {manifest.snapshot} cannot be read", hint=_REBUILD) from error
    if manifest.schema != MANIFEST_SCHEMA:
        raise StateError(
            f"it has manifest schema {manifest.schema}; this codenib reads {MANIFEST_SCHEMA}", hint=_REBUILD
        )
    taken = SourceSnapshot("", manifest.commit, manifest.dirty, files, settings=manifest.settings)
    if not taken.id == manifest.snapshot == publication.snapshot or taken.tree != manifest.tree:
        raise StateError(f"the files are not those of snapshot {manifest.snapshot}", hint=_REBUILD)
    for kind, record in manifest.views.items():
        listing = publication.artifacts.get(record.artifact, {})
        if record.kind is not kind or (record.status is Status.FRESH and SEAL not in listing):
            raise StateError(f"the {kind} view of {manifest.snapshot} is not whole", hint=_REBUILD)
    return manifest, files


def fetch_artifact(parts: dict[str, ObjectRef], folder: Path, fetch: Fetch) -> None:
    """Bring the parts of an artifact into an empty folder, several at once."""
    with ThreadPoolExecutor(_THREADS) as pool:
        # The largest first: the others arrive beside it.
        rows = sorted(parts.items(), key=lambda row: -row[1].size)
        for _ in pool.map(lambda row: fetch(row[1], folder / row[0]), rows):
            pass


def install(
    publication: Publication,
    tree: bytes,
    store: Store,
    fetch: Fetch,
    views: Collection[ViewKind] | None = None,
) -> RepoManifest:
    """Publish a snapshot in a local store, with the fresh views that it does not have yet.

    What is there already stays: it is of the same files and was made here.
    """
    theirs, files = checked_manifest(publication, tree)
    brought: dict[ViewKind, Path] = {}
    with store.not_collecting():
        try:
            present = store.manifest(theirs.snapshot)
            for kind, record in theirs.views.items():
                wanted = record.status is Status.FRESH and (views is None or kind in views)
                if wanted and not _serves(store, present, kind, record.profile):
                    brought[kind] = folder = store.new_artifact()
                    fetch_artifact(publication.artifacts[record.artifact], folder, fetch)
                    if what := store.seals.accept(folder):
                        raise StateError(f"the {kind} view is damaged: {what}", hint=_REBUILD)
            with store.writing():
                return _publish(store, theirs, files, brought)
        finally:
            for folder in brought.values():  # those that did not become artifacts
                shutil.rmtree(folder, ignore_errors=True)


def _publish(
    store: Store, theirs: RepoManifest, files: dict[str, str], brought: dict[ViewKind, Path]
) -> RepoManifest:
    present = store.manifest(theirs.snapshot)
    views = dict(present.views) if present else {}
    for kind, folder in brought.items():
        name = store.adopt(folder, kind, theirs.tree)
        views[kind] = replace(theirs.views[kind], artifact=name)
    ordered = {kind: views[kind] for kind in ViewKind if kind in views}
    manifest = replace(present or theirs, views=ordered)
    store.publish(manifest, files)
    return manifest


def _serves(store: Store, manifest: RepoManifest | None, kind: ViewKind, profile: str) -> bool:
    record = manifest.views.get(kind) if manifest else None
    fresh = record is not None and record.status is Status.FRESH and record.profile == profile
    return fresh and record is not None and store.is_whole(record.artifact)

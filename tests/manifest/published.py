"""A store in, manifests and artifacts in it out."""

from __future__ import annotations

import os
from pathlib import Path

from codenib.core.source import SourceSnapshot
from codenib.core.views import MANIFEST_SCHEMA, RepoManifest, Status, ViewKind, ViewRecord
from codenib.manifest.files import with_checksum, without_checksum
from codenib.manifest.store import Store

FILES = {"a.py": "1" * 40, "b/é.py": "2" * 40}


def publish(
    store: Store,
    number: int,
    *,
    dirty: bool = False,
    artifact: str = "",
    kind: ViewKind = ViewKind.LEXICAL,
) -> RepoManifest:
    """Publish a manifest of its own snapshot; a later one is younger."""
    files = {**FILES, "number": f"{number:040d}"}
    snapshot = SourceSnapshot("repo", f"{number:040d}", dirty, files)
    record = ViewRecord(kind, "profile", snapshot.id, Status.FRESH, artifact)
    manifest = RepoManifest(
        MANIFEST_SCHEMA, snapshot.id, snapshot.tree, snapshot.commit, dirty, 3, {}, {kind: record}
    )
    store.publish(manifest, files)
    os.utime(store.folder / "manifests" / f"{snapshot.id}.json", (number, number))
    return manifest


def change_schema(path: Path) -> None:
    """Make a manifest one of another schema, undamaged."""
    text = without_checksum(path.read_bytes()).replace(b'"schema":1', b'"schema":99')
    path.write_bytes(with_checksum(text))


def build_artifact(store: Store, tree: str = "t" * 64) -> str:
    folder = store.new_artifact()
    (folder / "view.json").write_text("{}")
    return store.adopt(folder, "lexical", tree)

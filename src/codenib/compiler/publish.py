"""Built views in, the published manifest of their snapshot out."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import replace

from codenib.compiler.build import BuiltView
from codenib.compiler.registry import SLOW_VIEWS, VIEWS
from codenib.core.errors import fault_of
from codenib.core.source import SourceSnapshot
from codenib.core.views import MANIFEST_SCHEMA, RepoManifest, Status, ViewKind, ViewRecord
from codenib.manifest.store import Store
from codenib.manifest.sweep import sweep
from codenib.snapshot.repository import Repository


class Publisher:
    """Writes the manifests of one repository. The caller has the writer lock, but for `mark_used`."""

    def __init__(self, repository: Repository, store: Store) -> None:
        self._repository = repository
        self._store = store

    def publish(
        self,
        snapshot: SourceSnapshot,
        records: Mapping[ViewKind, ViewRecord],
        built: Mapping[ViewKind, BuiltView],
    ) -> RepoManifest:
        """Give the new folders their names, and publish them with the other `records` of the snapshot."""
        self._store.describe(self._repository.common_dir or self._repository.root)
        others = {
            kind: as_stale(record)
            if record.status is Status.FRESH and not self._store.is_whole(record.artifact)
            else record
            for kind, record in records.items()
        }
        views = {**others, **{kind: self._adopt(view, snapshot) for kind, view in built.items()}}
        manifest = RepoManifest(
            schema=MANIFEST_SCHEMA,
            snapshot=snapshot.id,
            tree=snapshot.tree,
            commit=snapshot.commit,
            dirty=snapshot.dirty,
            files=len(snapshot.files),
            skipped=dict(snapshot.skipped),
            views={kind: views[kind] for kind in VIEWS if kind in views},
            settings=snapshot.settings,
        )
        self._store.publish(manifest, snapshot.files)
        return manifest

    def mark_used(self, snapshot: SourceSnapshot, *, head: bool) -> bool:
        """Mark a manifest as used, and as the worktree's `head`; False when it was pruned meanwhile."""
        if head:
            place = self._repository.git_dir or self._repository.root
            return self._store.set_head(self._repository.worktree_key, snapshot.id, place)
        self._store.touch(snapshot.id)
        return True

    def sweep(self) -> None:
        """Drop what no manifest that is left reaches."""
        sweep(self._store, slow=SLOW_VIEWS)

    def keep_only(self, snapshot: SourceSnapshot) -> None:
        """Forget the manifests of all other snapshots, and what only they reach."""
        with self._store.writing():
            self._store.forget_all_but(snapshot.id)
            self.sweep()

    def _adopt(self, view: BuiltView, snapshot: SourceSnapshot) -> ViewRecord:
        """The record of a view whose folder is now an artifact."""
        record = view.record
        if record.how == "reused" and not self._store.artifact(record.artifact).is_dir():
            return replace(record, status=Status.STALE, artifact="", how="")  # swept meanwhile
        if view.folder is None:
            return record
        try:
            size = sum(part.stat().st_size for part in view.folder.iterdir())
            name = self._store.adopt(view.folder, record.kind, snapshot.tree)
        except OSError as error:  # the disk's fault, not the view's: nothing is published
            shutil.rmtree(view.folder, ignore_errors=True)
            raise fault_of(error) from error
        return replace(record, artifact=name, size_bytes=size)


def as_stale(record: ViewRecord) -> ViewRecord:
    """The record of an earlier snapshot's view, for a snapshot that has none yet."""
    return replace(record, status=Status.STALE, artifact="", error="")

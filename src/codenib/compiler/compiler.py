"""A snapshot in, a published manifest out: builds, maintains, verifies. The only writer of the store."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from codenib.compiler.derive import CachedRecords
from codenib.compiler.registry import builder_of, derivers_of, profile_of
from codenib.core.errors import CannotMaintain, CodenibError
from codenib.core.protocols import Progress, ViewMaintainer
from codenib.core.source import Delta, SourceSnapshot
from codenib.core.views import (
    MANIFEST_SCHEMA,
    ArtifactProfile,
    RepoManifest,
    Status,
    ViewFacts,
    ViewKind,
    ViewRecord,
)
from codenib.manifest.cache import RecordCache
from codenib.manifest.store import Store
from codenib.snapshot.blobs import BlobSource, LocalBlobs
from codenib.snapshot.delta import diff
from codenib.snapshot.repository import Repository
from codenib.snapshot.take import take

_BASES = 8  # recent manifests looked at for the nearest base
_NEAR = 64  # a delta this small is not worth looking further

#: What a broken view may raise. A failure becomes that view's record and leaves its siblings alone.
BUILD_FAILURES = (CodenibError, OSError, ValueError, LookupError, ArithmeticError, MemoryError, sqlite3.Error)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What `ensure` did: nothing, or which views it built, maintained or reused, from how large a delta."""

    manifest: RepoManifest
    snapshot: SourceSnapshot
    views: Mapping[ViewKind, str] = field(default_factory=dict)
    added: int = 0
    changed: int = 0
    removed: int = 0
    renamed: int = 0
    derived: int = 0
    seconds: float = 0.0

    @property
    def nothing_to_do(self) -> bool:
        return not self.views


def silent(stage: str, done: int, total: int) -> None:
    """Progress for nobody."""


class IndexCompiler:
    """Keeps the views of one repository."""

    def __init__(self, repository: Repository, store: Store, progress: Progress = silent) -> None:
        self.repository = repository
        self.store = store
        self.progress = progress

    @property
    def source(self) -> BlobSource:
        git_dir = self.repository.git_dir
        return BlobSource(str(git_dir) if git_dir else None, str(self.store.blob_store))

    def take(self, at: str | None = None) -> SourceSnapshot:
        """The snapshot of a revision, or of the worktree as it is now."""
        state = self.store.worktree_state(self.repository.worktree_key)
        with closing(LocalBlobs(self.store.blob_store)) as local:
            return take(self.repository, state, local, at)

    def current(self, snapshot: SourceSnapshot, views: Sequence[ViewKind]) -> RepoManifest | None:
        """The published manifest, when it holds all these views, fresh and of today's profiles."""
        manifest = self.store.manifest(snapshot.id)
        if manifest is None:
            return None
        for kind in views:
            record = _fresh(manifest, kind)
            if record is None or not self.store.artifact(record.artifact).is_dir():
                return None
        return manifest

    def ensure(
        self, snapshot: SourceSnapshot, views: Sequence[ViewKind], *, head: bool, rebuild: bool = False
    ) -> Outcome:
        """Publish the views of a snapshot that are not there yet, from the nearest base there is.

        `head` says that the snapshot is the worktree's own. A view that fails is published as failed.
        """
        started = time.perf_counter()
        if not rebuild and (manifest := self.current(snapshot, views)) is not None:
            self._use(snapshot, head)
            return Outcome(manifest, snapshot, seconds=time.perf_counter() - started)
        with self.store.not_collecting(), self.store.writing():
            if rebuild:
                self.store.discard_manifests()
            elif (manifest := self.current(snapshot, views)) is not None:  # another writer was here first
                self._use(snapshot, head)
                return Outcome(manifest, snapshot, seconds=time.perf_counter() - started)
            self.store.describe(self.repository.common_dir or self.repository.root)
            outcome = self._compile(snapshot, views, started)
            self._use(snapshot, head)
            self.store.sweep()
        return outcome

    def verify(self, snapshot: SourceSnapshot, views: Sequence[ViewKind]) -> dict[ViewKind, list[str]]:
        """Rebuild each view from nothing, beside the published one; how they differ, a line each."""
        manifest = self.ensure(snapshot, views, head=False).manifest
        found: dict[ViewKind, list[str]] = {}
        with (
            tempfile.TemporaryDirectory(prefix="codenib-verify-") as folder,
            closing(RecordCache(Path(folder) / "records.sqlite")) as cache,
            closing(CachedRecords(cache, self.source, derivers_of(views), self.progress)) as records,
        ):
            for kind in views:
                record = manifest.views[kind]
                if record.status is not Status.FRESH:
                    found[kind] = [f"the view is {record.status}: {record.error}"]
                    continue
                out = Path(folder) / kind
                out.mkdir()
                builder = builder_of(kind)
                builder.build(snapshot, records, out)
                self.progress(f"comparing {kind}", 0, 1)
                found[kind] = list(builder.differences(self.store.artifact(record.artifact), out))
        return found

    def _use(self, snapshot: SourceSnapshot, head: bool) -> None:
        if head:
            self.store.set_head(self.repository.worktree_key, snapshot.id)
        else:
            self.store.touch(snapshot.id)

    def _compile(self, snapshot: SourceSnapshot, views: Sequence[ViewKind], started: float) -> Outcome:
        published = self.store.manifest(snapshot.id)
        records = dict(published.views) if published else {}
        bases = _Bases(self.store, self.repository, snapshot)
        done: dict[ViewKind, str] = {}
        with (
            closing(self.store.open_cache()) as cache,
            closing(CachedRecords(cache, self.source, derivers_of(views), self.progress)) as source,
        ):
            for kind in views:
                if self.current(snapshot, [kind]) is not None:
                    continue
                records[kind] = self._make(kind, snapshot, bases, source)
                done[kind] = records[kind].how or records[kind].status
        manifest = RepoManifest(
            MANIFEST_SCHEMA,
            snapshot.id,
            snapshot.tree,
            snapshot.commit,
            snapshot.dirty,
            len(snapshot.files),
            dict(snapshot.skipped),
            records,
        )
        self.store.publish(manifest, dict(snapshot.files))
        delta = bases.used
        return Outcome(
            manifest,
            snapshot,
            done,
            added=len(delta.added) if delta else len(snapshot.files),
            changed=len(delta.changed) if delta else 0,
            removed=len(delta.removed) if delta else 0,
            renamed=len(delta.renamed) if delta else 0,
            derived=source.derived,
            seconds=time.perf_counter() - started,
        )

    def _make(
        self, kind: ViewKind, snapshot: SourceSnapshot, bases: _Bases, records: CachedRecords
    ) -> ViewRecord:
        """One view's record: reused, maintained, built, or failed."""
        started = time.perf_counter()
        profile = profile_of(kind)
        base = bases.nearest(kind, profile)
        if base is not None and not len(base.delta):
            old = base.record
            return ViewRecord(
                kind, profile.digest, snapshot.id, Status.FRESH, old.artifact, "reused", dict(profile.fields),
                old.capabilities, old.counts, time.perf_counter() - started, old.size_bytes,
            )  # fmt: skip
        out = self.store.new_artifact()
        try:
            facts, how = self._write(builder_of(kind), snapshot, base, records, out)
            size = sum(part.stat().st_size for part in out.iterdir())
            name = self.store.adopt(out, kind, snapshot.tree)
        except BUILD_FAILURES as error:
            shutil.rmtree(out, ignore_errors=True)
            return ViewRecord(
                kind, profile.digest, snapshot.id, Status.FAILED, fields=dict(profile.fields),
                seconds=time.perf_counter() - started, error=f"{type(error).__name__}: {error}",
            )  # fmt: skip
        return ViewRecord(
            kind, profile.digest, snapshot.id, Status.FRESH, name, how, dict(profile.fields),
            facts.capabilities, facts.counts, time.perf_counter() - started, size,
        )  # fmt: skip

    def _write(
        self,
        builder: ViewMaintainer,
        snapshot: SourceSnapshot,
        base: _Base | None,
        records: CachedRecords,
        out: Path,
    ) -> tuple[ViewFacts, str]:
        if base is not None:
            try:
                records.prepare([*base.delta.added, *base.delta.changed])
                self.progress(f"maintaining {builder.kind}", 0, 1)
                folder = self.store.artifact(base.record.artifact)
                return builder.maintain(folder, base.delta, records, out), "maintained"
            except (CannotMaintain, OSError):  # the base is gone or declines: rebuild this view alone
                shutil.rmtree(out)
                out.mkdir()
        records.prepare(snapshot.source_files())
        self.progress(f"building {builder.kind}", 0, 1)
        return builder.build(snapshot, records, out), "built"


def _fresh(
    manifest: RepoManifest, kind: ViewKind, profile: ArtifactProfile | None = None
) -> ViewRecord | None:
    record = manifest.views.get(kind)
    wanted = (profile or profile_of(kind)).digest
    if record is None or record.status is not Status.FRESH or record.profile != wanted:
        return None
    return record


@dataclass(frozen=True, slots=True)
class _Base:
    record: ViewRecord
    delta: Delta


class _Bases:
    """The published snapshots that a new one may follow, nearest first."""

    def __init__(self, store: Store, repository: Repository, snapshot: SourceSnapshot) -> None:
        self._store = store
        self._snapshot = snapshot
        self._repository = repository
        head = store.head(repository.worktree_key)
        manifests = store.manifests()
        manifests.sort(key=lambda manifest: manifest.snapshot != head)
        self._manifests = manifests
        self._deltas: dict[str, Delta] = {}
        self.used: Delta | None = None

    def nearest(self, kind: ViewKind, profile: ArtifactProfile) -> _Base | None:
        """The fresh view of this kind and profile whose files differ least."""
        best: _Base | None = None
        for manifest in self._manifests[:_BASES]:
            record = _fresh(manifest, kind, profile)
            if record is None or not self._store.artifact(record.artifact).is_dir():
                continue
            delta = self._delta(manifest)
            if best is None or len(delta) < len(best.delta):
                best = _Base(record, delta)
            if len(best.delta) <= _NEAR:
                break
        if best is not None:
            self.used = best.delta
        return best

    def _delta(self, manifest: RepoManifest) -> Delta:
        if manifest.tree not in self._deltas:
            base = self._store.snapshot(manifest, self._repository.name)
            self._deltas[manifest.tree] = diff(base, self._snapshot)
        return self._deltas[manifest.tree]

"""A snapshot in, a published manifest out: builds, maintains, verifies. The only writer of the store."""

from __future__ import annotations

import logging
import math
import tempfile
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from codenib.compiler.bases import Bases, by_nearness
from codenib.compiler.build import BuiltView, SnapshotBuilder
from codenib.compiler.choices import RepositoryViews
from codenib.compiler.dense import DenseChoice, estimate_embedding, open_named
from codenib.compiler.graph import FindBackends, GraphChoice
from codenib.compiler.history import HistoryChoice
from codenib.compiler.outcome import outcome_of
from codenib.compiler.publish import Publisher, as_stale
from codenib.compiler.registry import DENSE, GRAPH, HISTORY, SLOW_VIEWS, VIEWS, ViewContext
from codenib.config.resolve import source_settings
from codenib.core.embedding import OpenEmbedder
from codenib.core.errors import CodenibError, StateError, StoreFault
from codenib.core.protocols import Progress, ViewMaintainer
from codenib.core.source import SourceSnapshot
from codenib.core.updates import Outcome
from codenib.core.views import RepoManifest, Status, ViewKind, ViewRecord
from codenib.manifest.files import reports_faults
from codenib.manifest.store import BUILDER_S, Store
from codenib.navigation.registry import backends_of
from codenib.snapshot.blobs import BlobSource, LocalBlobs
from codenib.snapshot.repository import Repository
from codenib.snapshot.take import take

if TYPE_CHECKING:
    from codenib.views.graph.maintenance.audit import GroupAudit

_log = logging.getLogger("codenib")

ViewRecords = Mapping[ViewKind, ViewRecord]


def silent(stage: str, done: int, total: int) -> None:
    """Progress for nobody."""


class IndexCompiler:
    """Keeps the views of one repository.

    `builders` take the place of the registry's, `open_embedder` that of the product's embedders,
    `find_backends` that of the language backends.
    """

    def __init__(
        self,
        repository: Repository,
        store: Store,
        progress: Progress = silent,
        builders: Mapping[ViewKind, ViewMaintainer] | None = None,
        open_embedder: OpenEmbedder = open_named,
        find_backends: FindBackends = backends_of,
    ) -> None:
        self.repository = repository
        self.store = store
        self.progress = progress
        self._context = ViewContext(repository, store, progress, open_embedder, find_backends)
        self.views = RepositoryViews(self._context, builders or {})
        self._builder = SnapshotBuilder(self._context, self.views)
        self._publisher = Publisher(repository, store)
        self._unstored: StoreFault | None = None  # why the contents of the last snapshot are not stored

    @property
    def dense(self) -> DenseChoice:
        """The dense view as this repository chooses it: its embedder and setting."""
        return self.views.choice(DENSE)

    @property
    def graph(self) -> GraphChoice:
        """The graph as this repository chooses it: its backends and engines."""
        return self.views.choice(GRAPH)

    @property
    def history(self) -> HistoryChoice:
        """The history as this repository chooses it: its commits."""
        return self.views.choice(HISTORY)

    @property
    def source(self) -> BlobSource:
        return BlobSource.of(self.repository, self.store.blob_store)

    def take(self, at: str | None = None) -> SourceSnapshot:
        """The snapshot of a revision, or of the worktree as it is now; also where nothing can be stored.

        Then what was published of these files still answers, but nothing is built of them.
        """
        self._unstored = None
        try:
            return self._take(at)
        except StoreFault as fault:
            try:
                with (
                    tempfile.TemporaryDirectory(prefix="codenib-take-") as name,
                    closing(LocalBlobs(Path(name) / "blobs.sqlite")) as local,
                ):
                    snapshot = take(self.repository, Path(name), local, at, source_settings)
            except (OSError, StoreFault):
                raise fault from None
            self._unstored = fault
            return snapshot

    @reports_faults
    def _take(self, at: str | None) -> SourceSnapshot:
        state = self.store.worktree_state(self.repository.worktree_key)
        with closing(LocalBlobs(self.store.blob_store)) as local:
            return take(self.repository, state, local, at, source_settings)

    @reports_faults
    def current(
        self, snapshot: SourceSnapshot, views: Sequence[ViewKind], later: Collection[ViewKind] = ()
    ) -> RepoManifest | None:
        """The published manifest, when it has all these views, fresh and of today's profiles.

        The views in `later` need only be recorded in it.
        """
        self.views.settle(snapshot, views)
        manifest = self.store.manifest(snapshot.id)
        if manifest is None or any(self.views.fresh_record(manifest, kind) is None for kind in views):
            return None
        if not self.store.has_tree(manifest.tree):
            return None
        return manifest if manifest.views.keys() >= set(later) else None

    @reports_faults
    def ensure(
        self,
        snapshot: SourceSnapshot,
        views: Sequence[ViewKind],
        *,
        head: bool,
        rebuild: bool = False,
        retry: bool = True,
        later: ViewRecords | None = None,
        patience_s: float = BUILDER_S,
    ) -> Outcome:
        """Publish the views of a snapshot that are not there yet, from the nearest base there is.

        `head` says that the snapshot is the worktree's own. A view that fails is published as failed.
        `rebuild` trusts nothing that is stored, and forgets it once the new manifest is published; where only
        slow views are rebuilt, the others of this snapshot stay. Without `retry`, what failed for this very
        snapshot stays failed: a query need not wait for it again. Views in `later`, with the records of an
        earlier snapshot, are published as stale: the next update brings them.
        A slow view that another process builds is waited for at most `patience_s`.
        """
        started = time.perf_counter()
        self.views.settle(snapshot, views)
        if not retry:
            views = self._without_failed(snapshot, views)
        if rebuild and set(views) <= set(SLOW_VIEWS) and self.store.manifest(snapshot.id) is not None:
            return self._renew_all(snapshot, views)
        later = dict(later or {})
        if not rebuild and (manifest := self._use_current(snapshot, views, later, head=head)) is not None:
            _log.debug("snapshot %s is published with %s: nothing to do", snapshot.id, ", ".join(views))
            return Outcome(manifest, snapshot, seconds=time.perf_counter() - started)
        if self._unstored is not None:
            raise self._unstored  # some of its contents are nowhere
        quick = [kind for kind in views if kind not in SLOW_VIEWS]
        slow = [kind for kind in SLOW_VIEWS if kind in views]
        before = self.store.head(self.repository.worktree_key)
        outcome: Outcome | None = None
        with self.store.not_collecting():
            if quick or not slow:
                waiting = {**later, **self.waiting_records(snapshot, slow)}
                outcome = self._publish_quick(snapshot, quick, waiting, head=head, rebuild=rebuild)
            for kind in slow:  # each is there for questions as soon as it is done
                heads = (before, snapshot.id) if head else ()
                done = self._publish_slow(
                    snapshot, kind, later, outcome, heads=heads, rebuild=rebuild, patience_s=patience_s
                )
                outcome = outcome.then(done) if outcome is not None else done
            if rebuild:
                self._publisher.keep_only(snapshot)
        assert outcome is not None
        return replace(outcome, healed=self.store.take_damaged(), outdated=self.store.take_outdated())

    @reports_faults
    def renew(self, snapshot: SourceSnapshot, kind: ViewKind) -> Outcome:
        """Build one slow view of a published snapshot from nothing; the others stay."""
        self.graph.close()
        with self.store.not_collecting():
            published = self.store.manifest(snapshot.id)
            before = Outcome(published, snapshot) if published is not None else None
            return self._publish_slow(snapshot, kind, {}, before, heads=(), rebuild=True)

    def _renew_all(self, snapshot: SourceSnapshot, kinds: Sequence[ViewKind]) -> Outcome:
        first, *rest = (self.renew(snapshot, kind) for kind in kinds)
        for done in rest:
            first = first.then(done)
        return first

    def estimate_s(self, snapshot: SourceSnapshot, kind: ViewKind) -> float:
        """About how long a default slow view of a snapshot takes; infinite when nobody can say."""
        manifests = by_nearness(self.store, self.repository.worktree_key)
        base = Bases(self.store, manifests, self.views.fresh_record, snapshot).nearest(kind)
        if base is not None and base.same:
            return 0.0
        if kind is ViewKind.DENSE and self.dense.is_instant:
            return estimate_embedding(base, self.store.manifest(snapshot.id))
        if kind is ViewKind.HISTORY:
            return self.history.estimate_s(base.commit if base is not None else None, snapshot.commit)
        return math.inf

    def waiting_records(
        self, snapshot: SourceSnapshot, kinds: Sequence[ViewKind]
    ) -> dict[ViewKind, ViewRecord]:
        """What says of these views that they come later: as the worktree has them, or as they will be."""
        before = self._records_of(self.store.head(self.repository.worktree_key), kinds)
        return {kind: before.get(kind) or self._unbuilt(snapshot, kind) for kind in kinds}

    def _unbuilt(self, snapshot: SourceSnapshot, kind: ViewKind) -> ViewRecord:
        fields: Mapping[str, str] = {}
        with suppress(CodenibError):  # what is wrong with it is said when it is built
            fields = self.views[kind].profile().fields
        return ViewRecord(kind, "", snapshot.id, Status.STALE, fields=dict(fields))

    @reports_faults
    def verify(self, snapshot: SourceSnapshot, views: Sequence[ViewKind]) -> dict[ViewKind, list[str]]:
        """Rebuild each view from nothing, beside the published one; how they differ, a line each."""
        from codenib.compiler.verify import verify_views

        manifest = self.ensure(snapshot, views, head=False).manifest
        return verify_views(self._context, self.views, snapshot, manifest, views)

    def audit(self, snapshot: SourceSnapshot, *, sample: int, seed: int) -> list[GroupAudit]:
        """Ask new engines for some files of the published graph, and compare."""
        manifest = self.current(snapshot, [ViewKind.GRAPH])
        if manifest is None:
            raise StateError("there is no fresh graph of these files", hint="codenib index --views graph")
        return self.graph.audit(
            snapshot,
            self.store.whole_artifact(manifest.views[ViewKind.GRAPH].artifact),
            sample=sample,
            seed=seed,
        )

    def _without_failed(self, snapshot: SourceSnapshot, views: Sequence[ViewKind]) -> Sequence[ViewKind]:
        manifest = self.store.manifest(snapshot.id)
        if manifest is None:
            return views
        return [kind for kind in views if not self.views.has_failed(manifest, kind)]

    def _use_current(
        self, snapshot: SourceSnapshot, views: Sequence[ViewKind], later: ViewRecords, *, head: bool
    ) -> RepoManifest | None:
        """The current manifest, marked as used; None when there is none, or it was pruned meanwhile."""
        manifest = self.current(snapshot, views, later)
        return manifest if manifest and self._publisher.mark_used(snapshot, head=head) else None

    def _records_of(self, snapshot: str | None, kinds: Sequence[ViewKind]) -> dict[ViewKind, ViewRecord]:
        """What a snapshot's manifest says of these views; nothing when it is not readable."""
        manifest = None
        with suppress(StateError):
            manifest = self.store.manifest(snapshot) if snapshot else None
        return {kind: manifest.views[kind] for kind in kinds if kind in manifest.views} if manifest else {}

    def _publish_quick(
        self,
        snapshot: SourceSnapshot,
        views: Sequence[ViewKind],
        later: ViewRecords,
        *,
        head: bool,
        rebuild: bool,
    ) -> Outcome:
        """Build and publish views under the writer's lock; those in `later` are published as stale."""
        started = time.perf_counter()
        with self.store.writing():
            # Another writer may have been here first.
            if not rebuild and (manifest := self._use_current(snapshot, views, later, head=head)) is not None:
                return Outcome(manifest, snapshot, seconds=time.perf_counter() - started)
            published = None if rebuild else self.store.manifest(snapshot.id)
            stale = {kind: as_stale(record) for kind, record in later.items() if kind not in views}
            reuse = [kind for kind in stale if VIEWS[kind].default and not _is_fresh(published, kind)]
            self.views.settle(snapshot, reuse)
            built = self._builder.build(
                snapshot, views, published, rebuild=rebuild, anew=rebuild, reuse=reuse
            )
            records = {**stale, **(published.views if published else {})}
            manifest = self._publisher.publish(snapshot, records, built.views)
            self._publisher.mark_used(snapshot, head=head)
            self._publisher.sweep()
        return outcome_of(manifest, snapshot, built, started)

    def _publish_slow(
        self,
        snapshot: SourceSnapshot,
        kind: ViewKind,
        later: ViewRecords,
        before: Outcome | None,
        *,
        heads: Collection[str | None],
        rebuild: bool,
        patience_s: float = BUILDER_S,
    ) -> Outcome:
        """Build a view beside other writers, who wait only while the result is published.

        `before` is what was published of this snapshot just now. The snapshot becomes the worktree's head
        only when that is one of `heads`: whoever went on meanwhile is not set back.
        """
        started = time.perf_counter()
        with self.store.building(kind, patience_s):
            if not rebuild and (manifest := self.current(snapshot, [kind])) is not None:
                self._publisher.mark_used(snapshot, head=False)
                return Outcome(manifest, snapshot, seconds=time.perf_counter() - started)
            published = None if rebuild else self.store.manifest(snapshot.id)
            anew = rebuild and before is None  # else they were derived just now

            def publish(views: Mapping[ViewKind, BuiltView]) -> RepoManifest:
                with self.store.writing():
                    published = None if rebuild and before is None else self.store.manifest(snapshot.id)
                    records = dict(before.manifest.views) if before else {}
                    for other, record in later.items():
                        records.setdefault(other, as_stale(record))
                    records = dict(published.views) if published else records
                    manifest = self._publisher.publish(snapshot, records, views)
                    if self.store.head(self.repository.worktree_key) in heads:
                        self._publisher.mark_used(snapshot, head=True)
                    self._publisher.sweep()
                    return manifest

            def publish_early(view: BuiltView) -> None:
                publish({kind: view})

            built = self._builder.build(
                snapshot, [kind], published, rebuild=rebuild, anew=anew, early=publish_early
            )
            manifest = publish(built.views)
        return outcome_of(manifest, snapshot, built, started)


def _is_fresh(manifest: RepoManifest | None, kind: ViewKind) -> bool:
    record = manifest.views.get(kind) if manifest else None
    return record is not None and record.status is Status.FRESH

"""A snapshot in, a published manifest out: builds, maintains, verifies. The only writer of the store."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from codenib.compiler.bases import Base, Bases, by_nearness
from codenib.compiler.dense import DenseChoice, open_named
from codenib.compiler.graph import FindBackends, GraphChoice
from codenib.compiler.history import HistoryChoice
from codenib.compiler.outcome import Made, Outcome, outcome_of
from codenib.compiler.registry import (
    DENSE,
    GRAPH,
    HISTORY,
    SLOW_VIEWS,
    VIEWS,
    ChoiceT,
    FixedView,
    RegisteredView,
    ViewContext,
    derivers_of,
)
from codenib.core.embedding import OpenEmbedder
from codenib.core.errors import CodenibError, StateError
from codenib.core.protocols import Progress, ViewChoice, ViewMaintainer
from codenib.core.source import SourceSnapshot
from codenib.core.views import (
    MANIFEST_SCHEMA,
    RepoManifest,
    Status,
    ViewFacts,
    ViewKind,
    ViewRecord,
)
from codenib.manifest.cache import RecordCache
from codenib.manifest.store import Store
from codenib.navigation.registry import backends_of
from codenib.snapshot.blobs import BlobSource, LocalBlobs
from codenib.snapshot.repository import Repository
from codenib.snapshot.take import take

if TYPE_CHECKING:
    from codenib.compiler.derive import CachedRecords
    from codenib.views.graph.maintenance.audit import Audited


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
        context = ViewContext(repository, store, progress, open_embedder, find_backends)
        self._choices = {kind: view.choose(context) for kind, view in VIEWS.items()}
        given = {kind: FixedView.of(builder) for kind, builder in (builders or {}).items()}
        self.views: Mapping[ViewKind, ViewChoice] = {**self._choices, **given}

    @property
    def dense(self) -> DenseChoice:
        return self._choice(DENSE)

    @property
    def graph(self) -> GraphChoice:
        return self._choice(GRAPH)

    @property
    def history(self) -> HistoryChoice:
        return self._choice(HISTORY)

    @property
    def source(self) -> BlobSource:
        return BlobSource.of(self.repository, self.store.blob_store)

    def take(self, at: str | None = None) -> SourceSnapshot:
        """The snapshot of a revision, or of the worktree as it is now."""
        state = self.store.worktree_state(self.repository.worktree_key)
        with closing(LocalBlobs(self.store.blob_store)) as local:
            return take(self.repository, state, local, at)

    def current(
        self,
        snapshot: SourceSnapshot,
        views: Sequence[ViewKind],
        later: Mapping[ViewKind, ViewRecord] | None = None,
    ) -> RepoManifest | None:
        """The published manifest, when it holds all these views, fresh and of today's profiles."""
        self._settle(snapshot, views)
        manifest = self.store.manifest(snapshot.id)
        if manifest is None or any(self._fresh(manifest, kind) is None for kind in views):
            return None
        return None if later and later.keys() - manifest.views.keys() else manifest

    def ensure(
        self,
        snapshot: SourceSnapshot,
        views: Sequence[ViewKind],
        *,
        head: bool,
        rebuild: bool = False,
        retry: bool = True,
        later: Mapping[ViewKind, ViewRecord] | None = None,
    ) -> Outcome:
        """Publish the views of a snapshot that are not there yet, from the nearest base there is.

        `head` says that the snapshot is the worktree's own. A view that fails is published as failed.
        `rebuild` trusts nothing that is stored, and forgets it once the new manifest is published. Without
        `retry`, what failed for this very snapshot stays failed: a query need not wait for it again. Views in
        `later`, with the records of an earlier snapshot, are published as stale: the next update brings them.
        """
        started = time.perf_counter()
        self._settle(snapshot, views)
        if not retry:
            views = self._untried(snapshot, views)
        later = dict(later or {})
        if not rebuild and (manifest := self._use_current(snapshot, views, head, later)) is not None:
            return Outcome(manifest, snapshot, seconds=time.perf_counter() - started)
        quick = [kind for kind in views if kind not in SLOW_VIEWS]
        slow = [kind for kind in views if kind in SLOW_VIEWS]
        was = self.store.head(self.repository.worktree_key)
        outcome: Outcome | None = None
        with self.store.not_collecting():
            if quick or not slow:
                waiting = {**later, **self._records_of(was, slow)}
                outcome = self._publish_quick(snapshot, quick, head=head, rebuild=rebuild, later=waiting)
            if slow:
                done = self._publish_slow(
                    snapshot, slow, outcome, head=head and (was, snapshot.id), rebuild=rebuild, later=later
                )
                outcome = outcome.then(done) if outcome is not None else done
            if rebuild:
                with self.store.writing():
                    self.store.forget_all_but(snapshot.id)
                    self.store.sweep(slow=SLOW_VIEWS)
        assert outcome is not None
        return outcome

    def verify(self, snapshot: SourceSnapshot, views: Sequence[ViewKind]) -> dict[ViewKind, list[str]]:
        """Rebuild each view from nothing, beside the published one; how they differ, a line each."""
        manifest = self.ensure(snapshot, views, head=False).manifest
        found: dict[ViewKind, list[str]] = {}
        with (
            tempfile.TemporaryDirectory(prefix="codenib-verify-") as folder,
            closing(RecordCache(Path(folder) / "records.sqlite")) as cache,
            closing(self._records(cache, views)) as records,
        ):
            # Copies, because the next writers may sweep the published ones while this rebuilds.
            fresh = {kind: record for kind in views if (record := self._fresh(manifest, kind)) is not None}
            for kind, record in fresh.items():
                shutil.copytree(self.store.artifact(record.artifact), Path(folder) / f"published-{kind}")
            for kind in views:
                if kind not in fresh:
                    record = manifest.views[kind]
                    found[kind] = [f"the view is {record.status}: {record.error}"]
                    continue
                out = Path(folder) / f"rebuilt-{kind}"
                out.mkdir()
                published = Path(folder) / f"published-{kind}"
                with self.views[kind].rebuilder(published, Path(folder)) as builder:
                    builder.build(snapshot, records, out)
                self.progress(f"comparing {kind}", 0, 1)
                found[kind] = list(builder.differences(published, out))
        return found

    def audit(self, snapshot: SourceSnapshot, *, sample: int, seed: int) -> list[Audited]:
        """Ask new engines for some files of the published graph, and compare."""
        manifest = self.current(snapshot, [ViewKind.GRAPH])
        if manifest is None:
            raise StateError("there is no fresh graph of these files", hint="codenib index --views graph")
        return self.graph.audit(
            snapshot, self.store.artifact(manifest.views[ViewKind.GRAPH].artifact), sample=sample, seed=seed
        )

    def renew(self, snapshot: SourceSnapshot, kind: ViewKind) -> Outcome:
        """Make one slow view of a published snapshot from nothing; the others stay."""
        self.graph.close()
        with self.store.not_collecting():
            known = self.store.manifest(snapshot.id)
            before = Outcome(known, snapshot) if known is not None else None
            return self._publish_slow(snapshot, [kind], before, head=False, rebuild=True, later={})

    def _choice(self, view: RegisteredView[ChoiceT, Any]) -> ChoiceT:
        choice: ChoiceT = self._choices[view.kind]
        return choice

    def _settle(self, snapshot: SourceSnapshot, views: Sequence[ViewKind]) -> None:
        for kind in views:
            self.views[kind].settle(snapshot)

    def _records(self, cache: RecordCache, views: Sequence[ViewKind], *, anew: bool = False) -> CachedRecords:
        from codenib.compiler.derive import CachedRecords  # parsers and more, which a no-op never needs

        return CachedRecords(cache, self.source, derivers_of(views), self.progress, anew=anew)

    def _fresh(self, manifest: RepoManifest, kind: ViewKind) -> ViewRecord | None:
        """The record of a view that can be opened and has today's profile."""
        record = manifest.views.get(kind)
        if record is None or record.status is not Status.FRESH:
            return None
        current = record.profile == self.views[kind].profile().digest
        return record if current and self.store.artifact(record.artifact).is_dir() else None

    def _untried(self, snapshot: SourceSnapshot, views: Sequence[ViewKind]) -> list[ViewKind]:
        manifest = self.store.manifest(snapshot.id)
        known = manifest.views if manifest else {}
        failed = {
            kind
            for kind, record in known.items()
            if record.status is Status.FAILED and record.profile == self.views[kind].profile().digest
        }
        return [kind for kind in views if kind not in failed]

    def _use_current(
        self,
        snapshot: SourceSnapshot,
        views: Sequence[ViewKind],
        head: bool,
        later: Mapping[ViewKind, ViewRecord] | None,
    ) -> RepoManifest | None:
        manifest = self.current(snapshot, views, later)
        return manifest if manifest is not None and self._use(snapshot, head) else None

    def _use(self, snapshot: SourceSnapshot, head: bool) -> bool:
        """Mark a manifest as used; False when another writer pruned it meanwhile."""
        if head:
            place = self.repository.git_dir or self.repository.root
            return self.store.set_head(self.repository.worktree_key, snapshot.id, place)
        self.store.touch(snapshot.id)
        return True

    def _records_of(self, head: str | None, kinds: Sequence[ViewKind]) -> dict[ViewKind, ViewRecord]:
        """What a snapshot's manifest says of these views; nothing when it is not readable."""
        manifest = None
        with suppress(StateError):
            manifest = self.store.manifest(head) if head else None
        return {kind: manifest.views[kind] for kind in kinds if kind in manifest.views} if manifest else {}

    def _publish_quick(
        self,
        snapshot: SourceSnapshot,
        views: Sequence[ViewKind],
        *,
        head: bool,
        rebuild: bool,
        later: Mapping[ViewKind, ViewRecord],
    ) -> Outcome:
        """Make and publish views under the writer's lock; those in `later` are published as stale."""
        started = time.perf_counter()
        with self.store.writing():
            # Another writer may have been here first.
            if not rebuild and (manifest := self._use_current(snapshot, views, head, later)) is not None:
                return Outcome(manifest, snapshot, seconds=time.perf_counter() - started)
            self.store.describe(self.repository.common_dir or self.repository.root)
            published = None if rebuild else self.store.manifest(snapshot.id)
            records = {
                kind: replace(record, status=Status.STALE, artifact="", error="")
                for kind, record in later.items()
                if kind not in views
            }
            records.update(published.views if published else {})
            made, bases, derived = self._make_all(snapshot, views, published, rebuild=rebuild)
            manifest = self._publish(snapshot, records, made)
            self._use(snapshot, head)
            self.store.sweep(slow=SLOW_VIEWS)
        return outcome_of(manifest, snapshot, made, bases, derived, started)

    def _publish_slow(
        self,
        snapshot: SourceSnapshot,
        views: Sequence[ViewKind],
        before: Outcome | None,
        *,
        head: Literal[False] | tuple[str | None, str],
        rebuild: bool,
        later: Mapping[ViewKind, ViewRecord],
    ) -> Outcome:
        """Make views beside other writers, who wait only while the result is published.

        `head` has what the worktree's head may be for this snapshot to become it: whoever went on meanwhile
        is not set back.
        """
        started = time.perf_counter()
        with self.store.building():
            if not rebuild and (manifest := self.current(snapshot, views)) is not None:
                self._use(snapshot, head=False)
                return Outcome(manifest, snapshot, seconds=time.perf_counter() - started)
            published = None if rebuild else self.store.manifest(snapshot.id)
            made, bases, derived = self._make_all(snapshot, views, published, rebuild=rebuild)
            with self.store.writing():
                self.store.describe(self.repository.common_dir or self.repository.root)
                known = None if rebuild and before is None else self.store.manifest(snapshot.id)
                records = dict(known.views if known else before.manifest.views if before else {})
                for kind, record in () if known else later.items():
                    records.setdefault(kind, replace(record, status=Status.STALE, artifact="", error=""))
                manifest = self._publish(snapshot, {**records}, made)
                if head and self.store.head(self.repository.worktree_key) in head:
                    self._use(snapshot, head=True)
                self.store.sweep(slow=SLOW_VIEWS)
        return outcome_of(manifest, snapshot, made, bases, derived, started)

    def _make_all(
        self,
        snapshot: SourceSnapshot,
        views: Sequence[ViewKind],
        published: RepoManifest | None,
        *,
        rebuild: bool,
    ) -> tuple[dict[ViewKind, Made], Bases, int]:
        """The views that are not published for this snapshot yet, not published; and from what."""
        manifests = [] if rebuild else by_nearness(self.store, self.repository.worktree_key)
        bases = Bases(self.store, manifests, self._fresh, snapshot)
        with (
            closing(self.store.open_cache()) as cache,
            closing(self._records(cache, views, anew=rebuild)) as source,
        ):
            made = {
                kind: self._make(kind, snapshot, bases, source)
                for kind in views
                if published is None or self._fresh(published, kind) is None
            }
        return made, bases, source.derived

    def _publish(
        self,
        snapshot: SourceSnapshot,
        records: Mapping[ViewKind, ViewRecord],
        made: Mapping[ViewKind, Made],
    ) -> RepoManifest:
        """Give the new folders their names, and publish them with what else there is of the snapshot."""
        there = {
            kind: record
            for kind, record in records.items()
            if record.status is not Status.FRESH or self.store.artifact(record.artifact).is_dir()
        }
        manifest = RepoManifest(
            MANIFEST_SCHEMA,
            snapshot.id,
            snapshot.tree,
            snapshot.commit,
            snapshot.dirty,
            len(snapshot.files),
            dict(snapshot.skipped),
            {**there, **{kind: self._adopt(each, snapshot) for kind, each in made.items()}},
        )
        self.store.publish(manifest, snapshot.files)
        return manifest

    def _adopt(self, made: Made, snapshot: SourceSnapshot) -> ViewRecord:
        """The record of a view whose folder is now an artifact; of a failed one when that fails."""
        record = made.record
        if record.how == "reused" and not self.store.artifact(record.artifact).is_dir():
            return replace(record, status=Status.STALE, artifact="", how="")  # swept meanwhile
        if made.folder is None:
            return record
        try:
            size = sum(part.stat().st_size for part in made.folder.iterdir())
            name = self.store.adopt(made.folder, record.kind, snapshot.tree)
        except OSError as error:
            shutil.rmtree(made.folder, ignore_errors=True)
            return replace(record, status=Status.FAILED, how="", error=f"{type(error).__name__}: {error}")
        return replace(record, artifact=name, size_bytes=size)

    def _make(self, kind: ViewKind, snapshot: SourceSnapshot, bases: Bases, records: CachedRecords) -> Made:
        """One view: reused, maintained, built, or failed."""
        started = time.perf_counter()
        profile = self.views[kind].profile()
        base = bases.nearest(kind)
        if base is not None and base.same:
            old = base.record
            return Made(ViewRecord(
                kind, profile.digest, snapshot.id, Status.FRESH, old.artifact, "reused", dict(profile.fields),
                old.capabilities, old.counts, time.perf_counter() - started, old.size_bytes, old.error,
            ))  # fmt: skip
        out = self.store.new_artifact()
        try:
            builder = self.views[kind].builder()
            known, profile = profile, builder.profile()  # opens an embedder, before any work
            base = base if profile == known else None
            facts, how = self._write(builder, snapshot, base, records, out)
        except Exception as error:  # noqa: BLE001 - a failed view, however it failed, leaves its siblings
            shutil.rmtree(out, ignore_errors=True)
            return Made(ViewRecord(
                kind, profile.digest, snapshot.id, Status.FAILED, fields=dict(profile.fields),
                seconds=time.perf_counter() - started, error=f"{type(error).__name__}: {error}",
            ))  # fmt: skip
        record = ViewRecord(
            kind, profile.digest, snapshot.id, Status.FRESH, "", how, dict(profile.fields),
            facts.capabilities, facts.counts, time.perf_counter() - started, 0, facts.lacks,
        )  # fmt: skip
        return Made(record, out)

    def _write(
        self,
        builder: ViewMaintainer,
        snapshot: SourceSnapshot,
        base: Base | None,
        records: CachedRecords,
        out: Path,
    ) -> tuple[ViewFacts, str]:
        if base is not None:
            try:
                if VIEWS[builder.kind].reads_records:
                    records.prepare([*base.delta.added, *base.delta.changed])
                self.progress(f"maintaining {builder.kind}", 0, 1)
                folder = self.store.artifact(base.record.artifact)
                return builder.maintain(folder, base.delta, records, out), "maintained"
            except (CodenibError, OSError, ValueError, LookupError):
                # The maintainer declines, or the base is gone or damaged: rebuild this view alone.
                shutil.rmtree(out)
                out.mkdir()
        if VIEWS[builder.kind].reads_records:
            records.prepare(snapshot.source_files())
        self.progress(f"building {builder.kind}", 0, 1)
        return builder.build(snapshot, records, out), "built"

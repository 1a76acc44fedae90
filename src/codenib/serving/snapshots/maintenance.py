"""Views to build, update, verify or audit in, outcomes and reports out."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from codenib.compiler.compiler import IndexCompiler
from codenib.compiler.registry import SLOW_VIEWS, TEXT_VIEWS
from codenib.core.answers import SnapshotRef
from codenib.core.errors import InputError, StateError
from codenib.core.requests import IndexRequest
from codenib.core.updates import Outcome, RecentUpdate
from codenib.core.views import RepoManifest, Status, ViewKind
from codenib.manifest.files import reports_faults
from codenib.manifest.learned import drop_learned, write_learned
from codenib.manifest.trust import grant, revoke
from codenib.serving.snapshots.pool import SnapshotPool

if TYPE_CHECKING:
    from codenib.core.updates import GraphUpdate
    from codenib.views.graph.maintenance.audit import GroupAudit


@dataclass(frozen=True, slots=True)
class AuditReport:
    """Which files an audit of the graph compared. `repaired`: some differed, so the graph was built again."""

    snapshot: SnapshotRef
    groups: tuple[GroupAudit, ...]
    repaired: bool
    seconds: float

    @property
    def clean(self) -> bool:
        return not any(group.differing for group in self.groups)


class Maintenance:
    """Builds and maintains the views of one repository."""

    def __init__(self, compiler: IndexCompiler, snapshots: SnapshotPool) -> None:
        self._compiler = compiler
        self.snapshots = snapshots

    def index(self, request: IndexRequest) -> Outcome:
        """Build or maintain views; a choice that cannot be met fails before any work.

        With a graph come the text views: a question by name looks its name up there and must not wait.
        """
        if ViewKind.GRAPH in request.views and not request.rebuild:
            request = replace(request, views=tuple(dict.fromkeys((*TEXT_VIEWS, *request.views))))
        if request.trust is not None:
            self._trust(trusted=request.trust)
        choice = (request.embedder, request.family, request.documents)
        if ViewKind.DENSE in request.views:
            with self._compiler.dense.asked(*choice):
                return self._publish(request)
        if any(choice):
            raise InputError("an embedder is for the dense view", hint="codenib index --views dense")
        return self._publish(request)

    def _trust(self, *, trusted: bool) -> None:
        """Remember whether engines may run programs of this repository."""
        compiler = self._compiler
        if trusted:
            grant(compiler.store.folder, compiler.repository)
        else:
            revoke(compiler.store.folder)

    def published(self) -> RepoManifest | None:
        """What was last published for this worktree; None when it was never indexed."""
        head = self._compiler.store.head(self._compiler.repository.worktree_key)
        return self._compiler.store.manifest(head) if head else None

    def is_current(self, views: Sequence[ViewKind] = TEXT_VIEWS) -> bool:
        """Whether these views are published for the files as they are now."""
        return self._compiler.current(self._compiler.take(), views) is not None

    def import_scip(self, file: str | Path) -> Outcome:
        """Take the facts of the files as they are now from a SCIP index that was built elsewhere."""
        snapshot = self._compiler.take()
        self._compiler.graph.import_scip(Path(file), snapshot)
        return self._publish(IndexRequest((ViewKind.GRAPH,)))

    def update(self, *, wait: bool = True) -> Outcome:
        """Bring the views that this worktree has up to now, the text views first; default views if none.

        Without `wait`, slow views are left as stale for another update.
        """
        views = self.snapshots.views_of_head()
        later: tuple[ViewKind, ...] = ()
        if not wait:
            later = tuple(kind for kind in views if kind in SLOW_VIEWS)
            views = tuple(kind for kind in views if kind not in SLOW_VIEWS)
        self.snapshots.await_maintainer(views)
        return self._publish(IndexRequest(views), later)

    def catch_up(self) -> Outcome:
        """Bring up the views that answers do not wait for, but for those of engines and of named models."""
        views = self.snapshots.views_of_head()
        return self._publish(
            IndexRequest(tuple(kind for kind in views if self.snapshots.comes_unasked(kind)))
        )

    def is_behind(self) -> bool:
        """Whether some of these views are still of an earlier snapshot than the text views."""
        manifest = self.published()
        views = manifest.views.items() if manifest else ()
        return any(
            record.status is Status.STALE and self.snapshots.comes_unasked(kind) for kind, record in views
        )

    def catching_up(self) -> AbstractContextManager[None]:
        """Be the one background process of this worktree. An error when there is one."""
        return self._compiler.store.catching_up(self._compiler.repository.worktree_key)

    @contextmanager
    def maintaining(self) -> Iterator[None]:
        """Be the one that maintains the slow views: others wait for them. An error when somebody is."""
        with self._compiler.store.keeping(self._compiler.repository.worktree_key):
            self.snapshots.is_maintainer = True
            try:
                yield
            finally:
                self.snapshots.is_maintainer = False

    def graph_update(self, outcome: Outcome) -> GraphUpdate | None:
        """What the update that led to a graph did and why; None when it was built from nothing."""
        from codenib.views.graph.maintenance.update import read_update

        record = outcome.manifest.views.get(ViewKind.GRAPH)
        if record is None or not record.artifact:
            return None
        return read_update(self._compiler.store.whole_artifact(record.artifact))

    def recent_updates(self, k: int) -> list[RecentUpdate]:
        """The snapshots that are published, the last used first, with what led to each."""
        from codenib.views.graph.maintenance.update import read_update

        store, updates = self._compiler.store, []
        for manifest in store.manifests()[:k]:
            record = manifest.views.get(ViewKind.GRAPH)
            done = None
            if record is not None and record.artifact and record.status is Status.FRESH:
                with suppress(StateError):  # damaged or swept: there is nothing to tell
                    done = read_update(store.whole_artifact(record.artifact))
            # An artifact that later snapshots reuse tells of the update that made it.
            told = done if done is not None and done.target == manifest.snapshot else None
            updates.append(RecentUpdate(manifest, store.used_at(manifest.snapshot), told))
        return updates

    def published_count(self) -> int:
        """How many snapshots are published."""
        return len(self._compiler.store.manifests())

    def verify(self, views: Sequence[ViewKind] = (), *, at: str | None = None) -> dict[ViewKind, list[str]]:
        """Rebuild beside the maintained views (all by default); the differences by view, empty when equal."""
        return self._compiler.verify(self._compiler.take(at), views or self.snapshots.views_of_head())

    @reports_faults
    def store_learned(self, data: bytes) -> str:
        """Store what was learnt of this repository; its name."""
        with self._compiler.store.not_collecting():
            return write_learned(self._compiler.store, data).stem

    @reports_faults
    def forget_learned(self) -> int:
        """Forget all that was learnt of this repository; how many files went."""
        with self._compiler.store.not_collecting():
            return drop_learned(self._compiler.store)

    def snapshot_of(self, at: str | None = None) -> SnapshotRef:
        """The snapshot of a revision, or of the worktree as it is now."""
        taken = self._compiler.take(at)
        return SnapshotRef(taken.id, taken.commit, taken.dirty)

    def audit(self, *, sample: int = 24, seed: int | None = None, repair: bool = True) -> AuditReport:
        """Ask new engines for `sample` files of each group of the graph; built again where one differs."""
        started = time.perf_counter()
        snapshot = self._compiler.take()
        chosen = int(time.time()) if seed is None else seed
        groups = tuple(self._compiler.audit(snapshot, sample=sample, seed=chosen))
        repaired = repair and any(group.differing for group in groups)
        if repaired:
            self._compiler.renew(snapshot, ViewKind.GRAPH)
        ref = SnapshotRef(snapshot.id, snapshot.commit, snapshot.dirty)
        return AuditReport(ref, groups, repaired, time.perf_counter() - started)

    def warm(self) -> None:
        """Start the engines of a fresh graph, so that the next edit finds them up."""
        snapshot = self._compiler.take()
        manifest = self._compiler.current(snapshot, [ViewKind.GRAPH])
        if manifest is not None:
            artifact = self._compiler.store.whole_artifact(manifest.views[ViewKind.GRAPH].artifact)
            self._compiler.graph.warm(snapshot, artifact)

    @reports_faults
    def _publish(self, request: IndexRequest, waiting: Sequence[ViewKind] = ()) -> Outcome:
        """Publish what is asked for; the views in `waiting` are recorded as to come."""
        self.snapshots.look_again()
        views, at = request.views, request.at
        later = {} if request.rebuild or at is not None else self.snapshots.left_for_later(views)
        # `gc` must not drop what `take` stored before it is published.
        with self._compiler.store.not_collecting():
            snapshot = self._compiler.take(at)
            later |= self._compiler.waiting_records(snapshot, waiting)
            return self._compiler.ensure(
                snapshot, views, head=at is None, rebuild=request.rebuild, later=later
            )

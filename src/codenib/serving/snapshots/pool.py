"""A question's view and revision in, the opened views of one snapshot out: fresh, recent or published."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from codenib.compiler.compiler import IndexCompiler
from codenib.compiler.outcome import Outcome
from codenib.compiler.registry import DEFAULT_VIEWS, SLOW_VIEWS, VIEWS
from codenib.core.errors import StateError
from codenib.core.source import SourceSnapshot
from codenib.core.views import MANIFEST_SCHEMA, RepoManifest, Status, ViewKind, ViewRecord
from codenib.serving.snapshots.status import describe_refresh

if TYPE_CHECKING:  # numpy comes with the first query, not with `import codenib`
    from codenib.serving.snapshots.pinned import Pinned

Refresh = Literal["auto", "never"]
# Between two looks at the files a query costs no git call. A look is worth at most a tenth of the time, and
# there is one at least every second: a saved file is visible within a second, on small repositories sooner.
_RECHECK_SHARE = 10.0
_RECHECK_S = 1.0
# Where file events say that nothing changed, a look now and then finds what they may miss: writes through a
# memory map, files on another machine, ignore rules outside the repository.
_RECHECK_WATCHED_S = 5.0
# Only a question for slow views waits for them. The history is not among them: edits leave it as it is, and a
# commit costs 0.15 s (Django). At a revision it may have to read thousands of older commits.
_SLOW_AT_A_REVISION = tuple(kind for kind, view in VIEWS.items() if view.slow or view.follows_commits)
# How long a question that needs a slow view waits for the process that keeps it, before it makes its own.
_PATIENCE_S = 100.0
_POLL_S = 0.02
_REVISIONS = 4  # opened at once; the oldest goes


@dataclass(frozen=True, slots=True)
class _Look:
    """When files were looked at, and the snapshot that they were."""

    began: float
    ended: float
    pinned: Pinned


class Pins:
    """The snapshots of one repository that are open."""

    def __init__(self, compiler: IndexCompiler) -> None:
        self._compiler = compiler
        self._store = compiler.store
        self._worktree = compiler.repository.worktree_key
        self._pinned: dict[tuple[str, bool], Pinned] = {}  # by snapshot and whether it may be stale
        self._recent: dict[str | None, _Look] = {}  # by revision
        self.keeps = False  # whether this is of the process that keeps the slow views
        #: Whether no file changed since a moment; None when nobody knows. A server's file events say it.
        self.unchanged_since: Callable[[float], bool | None] = lambda _: None

    def clear(self) -> None:
        """Let go of all."""
        self._pinned.clear()
        self._recent.clear()

    def look_again(self) -> None:
        """Trust no recent look at the files."""
        self._recent.clear()

    def pin(self, kind: ViewKind | None, at: str | None, refresh: Refresh) -> tuple[Pinned, str]:
        """The opened views of the snapshot to answer for; `kind` must be among them."""
        if refresh == "never" and at is None:
            return self._pin_published(kind), ""
        recent = self._recently(at)
        if recent is not None and (kind is None or kind in recent.manifest.views):
            with suppress(StateError):  # stale, or not opened before and swept since: look again
                recent.hold(kind)
                return recent, ""
        with self._store.not_collecting():  # `gc` must not drop what `take` stored before it is published
            pinned, outcome = self._pin_current(kind, at)
        return pinned, describe_refresh(outcome)

    def kept_elsewhere(self) -> bool:
        """Whether another process keeps the slow views of this worktree, with engines that are up."""
        return not self.keeps and self._store.has_keeper(self._worktree)

    def await_kept(self, views: Sequence[ViewKind]) -> None:
        """Give the process that keeps the slow ones of these time to bring them to the files as they are."""
        slow = [kind for kind in views if kind in SLOW_VIEWS]
        if slow and self.kept_elsewhere():
            snapshot = self._compiler.take()
            for kind in slow:
                self._awaited(snapshot, kind, _PATIENCE_S)

    def pin_ready(self, kind: ViewKind, at: str | None, patience_s: float = 0.0) -> Pinned:
        """The snapshot as it is now, without making any view: `kind` is open only if it is fresh.

        Where another process keeps it, it has `patience_s` to become so.
        """
        patience_s = patience_s if self.kept_elsewhere() else 0.0
        recent = self._recently(at)
        if recent is not None and (ready := self._ready(recent, kind)) is not None:
            return ready
        if recent is not None and not patience_s:
            return self._without_views(recent) if recent.manifest.views.get(kind) else recent
        started = time.monotonic()
        snapshot = self._compiler.take(at)
        looked = time.monotonic()
        manifest = self._awaited(snapshot, kind, patience_s)
        if manifest is not None:
            with suppress(StateError):  # swept meanwhile
                pinned = self._open(manifest, kind, stale=False)
                self._recent[at] = _Look(started, looked, pinned)
                return pinned
        key = (snapshot.id, False)
        if key not in self._pinned:
            self._remember(key, self._loose(snapshot))
        self._recent[at] = _Look(started, looked, self._pinned[key])
        return self._pinned[key]

    def _ready(self, pinned: Pinned, kind: ViewKind) -> Pinned | None:
        """The snapshot with `kind` open, also where that was published since; None when it is not fresh."""
        manifest = pinned.manifest
        for known in (manifest, self._store.manifest(manifest.snapshot)):
            record = known.views.get(kind) if known is not None else None
            if known is not None and record is not None and record.status is Status.FRESH:
                with suppress(StateError):  # swept meanwhile
                    return self._open(known, kind, stale=False)
        return None

    def _awaited(self, snapshot: SourceSnapshot, kind: ViewKind, patience_s: float) -> RepoManifest | None:
        """The manifest with a fresh `kind`, waiting for who keeps it; None when it failed or takes longer."""
        deadline = time.monotonic() + patience_s
        while (manifest := self._compiler.current(snapshot, [kind])) is None:
            known = self._store.manifest(snapshot.id)
            record = known.views.get(kind) if known else None
            failed = record is not None and record.status is Status.FAILED
            if failed or time.monotonic() >= deadline or not self.kept_elsewhere():
                return None
            time.sleep(_POLL_S)
        return manifest

    def _recently(self, at: str | None) -> Pinned | None:
        """What the last look found, when it still holds."""
        look = self._recent.get(at)
        if look is None:
            return None
        now = time.monotonic()
        known = self.unchanged_since(look.began) if at is None else None
        if known is None:
            good_s = min(_RECHECK_SHARE * (look.ended - look.began), _RECHECK_S)
            return look.pinned if now < look.ended + good_s else None
        return look.pinned if known and now < look.ended + _RECHECK_WATCHED_S else None

    def _loose(self, snapshot: SourceSnapshot) -> Pinned:
        """A snapshot without views."""
        from codenib.serving.snapshots.pinned import Pinned

        manifest = RepoManifest(
            MANIFEST_SCHEMA, snapshot.id, snapshot.tree, snapshot.commit, snapshot.dirty, len(snapshot.files),
            dict(snapshot.skipped), {},
        )  # fmt: skip
        return Pinned(self._store, manifest, self._compiler.source, stale=False, files=snapshot.files)

    def _without_views(self, pinned: Pinned) -> Pinned:
        from codenib.serving.snapshots.pinned import Pinned

        manifest = replace(pinned.manifest, views={})
        return Pinned(self._store, manifest, self._compiler.source, stale=False, files=pinned.files)

    def of_snapshot(self, snapshot: str) -> Pinned:
        """The opened views of a snapshot that answered before."""
        pinned = self._pinned.get((snapshot, False)) or self._pinned.get((snapshot, True))
        if pinned is not None:
            return pinned
        manifest = self._store.manifest(snapshot)
        if manifest is None:
            raise StateError(f"snapshot {snapshot} is no longer published", hint="codenib update")
        return self._open(manifest, None, stale=False)

    def views_of_head(self) -> tuple[ViewKind, ...]:
        """The views that this worktree has; the default ones when it has none."""
        # Zoekt's shards are rebuilt whole, so only a question for them pays for them.
        return tuple(kind for kind in self._records_of_head() if kind is not ViewKind.ZOEKT) or DEFAULT_VIEWS

    def left_for_later(self, views: Sequence[ViewKind]) -> dict[ViewKind, ViewRecord]:
        """The slow views of this worktree that are not among `views`: kept in mind, not brought up."""
        with suppress(StateError):  # an unreadable manifest is in nobody's way
            records = self._records_of_head()
            return {kind: records[kind] for kind in SLOW_VIEWS if kind in records and kind not in views}
        return {}

    def _pin_current(self, kind: ViewKind | None, at: str | None) -> tuple[Pinned, Outcome]:
        started = time.monotonic()
        snapshot = self._compiler.take(at)
        looked = time.monotonic()
        slow = SLOW_VIEWS if at is None else _SLOW_AT_A_REVISION
        views = tuple(each for each in self.views_of_head() if each not in slow or each is kind)
        if kind is not None and kind not in views:
            views = (*views, kind)
        later = self.left_for_later(views) if at is None else {}
        if kind in SLOW_VIEWS and at is None and self.kept_elsewhere() and kind in self._records_of_head():
            self._awaited(snapshot, kind, _PATIENCE_S)
        while True:
            outcome = self._compiler.ensure(snapshot, views, head=at is None, retry=False, later=later)
            try:
                pinned = self._open(outcome.manifest, kind, stale=False)
            except StateError:
                if self._store.manifest(snapshot.id) == outcome.manifest:
                    raise  # damaged; otherwise another writer swept it before it was open
                continue
            self._recent[at] = _Look(started, looked, pinned)
            return pinned, outcome

    def _pin_published(self, kind: ViewKind | None) -> Pinned:
        while True:
            head = self._store.head(self._worktree)
            manifest = self._store.manifest(head) if head else None
            try:
                if manifest is None:
                    root = self._compiler.repository.root
                    raise StateError(f"{root} was never indexed", hint="codenib index")
                return self._open(manifest, kind, stale=True)
            except StateError:
                if self._store.head(self._worktree) == head and (
                    head is None or self._store.manifest(head) == manifest
                ):
                    raise  # otherwise a writer moved on before it was open: take the newest

    def _open(self, manifest: RepoManifest, kind: ViewKind | None, *, stale: bool) -> Pinned:
        """The views of a manifest, with `kind` open, so that later sweeps cannot reach the answer."""
        from codenib.serving.snapshots.pinned import Pinned

        key = (manifest.snapshot, stale)
        pinned = self._pinned.get(key)
        if pinned is None or pinned.manifest != manifest:
            pinned = Pinned(self._store, manifest, self._compiler.source, stale=stale)
        pinned.hold(kind)
        self._remember(key, pinned)
        return pinned

    def _remember(self, key: tuple[str, bool], pinned: Pinned) -> None:
        while key not in self._pinned and len(self._pinned) >= _REVISIONS:
            self._pinned.pop(next(iter(self._pinned)))
        self._pinned[key] = pinned

    def _records_of_head(self) -> Mapping[ViewKind, ViewRecord]:
        head = self._store.head(self._worktree)
        manifest = self._store.manifest(head) if head else None
        return manifest.views if manifest else {}

"""A question's view and revision in, the opened views of one snapshot out: fresh, recent or published."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from contextvars import ContextVar
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from codenib.compiler.compiler import IndexCompiler
from codenib.compiler.registry import SLOW_VIEWS
from codenib.core.errors import CodenibError, StateError, StoreFault, fault_of
from codenib.core.requests import SnapshotRequest
from codenib.core.source import SourceSnapshot
from codenib.core.updates import Outcome
from codenib.core.views import MANIFEST_SCHEMA, RepoManifest, Status, ViewKind, ViewRecord
from codenib.serving.configuration import configured_views
from codenib.serving.snapshots import background
from codenib.serving.snapshots.opened import FileLook, OpenSnapshots
from codenib.serving.snapshots.status import describe_refresh

if TYPE_CHECKING:  # numpy comes with the first query, not with `import codenib`
    from codenib.serving.snapshots.pinned import PinnedSnapshot

# Between two looks at the files a query costs no git call. A look is worth at most a tenth of the time, and
# there is one at least every second: a saved file is visible within a second, on small repositories sooner.
_RECHECK_SHARE = 10.0
_RECHECK_S = 1.0
# Where file events say that nothing changed, a look now and then finds what they may miss: writes through a
# memory map, files on another machine, ignore rules outside the repository.
_RECHECK_WATCHED_S = 5.0
# A question that can use a slow view waits for it so long at most, all of them together; one that needs it
# waits for as long as it takes. A few edited files or commits take milliseconds, a small repository a second.
_QUICK_S = 1.5
# How long a question that needs a slow view waits for the process that maintains it, before building it here.
_PATIENCE_S = 100.0
_POLL_S = 0.02
_REVISIONS = 4  # opened at once; the oldest goes


#: When the question that this thread answers was asked (monotonic), where a server knows that. A look at the
#: files that began later serves it, though files changed since: under steady edits every question that waited
#: would otherwise take the newest one in, and all others wait for it.
ASKED: ContextVar[float | None] = ContextVar("asked", default=None)


class Snapshots(Protocol):
    """Where answers get the opened views of a snapshot: of the worktree and revisions, or of one manifest."""

    def pin(
        self, kind: ViewKind | None, request: SnapshotRequest, also: Sequence[ViewKind] = ()
    ) -> tuple[PinnedSnapshot, str]:
        """The snapshot to answer for, with the view `kind` open; and one line on what was done for that.

        Views in `also` are brought up too where that is quick; the snapshot's manifest says which were.
        """
        ...

    def pin_ready(self, kind: ViewKind, at: str | None, patience_s: float = 0.0) -> PinnedSnapshot:
        """The snapshot as it is now, without making any view: `kind` is open only if it is fresh.

        Where another process maintains it, that has `patience_s` to bring it up.
        """
        ...

    def pin_last(self, kind: ViewKind) -> PinnedSnapshot | None:
        """The snapshot of the last view `kind` of this worktree, with that open; None when it has none."""
        ...

    def of_snapshot(self, snapshot: str) -> PinnedSnapshot:
        """The opened views of a snapshot that answered before."""
        ...

    def views_of_head(self) -> tuple[ViewKind, ...]:
        """The views that this worktree has; the default ones when it has none."""
        ...

    def views_for_words(self) -> tuple[ViewKind, ...]:
        """The views that a question in words is answered with: also those that the first one builds."""
        ...

    def close(self) -> None:
        """Let go of all, and answer no further question."""
        ...

    def check_open(self) -> None:
        """Raise when it was closed."""
        ...


class SnapshotPool:
    """The open snapshots of one repository: its worktree as it is now, and the revisions asked for last."""

    def __init__(self, compiler: IndexCompiler) -> None:
        self._compiler = compiler
        self._store = compiler.store
        self._worktree = compiler.repository.worktree_key
        self.opened = OpenSnapshots()
        self._closed = False
        self.is_maintainer = False  # whether this process is the one that maintains the slow views
        #: Whether no file changed since a moment; None when nobody knows. A server's file events say it.
        self.unchanged_since: Callable[[float], bool | None] = lambda _: None
        self.quick_s = _QUICK_S
        #: The views that may answer who asks now; None for all. A server says it for each call.
        self.views_allowed: frozenset[ViewKind] | None = None
        #: Brings up, beside this process, what questions do not wait for; a server has its own way.
        self.catch_up_beside: Callable[[], None] = self._start_background

    def close(self) -> None:
        """See `Snapshots.close`. What answered before can still be read."""
        self._closed = True
        self.opened.pinned.clear()
        self.opened.looks.clear()

    def check_open(self) -> None:
        """See `Snapshots.check_open`."""
        if self._closed:
            raise StateError("this workspace is closed", hint="codenib.open(path)")

    def look_again(self) -> None:
        """Trust no recent look at the files."""
        self.opened.looks.clear()

    def pin(
        self, kind: ViewKind | None, request: SnapshotRequest, also: Sequence[ViewKind] = ()
    ) -> tuple[PinnedSnapshot, str]:
        """See `Snapshots.pin`."""
        self.check_open()
        allowed = self.views_allowed
        if allowed is None:
            return self._pin(kind, request, also)
        if kind is not None and kind not in allowed:
            raise StateError(f"this token is not for the {kind} view", hint="codenib token create --view")
        pinned, refreshed = self._pin(kind, request, [each for each in also if each in allowed])
        return pinned.limited(allowed), refreshed

    def _pin(
        self, kind: ViewKind | None, request: SnapshotRequest, also: Sequence[ViewKind]
    ) -> tuple[PinnedSnapshot, str]:
        at = request.at
        if request.refresh == "never" and at is None:
            published = self._pin_published(kind)
            published.pin_helpful(also)
            return published, ""
        asked = ASKED.get() or time.monotonic()
        if (recent := self._pin_recent(kind, at, also, asked)) is not None:
            return recent, ""
        # Who needs a slow view may wait for minutes, and is not waited for.
        alone = nullcontext() if kind in SLOW_VIEWS else self.opened.refreshing
        with alone:
            if (recent := self._pin_recent(kind, at, also, asked)) is not None:
                return recent, ""
            try:
                with self._store.not_collecting():  # `gc` must not drop what `take` stored, yet unpublished
                    pinned, outcome = self._pin_current(kind, at, also, asked)
            except (StoreFault, OSError) as error:
                fault = fault_of(error) if isinstance(error, OSError) else error
                return self._pin_despite(fault, kind, at, also)
        return pinned, describe_refresh(outcome)

    def _pin_recent(
        self, kind: ViewKind | None, at: str | None, also: Sequence[ViewKind], asked: float
    ) -> PinnedSnapshot | None:
        """The snapshot of a recent look at the files, with `kind` open; None when there is none."""
        recent = self._recently(at, asked)
        if recent is not None and (kind is None or kind in recent.manifest.views):
            with suppress(StateError):  # stale, or not opened before and swept since: look again
                recent.pin(kind)
                return self._renewed(recent, at, also)
        return None

    def _pin_despite(
        self, fault: StoreFault, kind: ViewKind | None, at: str | None, also: Sequence[ViewKind]
    ) -> tuple[PinnedSnapshot, str]:
        """What was last published, where the store cannot be brought up; the fault when that is nothing."""
        if at is not None:
            raise fault
        try:
            published = self._pin_published(kind)
        except (StateError, OSError):
            raise fault from None
        published.pin_helpful(also)
        return published, f"the store cannot be written, so files may have changed since: {fault.message}"

    def maintained_elsewhere(self) -> bool:
        """Whether another process maintains the slow views of this worktree, with engines that are up."""
        return not self.is_maintainer and self._store.has_keeper(self._worktree)

    def await_maintainer(self, views: Sequence[ViewKind]) -> None:
        """Give the process that maintains the slow views time to bring these up to the files as they are."""
        slow = [kind for kind in views if kind in SLOW_VIEWS]
        if slow and self.maintained_elsewhere():
            snapshot = self._compiler.take()
            for kind in slow:
                self._awaited(snapshot, kind, _PATIENCE_S)

    def pin_ready(self, kind: ViewKind, at: str | None, patience_s: float = 0.0) -> PinnedSnapshot:
        """See `Snapshots.pin_ready`."""
        self.check_open()
        pinned = self._pin_ready(kind, at, patience_s)
        return pinned if self.views_allowed is None else pinned.limited(self.views_allowed)

    def _pin_ready(self, kind: ViewKind, at: str | None, patience_s: float) -> PinnedSnapshot:
        patience_s = patience_s if self.maintained_elsewhere() else 0.0
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
                self.opened.look(at, FileLook(started, looked, pinned))
                return pinned
        key = (snapshot.id, False)
        if (known := self.opened.pinned.get(key)) is None:
            known = self._loose(snapshot)
            self._remember(key, known)
        self.opened.look(at, FileLook(started, looked, known, snapshot))
        return known

    def pin_last(self, kind: ViewKind) -> PinnedSnapshot | None:
        """See `Snapshots.pin_last`."""
        self.check_open()
        if self.views_allowed is not None and kind not in self.views_allowed:
            return None
        record = self._records_of_head().get(kind)
        manifest = self._store.manifest(record.snapshot) if record is not None else None
        if manifest is None:
            return None
        with suppress(StateError):  # failed, or swept meanwhile
            known = manifest.views.get(kind)
            if known is not None and known.status is Status.STALE and known.artifact:
                return self._open_early(manifest, known)
            return self._open(manifest, kind, stale=False)
        return None

    def _open_early(self, manifest: RepoManifest, record: ViewRecord) -> PinnedSnapshot:
        """A snapshot with a view of which some was published before the whole; for who asks for the last
        alone, and says what that lacks."""
        from codenib.serving.snapshots.pinned import PinnedSnapshot

        views = {**manifest.views, record.kind: replace(record, status=Status.FRESH)}
        early = replace(manifest, views=views)
        pinned = PinnedSnapshot(self._store, early, self._compiler.source, stale=False)
        pinned.pin(record.kind)
        return pinned

    def _ready(self, pinned: PinnedSnapshot, kind: ViewKind) -> PinnedSnapshot | None:
        """The snapshot with `kind` open, also where that was published since; None when it is not fresh."""
        manifest = pinned.manifest
        for known in (manifest, self._store.manifest(manifest.snapshot)):
            record = known.views.get(kind) if known is not None else None
            if known is not None and record is not None and record.status is Status.FRESH:
                with suppress(StateError):  # swept meanwhile
                    return self._open(known, kind, stale=False)
        return None

    def _awaited(self, snapshot: SourceSnapshot, kind: ViewKind, patience_s: float) -> RepoManifest | None:
        """The manifest with a fresh `kind`, after waiting for its maintainer; None when that fails."""
        deadline = time.monotonic() + patience_s
        while (manifest := self._compiler.current(snapshot, [kind])) is None:
            known = self._store.manifest(snapshot.id)
            record = known.views.get(kind) if known else None
            failed = record is not None and record.status is Status.FAILED
            if failed or time.monotonic() >= deadline or not self.maintained_elsewhere():
                return None
            time.sleep(_POLL_S)
        return manifest

    def _recently(self, at: str | None, asked: float | None = None) -> PinnedSnapshot | None:
        """The snapshot of the last look at the files, when that is still recent enough."""
        look = self._recent_look(at, asked)
        return look.pinned if look is not None else None

    def _recent_look(self, at: str | None, asked: float | None = None) -> FileLook | None:
        look = self.opened.looks.get(at)
        if look is None:
            return None
        now = time.monotonic()
        if look.began >= (asked or ASKED.get() or now):
            return look
        known = self.unchanged_since(look.began) if at is None else None
        if known is None:
            good_s = min(_RECHECK_SHARE * (look.ended - look.began), _RECHECK_S)
            return look if now < look.ended + good_s else None
        return look if known and now < look.ended + _RECHECK_WATCHED_S else None

    def _loose(self, snapshot: SourceSnapshot) -> PinnedSnapshot:
        """A snapshot without views."""
        from codenib.serving.snapshots.pinned import PinnedSnapshot

        manifest = RepoManifest(
            schema=MANIFEST_SCHEMA,
            snapshot=snapshot.id,
            tree=snapshot.tree,
            commit=snapshot.commit,
            dirty=snapshot.dirty,
            files=len(snapshot.files),
            skipped=dict(snapshot.skipped),
            views={},
            settings=snapshot.settings,
        )
        return PinnedSnapshot(self._store, manifest, self._compiler.source, stale=False, files=snapshot.files)

    def _without_views(self, pinned: PinnedSnapshot) -> PinnedSnapshot:
        from codenib.serving.snapshots.pinned import PinnedSnapshot

        manifest = replace(pinned.manifest, views={})
        return PinnedSnapshot(self._store, manifest, self._compiler.source, stale=False, files=pinned.files)

    def of_snapshot(self, snapshot: str) -> PinnedSnapshot:
        """The opened views of a snapshot that answered before."""
        pinned = self._of_snapshot(snapshot)
        return pinned if self.views_allowed is None else pinned.limited(self.views_allowed)

    def _of_snapshot(self, snapshot: str) -> PinnedSnapshot:
        pinned = self.opened.pinned.get((snapshot, False)) or self.opened.pinned.get((snapshot, True))
        if pinned is not None:
            return pinned
        manifest = self._store.manifest(snapshot)
        if manifest is None:
            raise StateError(f"snapshot {snapshot} is no longer published", hint="codenib update")
        return self._open(manifest, None, stale=False)

    def views_of_head(self) -> tuple[ViewKind, ...]:
        """The views that this worktree has; the default ones when it has none."""
        views = tuple(self._records_of_head()) or self._store.views_before(self._worktree)
        # Zoekt's shards are rebuilt whole, so only a question for them pays for them.
        return tuple(kind for kind in views if kind is not ViewKind.ZOEKT) or self.default_views()

    def views_for_words(self) -> tuple[ViewKind, ...]:
        """The views that a question in words is answered with: also those that the first one builds."""
        views = self.views_of_head()
        if ViewKind.LEXICAL in views:
            return views
        return (*views, *(each for each in self.default_views() if each not in views))

    def default_views(self) -> tuple[ViewKind, ...]:
        """The views that configuration names for this repository, else those of the product."""
        return configured_views(self._compiler.repository)

    def comes_unasked(self, kind: ViewKind) -> bool:
        """Whether a view may be built without being asked for: not by engines, nor by a named model."""
        return kind is not ViewKind.GRAPH and (kind is not ViewKind.DENSE or self._compiler.dense.is_instant)

    def left_for_later(self, views: Sequence[ViewKind]) -> dict[ViewKind, ViewRecord]:
        """The slow views of this worktree that are not among `views`: recorded as stale, not brought up."""
        with suppress(StateError):  # an unreadable manifest is in nobody's way
            records = self._records_of_head()
            return {kind: records[kind] for kind in SLOW_VIEWS if kind in records and kind not in views}
        return {}

    def _pin_current(
        self, kind: ViewKind | None, at: str | None, also: Sequence[ViewKind], asked: float
    ) -> tuple[PinnedSnapshot, Outcome]:
        wanted = self.views_for_words() if kind is ViewKind.LEXICAL else self.views_of_head()
        views = tuple(each for each in wanted if each not in SLOW_VIEWS or each is kind)
        if kind is not None and kind not in views:
            views = (*views, kind)
        look = self._recent_look(at, asked)
        if look is not None and look.taken and self._compiler.current(look.taken, views) is not None:
            started, snapshot, looked = look.began, look.taken, look.ended
        else:  # what `take` stores for a view to be built must not be collected before that
            started = time.monotonic()
            snapshot = self._compiler.take(at)
            looked = time.monotonic()
        slow = [each for each in SLOW_VIEWS if each in wanted and each not in views]
        later = self._compiler.waiting_records(snapshot, slow) if at is None else {}
        if (
            kind in SLOW_VIEWS
            and at is None
            and self.maintained_elsewhere()
            and kind in self._records_of_head()
        ):
            self._awaited(snapshot, kind, _PATIENCE_S)
        while True:
            outcome = self._compiler.ensure(snapshot, views, head=at is None, retry=False, later=later)
            outcome = self._bring_along(outcome, slow, also, head=at is None)
            try:
                pinned = self._open(outcome.manifest, kind, stale=False)
                pinned.pin_helpful(also)
            except StateError:
                if self._store.manifest(snapshot.id) == outcome.manifest:
                    raise  # damaged; otherwise another writer swept it before it was open
                continue
            self.opened.look(at, FileLook(started, looked, pinned))
            return pinned, outcome

    def _bring_along(
        self, outcome: Outcome, slow: Sequence[ViewKind], also: Sequence[ViewKind], *, head: bool
    ) -> Outcome:
        """Bring up those of the `slow` views that are in `also`, where that is quick; leave the others.

        What takes longer is left to a process beside this one, so that the next question has it.
        """
        left_s, waiting = self.quick_s, False
        for kind in slow:
            with suppress(CodenibError):  # a view that cannot be had, or is being built: the answer says so
                if not self.comes_unasked(kind) or not self._is_missing(outcome, kind):
                    continue
                snapshot = outcome.snapshot
                takes_s = self._compiler.estimate_s(snapshot, kind)
                waiting |= takes_s > left_s
                if kind in also and takes_s <= left_s:
                    started = time.monotonic()
                    done = self._compiler.ensure(snapshot, [kind], head=head, retry=False, patience_s=left_s)
                    left_s -= time.monotonic() - started
                    outcome = outcome.then(done)
        if waiting and head:
            self.catch_up_beside()
        return outcome

    def _is_missing(self, outcome: Outcome, kind: ViewKind) -> bool:
        """Whether a view is neither fresh nor failed for good."""
        if self._compiler.current(outcome.snapshot, [kind]) is not None:
            return False
        return not self._compiler.views.has_failed(outcome.manifest, kind)

    def _renewed(self, pinned: PinnedSnapshot, at: str | None, also: Sequence[ViewKind]) -> PinnedSnapshot:
        """The same snapshot, with those views in `also` that were published since the last look at it."""
        if all(pinned.has_fresh(kind) for kind in also if kind in pinned.manifest.views):
            return pinned
        manifest = self._store.manifest(pinned.manifest.snapshot)
        if manifest is None or manifest == pinned.manifest:
            return pinned
        with suppress(StateError):  # swept meanwhile
            renewed = self._open(manifest, ViewKind.LEXICAL, stale=False)
            renewed.pin_helpful(also)
            self.opened.renew(at, pinned, renewed)
            return renewed
        return pinned

    def _start_background(self) -> None:
        background.start(self._compiler.repository.root, self._store, self._worktree)

    def _pin_published(self, kind: ViewKind | None) -> PinnedSnapshot:
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

    def _open(self, manifest: RepoManifest, kind: ViewKind | None, *, stale: bool) -> PinnedSnapshot:
        """The views of a manifest, with `kind` open, so that later sweeps cannot reach the answer."""
        from codenib.serving.snapshots.pinned import PinnedSnapshot

        key = (manifest.snapshot, stale)
        pinned = self.opened.pinned.get(key)
        if pinned is None or pinned.manifest != manifest:
            pinned = PinnedSnapshot(self._store, manifest, self._compiler.source, stale=stale)
        pinned.pin(kind)
        self._remember(key, pinned)
        return pinned

    def _remember(self, key: tuple[str, bool], pinned: PinnedSnapshot) -> None:
        open_now = self.opened.pinned
        while key not in open_now and len(open_now) >= _REVISIONS:
            open_now.pop(next(iter(open_now)), None)
        open_now[key] = pinned

    def _records_of_head(self) -> Mapping[ViewKind, ViewRecord]:
        head = self._store.head(self._worktree)
        manifest = self._store.manifest(head) if head else None
        return manifest.views if manifest else {}

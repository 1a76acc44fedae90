"""One published manifest in, its opened snapshot out, whatever the worktree has become since."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING

from codenib.compiler.compiler import IndexCompiler
from codenib.core.errors import InputError, StateError
from codenib.core.requests import SnapshotRequest
from codenib.core.views import RepoManifest, ViewKind

if TYPE_CHECKING:  # numpy comes with the first query, not with `import codenib`
    from codenib.serving.snapshots.pinned import PinnedSnapshot


class PublishedPool:
    """The `Snapshots` of a workspace that answers from one manifest and builds nothing."""

    def __init__(self, compiler: IndexCompiler, manifest: RepoManifest) -> None:
        self._compiler = compiler
        self._manifest = manifest
        self._closed = False

    @cached_property
    def _only(self) -> PinnedSnapshot:
        from codenib.serving.snapshots.pinned import PinnedSnapshot

        return PinnedSnapshot(self._compiler.store, self._manifest, self._compiler.source, stale=False)

    def pin(
        self, kind: ViewKind | None, request: SnapshotRequest, also: Sequence[ViewKind] = ()
    ) -> tuple[PinnedSnapshot, str]:
        self.check_open()
        if request.at is not None:
            what = f"this workspace has one snapshot, and cannot answer for {request.at}"
            raise InputError(what, hint="codenib … --at REV")
        self._only.pin(kind)
        self._only.pin_helpful(also)
        return self._only, ""

    def pin_ready(self, kind: ViewKind, at: str | None, patience_s: float = 0.0) -> PinnedSnapshot:
        self.check_open()
        with suppress(StateError):  # the caller asks whether the view is there
            return self.pin(kind, SnapshotRequest(at))[0]
        return self._only

    def pin_last(self, kind: ViewKind) -> PinnedSnapshot | None:
        return self._only if kind in self._manifest.views else None

    def of_snapshot(self, snapshot: str) -> PinnedSnapshot:
        if snapshot != self._manifest.snapshot:
            raise StateError(f"this workspace has no snapshot {snapshot}", hint="codenib update")
        return self._only

    def views_of_head(self) -> tuple[ViewKind, ...]:
        return tuple(self._manifest.views)

    def views_for_words(self) -> tuple[ViewKind, ...]:
        return self.views_of_head()

    def close(self) -> None:
        """The one snapshot stays open for those who still read from it."""
        self._closed = True

    def check_open(self) -> None:
        if self._closed:
            raise StateError("this workspace is closed", hint="codenib.open(path)")

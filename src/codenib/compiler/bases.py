"""Published manifests in, for each view the one that is nearest to a snapshot out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice

from codenib.compiler.registry import VIEWS
from codenib.core.errors import StateError
from codenib.core.source import Delta, SourceSnapshot
from codenib.core.views import RepoManifest, ViewKind, ViewRecord
from codenib.manifest.store import Store
from codenib.snapshot.delta import diff

_BASES = 8  # recent manifests with the view that are looked at for the nearest base
_NEAR = 64  # a delta this small is not worth looking further


@dataclass(frozen=True, slots=True)
class Base:
    """A view to follow, and what leads from its snapshot to the new one."""

    record: ViewRecord
    delta: Delta
    same: bool  # nothing that the view is made of differs
    commit: str | None = None


class Bases:
    """The published snapshots that a new one may follow."""

    def __init__(
        self,
        store: Store,
        manifests: Sequence[RepoManifest],
        fresh: Callable[[RepoManifest, ViewKind], ViewRecord | None],
        snapshot: SourceSnapshot,
    ) -> None:
        self._store = store
        self._manifests = manifests
        self._fresh = fresh
        self._snapshot = snapshot
        self._deltas: dict[str, Delta | None] = {}
        self.used: Delta | None = None

    def nearest(self, kind: ViewKind) -> Base | None:
        """The fresh view of this kind whose files differ least; where it follows commits, of the same one."""
        best: Base | None = None
        follows_commits = VIEWS[kind].follows_commits
        holding = ((m, record) for m in self._manifests if (record := self._fresh(m, kind)) is not None)
        for manifest, record in islice(holding, _BASES):
            delta = self._delta(manifest)
            if delta is None:
                continue
            if follows_commits and manifest.commit == self._snapshot.commit:
                best = Base(record, delta, True, manifest.commit)
                break
            if best is None or len(delta) < len(best.delta):
                best = Base(record, delta, not follows_commits and not len(delta), manifest.commit)
            if len(best.delta) <= _NEAR and not follows_commits:
                break
        if best is not None and self.used is None:  # the first views are the text's, which read every file
            self.used = best.delta
        return best

    def _delta(self, manifest: RepoManifest) -> Delta | None:
        """What leads from there to here; None when its tree cannot be read."""
        if manifest.tree not in self._deltas:
            try:
                base = self._store.snapshot(manifest, self._snapshot.repository)
                self._deltas[manifest.tree] = diff(base, self._snapshot)
            except StateError:
                self._deltas[manifest.tree] = None
        return self._deltas[manifest.tree]


def by_nearness(store: Store, worktree: str) -> list[RepoManifest]:
    """The manifest of the worktree's head, then the others, the most recently used first."""
    head = store.head(worktree)
    return sorted(store.manifests(), key=lambda manifest: manifest.snapshot != head)

"""What an update did: the value that the compiler returns."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from codenib.compiler.build import BuiltViews
from codenib.core.source import SourceSnapshot
from codenib.core.views import RepoManifest, ViewKind


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

    def then(self, second: Outcome) -> Outcome:
        """Two steps of one update as one outcome."""
        if self.nothing_to_do or second.nothing_to_do:
            done = second if self.nothing_to_do else self
            return replace(done, manifest=second.manifest, seconds=self.seconds + second.seconds)
        return replace(
            second,
            views={**self.views, **second.views},
            derived=self.derived + second.derived,
            seconds=self.seconds + second.seconds,
        )


def outcome_of(
    manifest: RepoManifest, snapshot: SourceSnapshot, built: BuiltViews, started: float
) -> Outcome:
    """What was built, from how large a delta, since `started`; without a base every file counts as added."""
    delta = built.delta
    return Outcome(
        manifest,
        snapshot,
        {kind: manifest.views[kind].how or manifest.views[kind].status for kind in built.views},
        added=len(delta.added) if delta is not None else len(snapshot.files),
        changed=len(delta.changed) if delta is not None else 0,
        removed=len(delta.removed) if delta is not None else 0,
        renamed=len(delta.renamed) if delta is not None else 0,
        derived=built.derived,
        seconds=time.perf_counter() - started,
    )

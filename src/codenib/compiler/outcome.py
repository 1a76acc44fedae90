"""Built views and their delta in, what the update did out."""

from __future__ import annotations

import time

from codenib.compiler.build import BuiltViews
from codenib.core.source import SourceSnapshot
from codenib.core.updates import Outcome
from codenib.core.views import RepoManifest


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

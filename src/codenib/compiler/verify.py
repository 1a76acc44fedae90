"""A published manifest in, how its views differ from views that are built from nothing out."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from codenib.compiler.build import SnapshotBuilder
from codenib.compiler.choices import RepositoryViews
from codenib.compiler.registry import ViewContext
from codenib.core.source import SourceSnapshot
from codenib.core.views import RepoManifest, ViewKind
from codenib.manifest.cache import RecordCache


def verify_views(
    context: ViewContext,
    views: RepositoryViews,
    snapshot: SourceSnapshot,
    manifest: RepoManifest,
    kinds: Sequence[ViewKind],
) -> dict[ViewKind, list[str]]:
    """Build each view again beside the published one; how the two differ, a line each."""
    differences: dict[ViewKind, list[str]] = {}
    with (
        tempfile.TemporaryDirectory(prefix="codenib-verify-") as name,
        closing(RecordCache(Path(name) / "records.sqlite")) as cache,
        closing(SnapshotBuilder(context, views).open_records(cache, kinds, snapshot.settings)) as records,
    ):
        scratch = Path(name)
        published: dict[ViewKind, Path] = {}
        for kind in kinds:  # copies, because the next writers may sweep the published ones meanwhile
            if (record := views.fresh_record(manifest, kind)) is not None:
                folder = context.store.artifact(record.artifact)
                if what := context.store.seals.damage(folder, whole=True):
                    differences[kind] = [f"the view is damaged: {what}"]
                published[kind] = scratch / f"published-{kind}"
                shutil.copytree(folder, published[kind])
        for kind in kinds:
            if kind in differences:
                continue
            if kind not in published:
                record = manifest.views[kind]
                differences[kind] = [f"the view is {record.status}: {record.error}"]
                continue
            rebuilt = scratch / f"rebuilt-{kind}"
            rebuilt.mkdir()
            with views[kind].rebuilder(published[kind], scratch) as builder:
                builder.build(snapshot, records, rebuilt)
            context.progress(f"comparing {kind}", 0, 1)
            differences[kind] = list(builder.differences(published[kind], rebuilt))
    return differences

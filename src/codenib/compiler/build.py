"""A snapshot and kinds of views in, folders and records of these views out; nothing is published here.

A view is reused when nothing differs from its nearest base, maintained when the base can be followed, and
built from the snapshot otherwise. One that fails becomes a failed record and leaves the others alone.
"""

from __future__ import annotations

import logging
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from codenib.compiler.bases import Base, Bases, by_nearness
from codenib.compiler.choices import RepositoryViews
from codenib.compiler.registry import VIEWS, ViewContext, derivers_of
from codenib.core.errors import CodenibError, StoreFault, fault_of, is_disk_fault
from codenib.core.protocols import EarlyMaintainer, ViewMaintainer
from codenib.core.source import Delta, SourceSettings, SourceSnapshot
from codenib.core.views import RepoManifest, Status, ViewFacts, ViewKind, ViewRecord
from codenib.manifest.cache import RecordCache
from codenib.snapshot.blobs import BlobSource

if TYPE_CHECKING:
    from codenib.compiler.records.derive import CachedRecords

_log = logging.getLogger("codenib")


@dataclass(frozen=True, slots=True)
class BuiltView:
    """A view's record, and the folder that becomes its artifact when it is published."""

    record: ViewRecord
    folder: Path | None = None


@dataclass(frozen=True, slots=True)
class BuiltViews:
    """The views of one build; the delta from the base that was followed, if any; how many blobs were read."""

    views: Mapping[ViewKind, BuiltView]
    delta: Delta | None
    derived: int


class SnapshotBuilder:
    """Builds and maintains the views of one repository's snapshots."""

    def __init__(self, context: ViewContext, views: RepositoryViews) -> None:
        self._repository = context.repository
        self._store = context.store
        self._progress = context.progress
        self._views = views

    def build(
        self,
        snapshot: SourceSnapshot,
        kinds: Sequence[ViewKind],
        published: RepoManifest | None,
        *,
        rebuild: bool,
        anew: bool,
        reuse: Sequence[ViewKind] = (),
        early: Callable[[BuiltView], None] | None = None,
    ) -> BuiltViews:
        """The views that `published` does not have fresh; with `rebuild`, from no view that is stored.

        `anew` derives the records of blobs again as well. Those in `reuse` come along where an equal one is
        published: nothing that they are made of differs. `early` gets a view that is not whole yet, as stale.
        """
        manifests = [] if rebuild else by_nearness(self._store, self._repository.worktree_key)
        bases = Bases(self._store, manifests, self._views.fresh_record, snapshot)
        with (
            closing(self._store.open_cache()) as cache,
            closing(self.open_records(cache, kinds, snapshot.settings, anew=anew)) as records,
        ):
            built = {
                kind: self._build_view(kind, snapshot, bases.nearest(kind), records, early)
                for kind in kinds
                if published is None or self._views.fresh_record(published, kind) is None
            }
            for kind in () if rebuild else reuse:
                with suppress(CodenibError):  # what is wrong with it is said when it is built
                    base = bases.nearest(kind)
                    if base is not None and base.same:
                        built[kind] = self._build_view(kind, snapshot, base, records)
        return BuiltViews(built, bases.used, records.derived)

    def open_records(
        self, cache: RecordCache, kinds: Sequence[ViewKind], settings: SourceSettings, *, anew: bool = False
    ) -> CachedRecords:
        """The records that these views read; the caller closes them."""
        from codenib.compiler.records.derive import CachedRecords  # parsers, which a no-op never needs

        source = BlobSource.of(self._repository, self._store.blob_store)
        return CachedRecords(cache, source, derivers_of(kinds), self._progress, anew=anew, settings=settings)

    def _build_view(
        self,
        kind: ViewKind,
        snapshot: SourceSnapshot,
        base: Base | None,
        records: CachedRecords,
        early: Callable[[BuiltView], None] | None = None,
    ) -> BuiltView:
        """One view: reused, maintained, built, or failed."""
        started = time.perf_counter()
        if base is not None and base.same:
            seconds = time.perf_counter() - started
            _log.debug("%s: reused, its sources are those of %s", kind, base.record.snapshot)
            return BuiltView(replace(base.record, snapshot=snapshot.id, how="reused", seconds=seconds))
        profile = self._views[kind].profile()
        record = ViewRecord(kind, profile.digest, snapshot.id, Status.FAILED, fields=dict(profile.fields))
        out = self._store.new_artifact()
        try:
            builder = self._views[kind].builder()
            known, profile = profile, builder.profile()  # opens an embedder, before any work
            record = replace(record, profile=profile.digest, fields=dict(profile.fields))
            if early is not None and isinstance(builder, EarlyMaintainer):
                builder.publish_early = partial(self._publish_early, record, early)
            facts, how = self._write(builder, snapshot, base if profile == known else None, records, out)
            self._store.seals.seal(out, self._folder(base) if how == "maintained" else None)
        except StoreFault:  # says nothing of the view: nothing is published
            shutil.rmtree(out, ignore_errors=True)
            raise
        except OSError as error:
            if is_disk_fault(error, str(self._store.root)):
                shutil.rmtree(out, ignore_errors=True)
                raise fault_of(error) from error
            return _failed(record, error, started, out)
        except Exception as error:  # noqa: BLE001 - a failed view, however it failed, leaves its siblings
            return _failed(record, error, started, out)
        record = replace(
            record,
            status=Status.FRESH,
            how=how,
            capabilities=facts.capabilities,
            counts=facts.counts,
            seconds=time.perf_counter() - started,
            error=facts.lacks,
        )
        return BuiltView(record, out)

    def _publish_early(
        self,
        record: ViewRecord,
        early: Callable[[BuiltView], None],
        write: Callable[[Path], ViewFacts],
    ) -> None:
        """Hand on what is there of a view. Whatever fails here, the whole view comes later."""
        out = self._store.new_artifact()
        try:
            facts = write(out)
            self._store.seals.seal(out, None)
            counts, lacks = facts.counts, facts.lacks
            record = replace(record, status=Status.STALE, how="maintained", counts=counts, error=lacks)
            early(BuiltView(record, out))
        except (CodenibError, OSError, ValueError, LookupError) as error:
            _log.debug("%s: nothing early, because %s", record.kind, error)
            shutil.rmtree(out, ignore_errors=True)

    def _folder(self, base: Base | None) -> Path | None:
        return None if base is None else self._store.artifact(base.record.artifact)

    def _write(
        self,
        builder: ViewMaintainer,
        snapshot: SourceSnapshot,
        base: Base | None,
        records: CachedRecords,
        out: Path,
    ) -> tuple[ViewFacts, str]:
        """Maintain the base where it can be followed, else build; what the builder says, and how it went."""
        reads_records = VIEWS[builder.kind].reads_records
        if base is not None:
            try:
                if reads_records:
                    records.prepare([*base.delta.added, *base.delta.changed])
                self._progress(f"maintaining {builder.kind}", 0, len(base.delta))
                folder = self._store.whole_artifact(base.record.artifact)
                facts = builder.maintain(folder, base.delta, records, out)
                _log.debug(
                    "%s: maintained, %d files differ from %s",
                    builder.kind,
                    len(base.delta),
                    base.record.snapshot,
                )
                return facts, "maintained"
            except StoreFault:
                raise
            except (CodenibError, OSError, ValueError, LookupError) as error:
                if isinstance(error, OSError) and is_disk_fault(error, str(out)):
                    raise
                _log.debug("%s: not maintained, because %s", builder.kind, error)
                # The maintainer declines, or the base is gone or damaged: rebuild this view alone.
                shutil.rmtree(out)
                out.mkdir()
        if reads_records:
            records.prepare(snapshot.source_files())
        _log.debug("%s: built%s", builder.kind, "" if base else ", as no snapshot has it with this profile")
        self._progress(f"building {builder.kind}", 0, len(snapshot.files))
        return builder.build(snapshot, records, out), "built"


def _failed(record: ViewRecord, error: Exception, started: float, out: Path) -> BuiltView:
    """The record of a view that failed; what it wrote is removed."""
    shutil.rmtree(out, ignore_errors=True)
    what = f"{type(error).__name__}: {error}"
    return BuiltView(replace(record, seconds=time.perf_counter() - started, error=what))

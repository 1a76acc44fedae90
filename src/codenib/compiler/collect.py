"""The store in, the store without what nothing reaches out."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path

from codenib.compiler.records.derive import UNITS
from codenib.compiler.registry import DEFAULT_VIEWS, SLOW_VIEWS, derivers_of
from codenib.core.errors import StateError
from codenib.core.views import Status, ViewKind
from codenib.manifest.cache import record_key
from codenib.manifest.embeddings import embedding_key
from codenib.manifest.files import disk_usage, reports_faults
from codenib.manifest.home import home
from codenib.manifest.learned import drop_learned
from codenib.manifest.store import Store
from codenib.manifest.sweep import sweep
from codenib.snapshot.store import LocalBlobs
from codenib.units.languages import language_hint, units_version
from codenib.units.rules import rules_of


@dataclass(frozen=True, slots=True)
class CollectReport:
    """What `collect` dropped, and what is left."""

    repositories: int
    artifacts: int
    records: int
    blobs: int
    freed_bytes: int
    size_bytes: int


@reports_faults
def collect(*, keep: int, root: Path | None = None) -> CollectReport:
    """Keep the newest `keep` snapshots of each repository and what they reach; every writer waits."""
    root = root or home()
    before = disk_usage(root)
    anchor = Store("", root=root)
    with anchor.collecting():
        reached = _sweep_repositories(root, keep)
        records, blobs = _drop_unreached(anchor, reached)
    after = disk_usage(root)
    return CollectReport(
        repositories=reached.repositories_gone,
        artifacts=reached.artifacts_gone,
        records=records,
        blobs=blobs,
        freed_bytes=max(before - after, 0),
        size_bytes=after,
    )


@dataclass(slots=True)
class _Reached:
    """What the snapshots that stay need of the stores that all repositories share; and what went already."""

    jobs: set[tuple[str, str]] = field(default_factory=set)  # blob digest and language hint
    blobs: set[str] = field(default_factory=set)  # of no snapshot, but read by a graph
    vectors: set[bytes] = field(default_factory=set)
    repositories_gone: int = 0
    artifacts_gone: int = 0


def _sweep_repositories(root: Path, keep: int) -> _Reached:
    reached = _Reached()
    for folder in sorted((root / "repos").glob("*")):
        store = Store(folder.name, root=root)
        if not store.still_there():
            shutil.rmtree(folder, ignore_errors=True)
            reached.repositories_gone += 1
            continue
        reached.artifacts_gone += sweep(store, slow=SLOW_VIEWS, keep_clean=keep, keep_dirty=keep)
        reached.artifacts_gone += drop_learned(store, keep)
        reached.vectors.update(_vectors_of(store))
        reached.blobs.update(_stale_texts_of(store))
        reached.jobs.update(_jobs_of(store))
    return reached


def _jobs_of(store: Store) -> Iterator[tuple[str, str]]:
    """The blobs of the trees that the sweep left, each in the languages that settings give its path."""
    for tree in store.trees():
        yield from ((digest, language_hint(path)) for path, digest in tree.items())
    for manifest in store.manifests():
        if manifest.settings.languages:
            language = rules_of(manifest.settings).language
            with suppress(StateError):  # a tree that cannot be read reaches nothing
                yield from ((digest, language(path)) for path, digest in store.tree(manifest.tree).items())


def _drop_unreached(store: Store, reached: _Reached) -> tuple[int, int]:
    """Drop records, vectors and blobs that nothing reaches; how many records with vectors, how many blobs."""
    versions = {UNITS: units_version()}
    versions.update((name, deriver.version) for name, deriver in derivers_of(DEFAULT_VIEWS).items())
    with closing(store.open_cache()) as cache:
        keys = {record_key(name, version, *job) for name, version in versions.items() for job in reached.jobs}
        records = cache.keep_only(keys)
    if store.embeddings.exists():
        with closing(store.open_embeddings()) as embeddings:
            records += embeddings.keep_only(reached.vectors)
    with closing(LocalBlobs(store.blob_store)) as local:
        unreached = local.digests() - {digest for digest, _ in reached.jobs} - reached.blobs
        local.delete(unreached)
    return records, len(unreached)


def _vectors_of(store: Store) -> Iterator[bytes]:
    """The keys of the embeddings that the dense views of a repository are made of."""
    for manifest in store.manifests():
        record = manifest.views.get(ViewKind.DENSE)
        if record is not None and record.status is Status.FRESH:
            from codenib.views.dense.parts import text_digests

            with suppress(OSError, ValueError, StateError):  # a damaged view keeps nothing
                for digest in text_digests(store.artifact(record.artifact)):
                    yield embedding_key(record.fields["identity"], digest)


def _stale_texts_of(store: Store) -> Iterator[str]:
    """The texts that the graphs of a repository go on reading while the files do not parse."""
    for manifest in store.manifests():
        record = manifest.views.get(ViewKind.GRAPH)
        if record is not None and record.status is Status.FRESH:
            from codenib.views.graph.assembly.about import read_stale

            with suppress(StateError):  # a damaged view keeps nothing
                yield from read_stale(store.artifact(record.artifact)).values()

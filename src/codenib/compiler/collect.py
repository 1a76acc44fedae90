"""The store in, the store without what nothing reaches out."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from codenib.compiler.derive import UNITS
from codenib.compiler.registry import DEFAULT_VIEWS, SLOW_VIEWS, derivers_of
from codenib.core.errors import StateError
from codenib.core.views import Status, ViewKind
from codenib.manifest.cache import record_key
from codenib.manifest.embeddings import embedding_key
from codenib.manifest.files import disk_usage
from codenib.manifest.home import home
from codenib.manifest.store import Store
from codenib.snapshot.store import LocalBlobs
from codenib.units.languages import language_hint, units_version


@dataclass(frozen=True, slots=True)
class CollectReport:
    """What `collect` dropped, and what is left."""

    repositories: int
    artifacts: int
    records: int
    blobs: int
    freed_bytes: int
    size_bytes: int


def collect(*, keep: int, root: Path | None = None) -> CollectReport:
    """Keep the newest `keep` snapshots of each repository and what they reach; every writer waits."""
    root = root or home()
    before = disk_usage(root)
    gone = artifacts = 0
    reached: set[tuple[str, str]] = set()
    vectors: set[bytes] = set()
    held: set[str] = set()
    anchor = Store("", root=root)
    with anchor.collecting():
        for folder in sorted((root / "repos").glob("*")):
            store = Store(folder.name, root=root)
            if not store.still_there():
                shutil.rmtree(folder, ignore_errors=True)
                gone += 1
                continue
            artifacts += store.sweep(slow=SLOW_VIEWS, keep_clean=keep, keep_dirty=keep)
            vectors.update(_vectors_of(store))
            held.update(_held_of(store))
            for tree in store.trees():  # the sweep left those that a manifest names
                reached.update((digest, language_hint(path)) for path, digest in tree.items())
        versions = {UNITS: units_version()}
        versions.update((name, deriver.version) for name, deriver in derivers_of(DEFAULT_VIEWS).items())
        with closing(anchor.open_cache()) as cache:
            keys = {record_key(name, version, *job) for name, version in versions.items() for job in reached}
            records = cache.keep_only(keys)
        if anchor.embeddings.exists():
            with closing(anchor.open_embeddings()) as embeddings:
                records += embeddings.keep_only(vectors)
        with closing(LocalBlobs(anchor.blob_store)) as local:
            unreached = local.digests() - {digest for digest, _ in reached} - held
            local.delete(unreached)
    after = disk_usage(root)
    return CollectReport(gone, artifacts, records, len(unreached), max(before - after, 0), after)


def _vectors_of(store: Store) -> Iterator[bytes]:
    """The keys of the embeddings that the dense views of a repository are made of."""
    for manifest in store.manifests():
        record = manifest.views.get(ViewKind.DENSE)
        if record is not None and record.status is Status.FRESH:
            from codenib.views.dense.parts import text_digests

            with suppress(OSError, ValueError, StateError):  # a damaged view keeps nothing
                for digest in text_digests(store.artifact(record.artifact)):
                    yield embedding_key(record.fields["identity"], digest)


def _held_of(store: Store) -> Iterator[str]:
    """The texts that the graphs of a repository go on reading while the files do not parse."""
    for manifest in store.manifests():
        record = manifest.views.get(ViewKind.GRAPH)
        if record is not None and record.status is Status.FRESH:
            from codenib.views.graph.read import read_held

            with suppress(StateError):  # a damaged view keeps nothing
                yield from read_held(store.artifact(record.artifact)).values()

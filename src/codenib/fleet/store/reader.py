"""A repository of the fleet in, a workspace of its published views out: no git, no building."""

from __future__ import annotations

import hashlib
from collections.abc import Collection

from codenib.core.errors import StateError
from codenib.core.views import RepoManifest, ViewKind
from codenib.fleet.store.cache import LocalCache, default_cache
from codenib.fleet.store.install import checked_manifest, install
from codenib.fleet.store.layout import FleetHead, Publication, decode_publication
from codenib.fleet.store.objects import ObjectStore
from codenib.manifest.store import Store
from codenib.serving.workspace import Workspace
from codenib.snapshot.repository import Repository


class FleetReader:
    """Opens what the fleet published, by way of a bounded cache on this machine. Threads may share one."""

    def __init__(self, objects: ObjectStore, cache: LocalCache | None = None) -> None:
        self.objects = objects
        self.cache = cache or default_cache()

    def head(self, repository: str, *, ref: str = "main", snapshot: str = "") -> FleetHead:
        """What a branch, or a snapshot, was last published as."""
        head = self.objects.snapshot(repository, snapshot) if snapshot else self.objects.head(repository, ref)
        if head is None:
            what = f"snapshot {snapshot}" if snapshot else f"the branch {ref}"
            raise StateError(
                f"{what} of {repository} is not published in {self.objects.url}", hint="codenib fleet index"
            )
        return head

    def open(
        self,
        repository: str,
        *,
        ref: str = "main",
        snapshot: str = "",
        views: Collection[ViewKind] = (),
        head: FleetHead | None = None,
    ) -> Workspace:
        """A workspace of a published snapshot; views come when first asked for, those in `views` now.

        `head` is one that was read before.
        """
        head = head or self.head(repository, ref=ref, snapshot=snapshot)
        publication = self._publication(head)
        manifest, files = checked_manifest(publication, self.cache.fetch(self.objects, publication.tree))
        key = self.key(repository)
        source = _Source(self, Store(key, root=self.cache.root), publication, files)
        store = Store(key, root=self.cache.root, source=source)
        root = store.worktree_state("fleet")
        name = repository.rpartition("/")[2]
        place = Repository("folder", root, None, None, key=key, worktree_key="fleet", name=name)
        workspace = Workspace(place, manifest=manifest, store=store)
        workspace.open_views(list(views))
        return workspace

    def install(
        self,
        repository: str,
        store: Store,
        *,
        ref: str = "main",
        snapshot: str = "",
        views: Collection[ViewKind] | None = None,
    ) -> RepoManifest:
        """Publish a snapshot of the fleet in a local store too, where an index may go on from it."""
        publication = self._publication(self.head(repository, ref=ref, snapshot=snapshot))
        tree = self.objects.get(publication.tree)
        return install(publication, tree, store, self.objects.download, views)

    def key(self, repository: str) -> str:
        """The folder of a repository in the cache."""
        return hashlib.sha256(f"{self.objects.url}\0{repository}".encode()).hexdigest()[:16]

    def _publication(self, head: FleetHead) -> Publication:
        return decode_publication(self.cache.fetch(self.objects, head.publication))


class _Source:
    """What a store of the cache has from the fleet: the artifacts and files of one publication."""

    def __init__(
        self, reader: FleetReader, cached: Store, publication: Publication, files: dict[str, str]
    ) -> None:
        self._reader = reader
        self._cached = cached
        self._publication = publication
        self._files = files

    def bring(self, name: str) -> None:
        """See `ArtifactSource.bring`."""
        parts = self._publication.artifacts.get(name)
        if parts is None:
            raise StateError(f"artifact {name} is not part of its publication", hint="codenib fleet verify")
        self._reader.cache.materialize(self._reader.objects, self._cached, name, parts)

    def tree(self, tree: str) -> dict[str, str]:
        """See `ArtifactSource.tree`: there is one."""
        return self._files

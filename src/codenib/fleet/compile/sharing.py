"""A built snapshot in, the same published in the fleet's store out; and what others stored there, here.

Where workers do not share a home, the store is how they share work: a node takes over the newest published
snapshot to maintain from, and records of blobs that some other node derived.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing, suppress

from codenib.compiler.compiler import IndexCompiler
from codenib.compiler.registry import VIEWS, derivers_of
from codenib.core.errors import StateError
from codenib.core.source import SourceSnapshot
from codenib.core.views import ViewKind
from codenib.fleet.compile.task import CompileTask
from codenib.fleet.store.layout import FleetHead
from codenib.fleet.store.objects import ObjectStore
from codenib.fleet.store.publish import push
from codenib.fleet.store.reader import FleetReader
from codenib.fleet.store.records import RecordPacks
from codenib.manifest.cache import record_key
from codenib.manifest.home import home
from codenib.snapshot import git
from codenib.units.languages import units_version
from codenib.units.rules import rules_of


class SharedWork:
    """What one task takes from the fleet's store, and gives to it."""

    def __init__(self, task: CompileTask, compiler: IndexCompiler) -> None:
        self._task = task
        self._compiler = compiler
        self._objects = ObjectStore.open(task.store)
        self._packs = RecordPacks(self._objects, "records", home() / "fleet" / "packs")
        self._derived_here: list[bytes] = []

    def take(self, snapshot: SourceSnapshot) -> None:
        """Bring a snapshot to go on from, where this machine has none, and records that others derived."""
        store, name = self._compiler.store, self._task.entry.name
        if not store.manifests():
            head = self._objects.head(name, self._task.branch)
            if head is not None:
                try:
                    FleetReader(self._objects).install(name, store, ref=self._task.branch)
                except StateError:  # damaged, or of another version: it is built here instead
                    return
        if self._reads_records():
            keys = record_keys(snapshot, self._task.views)
            with closing(store.open_cache()) as cache:
                absent = sorted(cache.missing(keys))
                if absent:
                    with suppress(StateError):  # a damaged pack: what it has is derived here instead
                        self._packs.refresh()
                        self._packs.pull(absent, cache)
                    self._derived_here = sorted(cache.missing(absent))

    def give(self, snapshot: SourceSnapshot) -> int:
        """Publish the snapshot for the fleet, and the records that were derived here; how many bytes went."""
        store = self._compiler.store
        if self._derived_here:
            with closing(store.open_cache()) as cache:
                lacking = cache.missing(self._derived_here)  # of blobs that git does not have
                self._packs.push([key for key in self._derived_here if key not in lacking], cache)
        pushed = push(
            self._objects,
            self._task.entry.name,
            store,
            snapshot.id,
            refs=[self._task.branch],
            supersedes=self._supersedes,
        )
        return pushed.sent_bytes

    def _supersedes(self, head: FleetHead) -> bool:
        """Whether our commit may follow theirs: not when the branch went on to theirs since we began."""
        args = self._compiler.repository.git_args()
        ref = "HEAD" if self._task.branch == "HEAD" else f"refs/heads/{self._task.branch}"
        answer = git.call([*args, "rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}"])
        now = answer.out.decode().strip()
        return now == self._task.commit or head.commit != now

    def _reads_records(self) -> bool:
        return any(VIEWS[kind].reads_records for kind in self._task.views)


def record_keys(snapshot: SourceSnapshot, views: Sequence[ViewKind]) -> list[bytes]:
    """The keys of all records that these views of a snapshot are made of."""
    derivers = {"units": units_version(), **{each.name: each.version for each in derivers_of(views).values()}}
    language = rules_of(snapshot.settings).language
    blobs = {(digest, language(path)) for path, digest in snapshot.files.items()}
    return [record_key(name, version, *blob) for blob in blobs for name, version in derivers.items()]

"""A store of a fleet in, the same without what no head names out; safe beside any number of publishers.

One run marks what no head names and is older than the grace period; a later one, at least that period
afterwards, removes what is still marked and still not named. See `sweep_guard` for what publishers do.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import msgspec

from codenib.core.errors import StateError
from codenib.fleet.store.backend import StoredObject, Unacknowledged, Version
from codenib.fleet.store.layout import FORM, FleetHead, ObjectRef
from codenib.fleet.store.objects import ObjectStore
from codenib.fleet.store.sweep_guard import CollectionState, read_collection, swap_collection

DAY_S = 86_400.0
#: Without a sign for so long, a sweep was killed: another may finish it.
STALE_S = 900.0
_THREADS = 8
_BATCH = 256  # removals between two signs
_MOST = 200_000  # marks: 16 MB of paths
_ATTEMPTS = 50
_TAKEN_OVER = "another collection took over: this one was too slow"


@dataclass(slots=True)
class StoreCollection:
    """What a run did, or would do: sizes in bytes.

    `marked` may be removed from `due_s` on, `young` are not named but newer than the grace period.
    `retired` are snapshots that were forgotten, `partials` files that are no objects yet.
    """

    heads: int = 0
    objects: int = 0
    size_bytes: int = 0
    retired: int = 0
    removed: int = 0
    removed_bytes: int = 0
    marked: int = 0
    marked_bytes: int = 0
    young: int = 0
    partials: int = 0
    due_s: float = 0.0


@dataclass(frozen=True, slots=True)
class CollectionRules:
    """How long things stay: what no head names for `grace_s`, and other snapshots than those that branches
    name for `snapshots_s`, if that is given. `dry` only looks.
    """

    grace_s: float = DAY_S
    snapshots_s: float | None = None
    dry: bool = False
    clock: Callable[[], float] = field(default=time.time)


def collect_store(objects: ObjectStore, rules: CollectionRules) -> StoreCollection:
    """Remove what was marked long enough ago, and mark what no head names now."""
    now_s, report = rules.clock(), StoreCollection()
    state, version = read_collection(objects.backend)
    if state.sweeper and now_s - state.at_s < STALE_S:
        raise StateError("another collection removes objects of this store now", hint="try again later")
    inventory = _look(objects, rules, now_s, report)
    if not rules.dry:
        report.partials = objects.backend.remove_partials(now_s - rules.grace_s)
    run = _Sweep(objects, rules, inventory, report)
    # The marks of a killed sweep are due: nobody could take them away since.
    if state.sweeper or (state.at_s and state.paths and now_s - state.at_s >= rules.grace_s):
        run.sweep(state, version)
    elif state.paths:
        run.report_marks(state.paths, state.at_s or run.date())
    else:
        run.mark(state, version)
    return report


@dataclass(frozen=True, slots=True)
class _Inventory:
    """What is in a store: all objects and packs, and those that something names."""

    stored: Mapping[str, StoredObject]
    named: frozenset[str]
    old: tuple[str, ...]  # not named, and older than the grace period


def _look(objects: ObjectStore, rules: CollectionRules, now_s: float, report: StoreCollection) -> _Inventory:
    """List everything, then follow every head; whatever cannot be read ends the collection."""
    stored = {each.path: each for each in objects.backend.list(f"{FORM}/objects")}
    named: set[str] = set()
    for kind in ("records", "embeddings"):
        packs = {each.path: each for each in objects.backend.list(f"{FORM}/{kind}/packs")}
        keys = {each.path.rpartition("/")[2] for each in objects.backend.list(f"{FORM}/{kind}/keys")}
        stored |= packs
        named |= {path for path in packs if path.rpartition("/")[2] in keys}
    heads = _heads(objects, rules, now_s, report)
    publications = {head.publication for head in heads.values()}
    with ThreadPoolExecutor(_THREADS) as pool:
        for paths in pool.map(lambda ref: _named_by(objects, ref), publications):
            named |= paths
    free = [each for path, each in stored.items() if path not in named]
    old = tuple(each.path for each in free if each.modified_s <= now_s - rules.grace_s)
    report.heads = len(heads)
    report.objects, report.size_bytes = len(stored), sum(each.size for each in stored.values())
    report.young = len(free) - len(old)
    return _Inventory(stored, frozenset(named), old)


def _named_by(objects: ObjectStore, publication: ObjectRef) -> set[str]:
    head = FleetHead(publication, "", None, 0, {})
    return {publication.path, *(ref.path for ref in objects.publication(head).refs().values())}


def _heads(
    objects: ObjectStore, rules: CollectionRules, now_s: float, report: StoreCollection
) -> dict[str, FleetHead]:
    """Every head by its path, without those of snapshots that this run retires."""
    rows = _read_heads(objects)
    heads = {path: head for path, (_, head, _) in rows.items()}
    if rules.snapshots_s is None:
        return heads
    before_s = now_s - rules.snapshots_s
    in_use = {(_repository(path), head.snapshot) for path, head in heads.items() if "/heads/" in path}
    old = {
        path: version
        for path, (listed, head, version) in rows.items()
        if "/snapshots/" in path
        and listed.modified_s < before_s
        and (_repository(path), head.snapshot) not in in_use
    }
    # Listed once more: a head that moved between its listing and its reading is not old.
    moved = {each.path for each in _list_heads(objects) if each.modified_s >= before_s}
    for path, version in old.items():
        if path not in moved and (rules.dry or _retire(objects, path, version)):
            report.retired += 1
            del heads[path]
    return heads


def _list_heads(objects: ObjectStore) -> Iterable[StoredObject]:
    return (each for each in objects.backend.list(f"{FORM}/repos") if each.size)


def _read_heads(objects: ObjectStore) -> dict[str, tuple[StoredObject, FleetHead, Version]]:
    listed = list(_list_heads(objects))
    rows = {}
    with ThreadPoolExecutor(_THREADS) as pool:
        read = pool.map(lambda each: objects.read_versioned_head(each.path), listed)
        for each, row in zip(listed, read, strict=True):
            if row is not None:
                rows[each.path] = (each, *row)
    return rows


def _repository(path: str) -> str:
    """The folder of a head's repository.

    >>> _repository("v1/repos/org%2Fapp/heads/main")
    'org%2Fapp'
    """
    return path.split("/")[2]


def _retire(objects: ObjectStore, path: str, version: Version) -> bool:
    """Forget the head of a snapshot if it is still that one.

    An empty object stays in its place: a store removes without a condition, and that could take what
    another publishes in the same moment.
    """
    try:
        return objects.backend.replace(path, b"", version)
    except Unacknowledged:
        return False  # its objects stay for now; the next collection sees what became of it


class _Sweep:
    """The part of a run that writes."""

    def __init__(
        self, objects: ObjectStore, rules: CollectionRules, inventory: _Inventory, report: StoreCollection
    ) -> None:
        self._objects = objects
        self._rules = rules
        self._inventory = inventory
        self._report = report
        self._nonce = secrets.token_hex(8)

    def mark(self, state: CollectionState, version: Version) -> None:
        """Mark what no head names; another run that marked meanwhile did the same."""
        self._write_marks(state, version, removed=frozenset())

    def report_marks(self, paths: Iterable[str], at_s: float) -> None:
        """Say what is marked, and from when on it may be removed."""
        stored = self._inventory.stored
        there = [path for path in paths if path in stored and path not in self._inventory.named]
        self._report.marked = len(there)
        self._report.marked_bytes = sum(stored[path].size for path in there)
        self._report.due_s = at_s + self._rules.grace_s

    def sweep(self, state: CollectionState, version: Version) -> None:
        """Remove what is marked and still not named, then mark what is not named now."""
        if self._rules.dry:
            removable = self._removable(state)
            self._count(removable)
            self._write_marks(state, version, removed=frozenset(removable))
            return
        state, version = self._begin(state, version)
        removable = self._removable(state)
        done: list[str] = []
        for start in range(0, len(removable), _BATCH):
            batch = removable[start : start + _BATCH]
            state, version = self._sign(state, version)
            with ThreadPoolExecutor(_THREADS) as pool:
                list(pool.map(self._objects.backend.remove, batch))
            done += batch
            self._count(batch)
        self._write_marks(state, version, removed=frozenset(done))

    def _removable(self, state: CollectionState) -> list[str]:
        """What is marked, there, not named, and not stored again since."""
        stored, named = self._inventory.stored, self._inventory.named
        marked = (stored[path] for path in state.paths if path in stored and path not in named)
        limit_s = self._rules.clock() - self._rules.grace_s
        return [each.path for each in marked if each.modified_s <= limit_s]

    def _begin(self, state: CollectionState, version: Version) -> tuple[CollectionState, Version]:
        """Take the marks for this sweep alone. Publishers may take some away until then.

        Marks that another run wrote meanwhile are not due, and newer than what we know of the heads.
        """
        for _ in range(_ATTEMPTS):
            begun = msgspec.structs.replace(
                state, generation=state.generation + 1, sweeper=self._nonce, at_s=self._rules.clock()
            )
            if swap_collection(self._objects.backend, begun, version):
                return read_collection(self._objects.backend)
            before, (state, version) = state, read_collection(self._objects.backend)
            ours = (before.generation, before.sweeper, before.at_s)
            if (state.generation, state.sweeper, state.at_s) != ours:
                break
        raise StateError("another collection removes objects of this store now", hint="try again later")

    def _sign(self, state: CollectionState, version: Version) -> tuple[CollectionState, Version]:
        """Say that this sweep is alive; an error when another took it over."""
        alive = msgspec.structs.replace(state, at_s=self._rules.clock())
        if state.sweeper != self._nonce or not swap_collection(self._objects.backend, alive, version):
            raise StateError(_TAKEN_OVER, hint="try again later")
        return read_collection(self._objects.backend)

    def _write_marks(self, state: CollectionState, version: Version, *, removed: frozenset[str]) -> None:
        """Mark what no head names; this ends a sweep."""
        paths = tuple(path for path in self._inventory.old if path not in removed)[:_MOST]
        if not self._rules.dry and (paths or state.sweeper):
            marks = CollectionState(generation=state.generation + bool(state.sweeper), paths=paths)
            if not swap_collection(self._objects.backend, marks, version) and state.sweeper:
                raise StateError(_TAKEN_OVER, hint="try again later")
        self.report_marks(paths, self.date())

    def date(self) -> float:
        """Date marks that have no date: the clock is read when publishers can see them, not before."""
        state, version = read_collection(self._objects.backend)
        now_s = self._rules.clock()
        if state.paths and not state.at_s and not state.sweeper and not self._rules.dry:
            dated = msgspec.structs.replace(state, at_s=now_s)
            swap_collection(self._objects.backend, dated, version)  # else the next run dates them
        return now_s

    def _count(self, paths: Iterable[str]) -> None:
        sizes = [self._inventory.stored[path].size for path in paths]
        self._report.removed += len(sizes)
        self._report.removed_bytes += sum(sizes)

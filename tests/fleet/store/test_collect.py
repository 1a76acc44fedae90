"""Collecting a store beside its publishers: nothing that a head names is ever removed."""

from __future__ import annotations

import random
import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fleet.store.conftest import Indexed

from codenib.core.errors import CodenibError, ProviderError, StateError
from codenib.core.views import ViewKind
from codenib.fleet.store.backend import Backend
from codenib.fleet.store.collect import STALE_S, CollectionRules, StoreCollection, collect_store
from codenib.fleet.store.layout import (
    FleetHead,
    ObjectRef,
    Publication,
    head_path,
    object_path,
    snapshot_path,
)
from codenib.fleet.store.objects import ObjectStore
from codenib.fleet.store.publish import push
from codenib.fleet.store.sweep_guard import (
    COLLECTION,
    CollectionState,
    SweepGuard,
    read_collection,
    swap_collection,
)
from codenib.fleet.store.verify import verify_store

GRACE_S = 1000.0
TEXT = (ViewKind.LEXICAL, ViewKind.TRIGRAM)


def _collect(objects: ObjectStore, after_s: float, **rules: Any) -> StoreCollection:
    """A collection so many seconds from now."""
    now_s = time.time() + after_s
    return collect_store(objects, CollectionRules(grace_s=GRACE_S, clock=lambda: now_s, **rules))


def _left(objects: ObjectStore) -> set[str]:
    return {each.path for each in objects.backend.list("v1/objects")}


def test_what_no_head_names_is_marked_and_a_grace_period_later_removed(
    objects: ObjectStore, indexed: Indexed
) -> None:
    push(objects, "org/app", indexed.store, indexed.snapshot, refs=["main"], views=TEXT)
    named = _left(objects)
    ref, _ = objects.put(b"of a killed writer")
    pack = "v1/records/packs/" + "a" * 64
    objects.backend.create(pack, b"a pack without its keys")

    assert _collect(objects, 0).young == 2  # too new to be anybody's but a writer's at work
    first = _collect(objects, 2 * GRACE_S)
    assert (first.marked, first.removed) == (2, 0)
    assert _collect(objects, 2.5 * GRACE_S).removed == 0
    assert objects.has(ref)
    looked = _collect(objects, 4 * GRACE_S, dry=True)
    assert (looked.removed, looked.removed_bytes) == (2, 41) and objects.has(ref)
    assert _collect(objects, 4 * GRACE_S).removed == 2
    assert _left(objects) == named
    assert objects.backend.size(pack) is None
    assert verify_store(objects).problems == []
    assert _collect(objects, 9 * GRACE_S).marked == 0


def test_a_publisher_that_needs_what_is_marked_takes_the_mark_away(
    objects: ObjectStore, indexed: Indexed
) -> None:
    push(objects, "org/app", indexed.store, indexed.snapshot, refs=["main"], views=TEXT)
    for path in (head_path("org/app", "main"), snapshot_path("org/app", indexed.snapshot)):
        objects.backend.remove(path)
    marked = _collect(objects, 2 * GRACE_S).marked
    assert marked == len(_left(objects))
    assert (
        push(objects, "org/app", indexed.store, indexed.snapshot, refs=["main"], views=TEXT).sent_bytes == 0
    )
    assert read_collection(objects.backend)[0].paths == ()
    assert _collect(objects, 4 * GRACE_S).removed == 0
    assert verify_store(objects).problems == []


def test_snapshots_that_no_branch_names_are_retired_when_asked_for(
    objects: ObjectStore, indexed: Indexed
) -> None:
    before = indexed.snapshot
    push(objects, "org/app", indexed.store, before, refs=["main"], views=TEXT)
    indexed.repo.commit({"app/more.py": "def more():\n    return 2\n"})
    push(objects, "org/app", indexed.store, indexed.index(), refs=["main"], views=TEXT)

    assert _collect(objects, 2 * GRACE_S).retired == 0
    assert _collect(objects, 2 * GRACE_S, snapshots_s=GRACE_S, dry=True).retired == 1
    assert objects.snapshot("org/app", before) is not None
    assert _collect(objects, 2 * GRACE_S, snapshots_s=GRACE_S).retired == 1
    assert objects.snapshot("org/app", before) is None
    assert _collect(objects, 4 * GRACE_S).removed >= 5
    assert verify_store(objects).problems == []
    assert list(objects.heads("org/app")) == ["main"] and list(objects.snapshots("org/app")) == [
        indexed.snapshot
    ]
    # A snapshot that is published again after it was retired is a snapshot as any other.
    push(objects, "org/app", indexed.store, before, views=TEXT)
    assert set(objects.snapshots("org/app")) == {before, indexed.snapshot}
    assert verify_store(objects).problems == []


def test_a_killed_sweep_is_finished_and_meanwhile_refused(objects: ObjectStore) -> None:
    ref, _ = objects.put(b"marked")
    other, _ = objects.put(b"marked too")
    _collect(objects, 2 * GRACE_S)
    state, version = read_collection(objects.backend)
    now_s = time.time() + 4 * GRACE_S
    begun = CollectionState(generation=1, at_s=now_s, paths=state.paths, sweeper="killed")
    assert swap_collection(objects.backend, begun, version)
    objects.backend.remove(ref.path)

    with pytest.raises(StateError, match="another collection"):
        _collect(objects, 4 * GRACE_S)
    with pytest.raises(ProviderError, match="does not end"):
        SweepGuard(objects.backend, wait_s=0).confirm([other.path])
    assert SweepGuard(objects.backend, wait_s=0).confirm([object_path("0" * 64)])  # not of this sweep
    guard = SweepGuard(objects.backend)
    assert _collect(objects, 4 * GRACE_S + STALE_S + 1).removed == 1
    assert _left(objects) == set()
    assert not guard.confirm([other.path])  # it was there when its publisher looked, and is not any more
    assert guard.confirm([other.path])


def test_nothing_is_collected_where_a_head_cannot_be_followed(objects: ObjectStore) -> None:
    objects.put(b"of a killed writer")
    lost = FleetHead(ObjectRef("0" * 64, 1), "a", None, 0, {})
    objects.move_head(head_path("org/app", "main"), lambda _: lost)
    with pytest.raises(StateError, match="is not in"):
        _collect(objects, 2 * GRACE_S)
    assert len(_left(objects)) == 1


def test_a_folder_loses_the_files_that_killed_writers_left_half_written(tmp_path: Path) -> None:
    objects = ObjectStore.open(tmp_path.as_uri())
    ref, _ = objects.put(b"whole")
    partial = (tmp_path / ref.path).with_name(".abc.1-2.tmp")
    partial.write_bytes(b"hal")
    assert _collect(objects, 0).partials == 0
    assert _collect(objects, 2 * GRACE_S).partials == 1
    assert not partial.exists()


class _Stepped:
    """A backend whose every operation waits until it is chosen."""

    def __init__(self, backend: Backend, turn: Callable[[str], AbstractContextManager[None]]) -> None:
        self._backend = backend
        self._turn = turn

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._backend, name)

        def chosen(*args: Any) -> Any:
            with self._turn(str(args[0])):
                result = method(*args)
                return iter(list(result)) if isinstance(result, Iterator) else result

        return chosen


class _Race:
    """Actors on one store, one operation of one of them at a time, in the order that is drawn."""

    def __init__(self, objects: ObjectStore) -> None:
        self.objects = objects
        self.problems: list[CodenibError] = []
        self._offset_s = 2 * GRACE_S  # so that what is there before the race is old
        self._changed = threading.Condition()
        self._waiting: Counter[int] = Counter()  # operations by actor: its threads may have several
        self._alive: set[int] = set()
        self._chosen: int | None = None
        self._running = 0
        self._confirming: set[int] = set()

    def run(self, actors: list[Callable[[ObjectStore], None]], order: Iterator[int]) -> None:
        self._alive = set(range(len(actors)))
        threads = [threading.Thread(target=self._act, args=row) for row in enumerate(actors)]
        for thread in threads:
            thread.start()
        while True:
            with self._changed:
                self._changed.wait_for(self._all_wait)
                if not self._alive:
                    break
                drawn = next(order, 0)
                # A publisher that was told that its objects stay moves its head within the grace period,
                # and a sweep gives signs.
                swept = read_collection(self.objects.backend)[0].sweeper
                if drawn % 4 == 3 and not self._confirming and not swept:
                    self._offset_s += 2 * GRACE_S
                self._chosen = sorted(self._alive)[drawn // 4 % len(self._alive)]
                self._changed.notify_all()
        for thread in threads:
            thread.join()

    def clock(self) -> float:
        return time.time() + self._offset_s

    def _all_wait(self) -> bool:
        idle = self._chosen is None and not self._running
        return idle and all(self._waiting[number] for number in self._alive)

    def _act(self, number: int, actor: Callable[[ObjectStore], None]) -> None:
        backend: Any = _Stepped(self.objects.backend, lambda path: self._turn(number, path))
        try:
            actor(ObjectStore("memory:///race", backend))
        except CodenibError as error:
            self.problems.append(error)
        finally:
            with self._changed:
                self._alive.discard(number)
                self._confirming.discard(number)
                self._changed.notify_all()

    @contextmanager
    def _turn(self, number: int, path: str) -> Iterator[None]:
        with self._changed:
            self._waiting[number] += 1
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._chosen == number)
            self._chosen = None
            self._waiting[number] -= 1
            self._running += 1
            if path == COLLECTION:
                self._confirming.add(number)
            else:
                self._confirming.discard(number)
        try:
            yield
        finally:
            with self._changed:
                self._running -= 1
                self._changed.notify_all()


def _publish(name: str, parts: tuple[bytes, ...]) -> Callable[[ObjectStore], None]:
    """A publisher with the steps of `push`, for parts that are shared with others."""

    def act(objects: ObjectStore) -> None:
        guard = SweepGuard(objects.backend, wait_s=0.0)
        path = head_path("org/app", name)

        def successor(now: FleetHead | None) -> FleetHead:
            while True:
                refs = {f"p{number}": objects.put(part)[0] for number, part in enumerate(parts)}
                tree, _ = objects.put(b"{}")
                publication = Publication("org/app", name, msgspec.Raw(b"{}"), tree, {"a": refs})
                named, _ = objects.put(msgspec.json.encode(publication))
                if guard.confirm([named.path, tree.path, *(ref.path for ref in refs.values())]):
                    return FleetHead(named, name, None, 0, {})

        objects.move_head(path, successor)

    return act


def _bursts(drawn: random.Random) -> Iterator[int]:
    """Whose turn it is, for some turns each, and whether time passes."""
    while True:
        actor = 4 * drawn.randrange(16)
        yield actor + drawn.randrange(4)
        yield from [actor] * drawn.choice((0, 1, 3, 8, 20))


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 1 << 32), shared=st.integers(0, 2))
def test_no_interleaving_removes_what_a_head_names(seed: int, shared: int) -> None:
    objects = ObjectStore.open(f"memory:///{secrets.token_hex(8)}")
    parts = [f"part {number}".encode() for number in range(3)]
    for part in parts[: shared + 1]:
        objects.put(part)  # of a killed writer: there, and named by nobody
    race = _Race(objects)

    def collector(own: ObjectStore) -> None:
        for _ in range(4):
            collect_store(own, CollectionRules(grace_s=GRACE_S, clock=race.clock))

    race.run(
        [_publish("one", tuple(parts[:2])), collector, _publish("two", tuple(parts[1:])), collector],
        _bursts(random.Random(seed)),
    )
    for head in objects.heads("org/app").values():
        named = objects.publication(head).refs()
        assert all(objects.has(ref) for ref in named.values()), race.problems
    allowed = ("another collection", "does not end")
    assert all(any(what in str(each) for what in allowed) for each in race.problems), race.problems

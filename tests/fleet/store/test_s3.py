"""The store on a real S3 server: conditional puts, races, and what networks do to requests."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.fleet.store.conftest import Indexed
from tests.fleet.store.faulty import dying_pusher
from tests.fleet.store.s3_server import BUCKET, FaultProxy, environment, program, s3_server

from codenib.core.errors import ProviderError
from codenib.core.views import ViewKind
from codenib.fleet.store.cache import LocalCache
from codenib.fleet.store.collect import CollectionRules, collect_store
from codenib.fleet.store.layout import FleetHead, ObjectRef, head_path
from codenib.fleet.store.objects import ObjectStore
from codenib.fleet.store.publish import push
from codenib.fleet.store.reader import FleetReader
from codenib.fleet.store.verify import verify_store

pytestmark = [
    pytest.mark.tools,
    pytest.mark.xdist_group("s3"),
    pytest.mark.skipif(program() is None, reason="versitygw is not installed: make tools"),
]
PATH = head_path("org/app", "main")
TEXT = (ViewKind.LEXICAL, ViewKind.TRIGRAM)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with s3_server(tmp_path_factory.mktemp("s3")) as port:
        yield port


@pytest.fixture(scope="session")
def proxy(server: int) -> Iterator[FaultProxy]:
    faults = FaultProxy(server)
    yield faults
    faults.close()


@pytest.fixture
def url() -> str:
    return f"s3://{BUCKET}/{secrets.token_hex(8)}"


@pytest.fixture
def objects(server: int, url: str, monkeypatch: pytest.MonkeyPatch) -> ObjectStore:
    """A store of its own in the bucket."""
    for name, value in environment(server).items():
        monkeypatch.setenv(name, value)
    return ObjectStore.open(url)


@pytest.fixture
def faulty(
    objects: ObjectStore, proxy: FaultProxy, url: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[ObjectStore]:
    """The same store by way of the proxy."""
    for name, value in environment(proxy.port).items():
        monkeypatch.setenv(name, value)
    yield ObjectStore.open(url)
    proxy.inject("", 0)


def _head(snapshot: str) -> FleetHead:
    return FleetHead(ObjectRef("0" * 64, 1), snapshot, None, 0, {})


def test_a_snapshot_is_pushed_verified_and_read(
    objects: ObjectStore, indexed: Indexed, tmp_path: Path
) -> None:
    pushed = push(objects, "org/app", indexed.store, indexed.snapshot, refs=["main"], views=TEXT)
    assert pushed.sent_objects > 10
    assert (
        push(objects, "org/app", indexed.store, indexed.snapshot, refs=["main"], views=TEXT).sent_objects == 0
    )
    assert verify_store(objects).problems == []
    with FleetReader(objects, LocalCache(tmp_path / "cache", 1 << 30)).open("org/app") as remote:
        assert [line.path for line in remote.regex("class Session")] == ["app/session.py"]


def test_no_update_of_racing_writers_is_lost(objects: ObjectStore) -> None:
    """25 races of 4 (`benchmarks/fleet_store.py` has 1,000): each write goes on from the one before it."""

    def write(writer: int) -> list[int]:
        heads = [objects.move_head(PATH, lambda _: _head(f"{writer}")) for _ in range(25)]
        return [head.generation for head, wrote in heads if head is not None and wrote]

    with ThreadPoolExecutor(4) as pool:
        generations = [number for numbers in pool.map(write, range(4)) for number in numbers]
    assert sorted(generations) == list(range(1, 101))


@pytest.mark.parametrize("fault", ["error", "reset", "lost"])
def test_a_head_moves_once_whatever_happens_to_the_request(
    objects: ObjectStore, faulty: ObjectStore, proxy: FaultProxy, fault: str
) -> None:
    faulty.move_head(PATH, lambda _: _head("before"))
    for times in (1, 3):
        proxy.inject(fault, times, lambda method, path: method == "PUT")
        before = objects.head("org/app", "main")
        assert before is not None
        head, wrote = faulty.move_head(PATH, lambda _: _head("ours"))
        assert wrote
        assert proxy.done == times
        assert head == objects.head("org/app", "main")
        assert head is not None
        assert head.generation == before.generation + 1


@pytest.mark.parametrize("fault", ["error", "reset", "lost", "slow", "cut"])
def test_a_push_and_a_read_survive_a_bad_network(
    objects: ObjectStore, faulty: ObjectStore, proxy: FaultProxy, indexed: Indexed, tmp_path: Path, fault: str
) -> None:
    chosen = iter(range(1 << 30))
    proxy.inject(fault, 12, lambda method, path: next(chosen) % 3 == 0)
    push(faulty, "org/app", indexed.store, indexed.snapshot, refs=["main"], views=TEXT)
    with FleetReader(faulty, LocalCache(tmp_path / "cache", 1 << 30)).open("org/app") as remote:
        assert [line.path for line in remote.regex("class Session")] == ["app/session.py"]
    assert proxy.done == 12
    assert verify_store(objects).problems == []


def killed_at(steps: Sequence[int], objects: ObjectStore, indexed: Indexed, newer: str) -> dict[int, str]:
    """Which snapshot the branch names after a pusher of `newer` was killed at each step; nothing is lost."""
    before, named = indexed.snapshot, {}
    with dying_pusher(indexed.store.folder.name, newer) as push_until:
        for step in steps:
            left = ObjectStore.open(f"{objects.url}/{step}")
            first = push(left, "org/app", indexed.store, before, refs=["main"])
            push_until(step, left.url)
            assert verify_store(left).problems == []
            assert left.snapshot("org/app", before) == first.head
            head = left.head("org/app", "main")
            assert head is not None
            named[step] = head.snapshot
            # Whoever comes next does the rest, and what was left behind is in nobody's way.
            push(left, "org/app", indexed.store, newer, refs=["main"])
            assert verify_store(left).problems == []
    return named


def test_a_pusher_killed_on_s3_loses_nothing_published(objects: ObjectStore, indexed: Indexed) -> None:
    """Killed at its first write, in the middle, and around the moves of both heads."""
    before = indexed.snapshot
    push(objects, "org/app", indexed.store, before, refs=["main"])
    indexed.repo.commit({"app/more.py": "def more():\n    return 2\n"})
    newer = indexed.index()
    writes = push(objects, "org/app", indexed.store, newer, refs=["main"]).sent_objects + 2
    indexed.snapshot = before
    named = killed_at((1, writes // 2, writes - 1, writes, writes + 1), objects, indexed, newer)
    assert list(named.values())[:3] == [before] * 3 and named[writes + 1] == newer


def test_a_collection_on_s3_removes_what_killed_writers_left(objects: ObjectStore, indexed: Indexed) -> None:
    push(objects, "org/app", indexed.store, indexed.snapshot, refs=["main"], views=TEXT)
    left, _ = objects.put(b"of a killed writer")
    now_s = time.time() + 3  # the times of the server have whole seconds
    for after_s in (0.0, 0.0, 20.0):
        assert objects.has(left)
        rules = CollectionRules(grace_s=10.0, clock=lambda after_s=after_s: now_s + 10 + after_s)  # type: ignore[misc]
        report = collect_store(objects, rules)
    assert (report.removed, objects.has(left)) == (1, False)
    assert verify_store(objects).problems == []


def test_a_server_that_is_gone_is_an_error_that_says_so(
    objects: ObjectStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
    with pytest.raises(ProviderError, match="the object store failed"):
        ObjectStore.open(objects.url).head("org/app", "main")

"""Objects are what their names say; heads move one at a time, whatever writers and acknowledgements do."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest
from tests.fleet.store.faulty import LosesAcknowledgements

from codenib.core.errors import InputError, ProviderError, StateError
from codenib.fleet.store.layout import FleetHead, ObjectRef, head_path
from codenib.fleet.store.objects import ObjectStore

PATH = head_path("org/app", "main")


def _head(snapshot: str = "s", views: dict[str, str] | None = None) -> FleetHead:
    return FleetHead(ObjectRef("0" * 64, 1), snapshot, None, 0, views or {})


def test_an_object_is_sent_once(objects: ObjectStore) -> None:
    ref, sent = objects.put(b"content")
    assert sent
    assert objects.put(b"content") == (ref, False)
    assert objects.get(ref) == b"content"


def test_an_object_that_was_cut_short_is_written_again(objects: ObjectStore) -> None:
    ref = ObjectRef.of(b"content")
    objects.backend.overwrite(ref.path, b"cont")
    assert objects.put(b"content") == (ref, True)
    assert objects.get(ref) == b"content"


def test_a_file_that_is_not_what_it_was_is_not_sent(objects: ObjectStore, tmp_path: Path) -> None:
    file = tmp_path / "part"
    file.write_bytes(b"rotten!")
    with pytest.raises(StateError, match="damaged"):
        objects.put(file, ObjectRef.of(b"content"))
    assert not objects.has(ObjectRef.of(b"content"))


def test_other_bytes_are_an_error_and_leave_no_file(objects: ObjectStore, tmp_path: Path) -> None:
    ref = ObjectRef.of(b"content")
    for wrong in (b"CONTENT", b"cont", b"content and more"):
        objects.backend.overwrite(ref.path, wrong)
        with pytest.raises(StateError):
            objects.get(ref)
        with pytest.raises(StateError, match="damaged"):
            objects.download(ref, tmp_path / "out" / "part")
        assert not list((tmp_path / "out").iterdir())


def test_an_object_that_is_not_there_is_named(objects: ObjectStore, tmp_path: Path) -> None:
    with pytest.raises(StateError, match="is not in"):
        objects.download(ObjectRef.of(b"content"), tmp_path / "part")


def test_repositories_and_branches_are_listed_by_their_names(objects: ObjectStore) -> None:
    for repository, ref in (("org/app", "main"), ("org/app", "feature/x.y"), ("other", "main")):
        objects.move_head(head_path(repository, ref), lambda _: _head())
    assert objects.repositories() == ["org/app", "other"]
    assert sorted(objects.heads("org/app")) == ["feature/x.y", "main"]
    objects.remove_head("org/app", "main")
    assert objects.head("org/app", "main") is None


@pytest.mark.parametrize("name", ["", "../x", "a/../b", "a//b", "/a", "a b", "a\n", ".", "x" * 300, "a/"])
def test_a_name_that_is_a_way_out_is_refused(name: str) -> None:
    with pytest.raises(InputError):
        head_path(name, "main")


@pytest.mark.parametrize("ref", ["..", "a/../../b", ".hidden"])
def test_any_branch_is_one_segment(ref: str) -> None:
    assert head_path("app", ref).startswith("v1/repos/app/heads/%2E") or "/" not in head_path("app", ref)[20:]


@pytest.mark.parametrize(
    "url", ["", "/srv/x", "ftp://host/x", "file://host/x", "s3://user:secret@bucket/x", "s3://b/x?y=1"]
)
def test_what_is_no_store_is_refused(url: str) -> None:
    with pytest.raises(InputError):
        ObjectStore.open(url)


def test_a_bucket_without_the_library_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "obstore", None)
    with pytest.raises(InputError, match="needs the library obstore") as error:
        ObjectStore.open("s3://bucket/prefix")
    assert error.value.hint == "pip install 'codenib-views[fleet]'"


def test_a_head_that_cannot_be_read_is_an_error(objects: ObjectStore) -> None:
    objects.backend.overwrite(PATH, b"{")
    with pytest.raises(StateError, match="cannot be read"):
        objects.head("org/app", "main")


def test_of_concurrent_writers_exactly_one_wins_each_race(objects: ObjectStore) -> None:
    """1,000 races of 4: each wants to write the generation that follows what all have read.

    In a folder a loser waits for the lock: `benchmarks/fleet_store.py` has the 1,000 there, and on S3.
    """
    writers, races = 4, 1000 if objects.url.startswith("memory") else 50
    start = threading.Barrier(writers)
    wins: list[list[int]] = [[] for _ in range(races)]

    def write(writer: int) -> None:
        for race in range(races):
            start.wait()
            stored = objects.backend.read(PATH)
            head = msgspec.json.decode(stored[0], type=FleetHead) if stored else None
            start.wait()
            after = _head(f"{race}-{writer}").after(head, f"{race}-{writer}")
            if objects.backend.replace(PATH, msgspec.json.encode(after), stored[1] if stored else ""):
                wins[race].append(writer)

    with ThreadPoolExecutor(writers) as pool:
        list(pool.map(write, range(writers)))
    assert {len(winners) for winners in wins} == {1}
    head = objects.head("org/app", "main")
    assert head is not None
    assert (head.generation, head.snapshot) == (races, f"{races - 1}-{wins[-1][0]}")


def test_no_update_of_many_writers_is_lost(objects: ObjectStore) -> None:
    def add(number: int) -> None:
        def successor(now: FleetHead | None) -> FleetHead:
            return _head(views={**(now.views if now else {}), str(number): "there"})

        assert objects.move_head(PATH, successor)[1]

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(add, range(60)))
    head = objects.head("org/app", "main")
    assert head is not None
    assert head.generation == 60
    assert head.views.keys() == {str(number) for number in range(60)}


@pytest.fixture
def lossy(objects: ObjectStore) -> Iterator[LosesAcknowledgements]:
    yield LosesAcknowledgements(objects.backend)


@pytest.mark.parametrize("others", [0, 1, 3])
def test_a_write_whose_acknowledgement_was_lost_is_not_repeated(
    objects: ObjectStore, lossy: LosesAcknowledgements, others: int
) -> None:
    def meanwhile() -> None:  # writers who go on from ours before we look
        for number in range(others):
            objects.move_head(PATH, lambda _, number=number: _head(f"other-{number}"))  # type: ignore[misc]

    lossy.lose, lossy.meanwhile = 1, meanwhile
    asked = []

    def successor(now: FleetHead | None) -> FleetHead:
        asked.append(now)
        return _head("ours")

    head, wrote = ObjectStore("lossy", lossy).move_head(PATH, successor)
    assert wrote
    assert asked == [None]  # once: it saw that it had written
    assert head is not None
    assert head.generation == 1 + others


def test_a_store_that_never_answers_is_an_error(objects: ObjectStore, lossy: LosesAcknowledgements) -> None:
    lossy.lose, lossy.writes = 1000, False
    with pytest.raises(ProviderError):
        ObjectStore("lossy", lossy).move_head(PATH, lambda _: _head("ours"))
    assert objects.head("org/app", "main") is None

"""`verify` follows every head, and names what is missing, damaged or does not belong together."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from tests.fleet.store.conftest import Indexed

from codenib.core.errors import StateError
from codenib.core.views import ViewKind
from codenib.fleet.store.layout import ObjectRef, head_path
from codenib.fleet.store.objects import ObjectStore
from codenib.fleet.store.publish import push
from codenib.fleet.store.records import RecordPacks
from codenib.fleet.store.verify import verify_store
from codenib.manifest.cache import RecordCache

TEXT = (ViewKind.LEXICAL, ViewKind.TRIGRAM)


@pytest.fixture
def parts(objects: ObjectStore, indexed: Indexed) -> list[ObjectRef]:
    pushed = push(objects, "org/app", indexed.store, indexed.snapshot, refs=["main"], views=TEXT)
    return list(objects.publication(pushed.head).refs().values())


def test_what_was_pushed_is_whole(objects: ObjectStore, parts: list[ObjectRef], tmp_path: Path) -> None:
    cache = RecordCache(tmp_path / "records.sqlite")
    cache.put([(bytes(16), b"record")])
    RecordPacks(objects, "records").push([bytes(16)], cache)
    cache.close()
    report = verify_store(objects)
    assert (report.problems, report.heads, report.publications, report.packs) == ([], 2, 2, 1)
    assert report.objects == len(parts) + 1
    assert report.unreferenced == 0


def test_a_store_that_is_not_there_is_an_error(objects: ObjectStore) -> None:
    with pytest.raises(StateError, match="nothing is published at"):
        verify_store(objects)


def test_an_object_that_is_gone_or_cut_short_is_named_without_reading(
    objects: ObjectStore, parts: list[ObjectRef]
) -> None:
    gone, short = sorted(parts[1:], key=lambda part: part.size)[-2:]
    objects.backend.remove(gone.path)
    objects.backend.overwrite(short.path, b"x")
    problems = verify_store(objects, sample=0.0).problems
    assert any(gone.digest in problem and "missing" in problem for problem in problems)
    assert any(short.digest in problem and "1 of" in problem for problem in problems)


def test_other_bytes_of_the_same_size_are_named_by_reading(
    objects: ObjectStore, parts: list[ObjectRef]
) -> None:
    ref = max(parts, key=lambda part: part.size)
    objects.backend.overwrite(ref.path, bytes(ref.size))
    assert f"object {ref.digest}: other bytes than its name says" in verify_store(objects).problems


def test_a_head_of_another_snapshot_or_of_nothing_is_named(
    objects: ObjectStore, parts: list[ObjectRef]
) -> None:
    head = objects.head("org/app", "main")
    assert head is not None
    path = head_path("org/app", "main")
    objects.backend.overwrite(path, msgspec.json.encode(msgspec.structs.replace(head, snapshot="0" * 32)))
    objects.backend.overwrite(head_path("org/app", "broken"), b"[]")
    missing = msgspec.structs.replace(head, publication=ObjectRef("0" * 64, 5))
    objects.backend.overwrite(head_path("org/app", "empty"), msgspec.json.encode(missing))
    problems = "\n".join(verify_store(objects).problems)
    assert "main: its publication is of snapshot" in problems
    assert "heads/broken cannot be read" in problems
    assert "heads/empty: object 000000" in problems


def test_a_damaged_pack_is_named(objects: ObjectStore, tmp_path: Path) -> None:
    cache = RecordCache(tmp_path / "records.sqlite")
    cache.put([(bytes(16), b"record")])
    RecordPacks(objects, "embeddings").push([bytes(16)], cache)
    cache.close()
    ((path, size, _),) = objects.backend.list("v1/embeddings/packs")
    objects.backend.overwrite(path, bytes(size))
    (problem,) = verify_store(objects).problems
    assert "pack" in problem
    assert "embeddings" in problem

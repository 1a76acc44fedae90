"""Records of one machine reach another through packs."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

import pytest
from tests.fleet.store.conftest import Indexed

from codenib.core.errors import StateError
from codenib.core.views import ViewKind
from codenib.fleet.store.objects import ObjectStore
from codenib.fleet.store.records import RecordPacks, encode_pack, pack_keys, snapshot_keys
from codenib.manifest.cache import RecordCache, record_key
from codenib.serving.workspace import Workspace


@pytest.fixture
def objects() -> ObjectStore:
    return ObjectStore.open(f"memory:///{secrets.token_hex(4)}")


def _cache(folder: Path, rows: dict[bytes, bytes]) -> RecordCache:
    cache = RecordCache(folder / "records.sqlite")
    cache.put(list(rows.items()))
    return cache


def _rows(first: int, count: int) -> dict[bytes, bytes]:
    return {
        record_key("units", "1", f"{number:040d}", "python"): b"%d" % number * 50
        for number in range(first, first + count)
    }


def test_records_that_one_machine_derived_come_to_another(tmp_path: Path, objects: ObjectStore) -> None:
    rows = _rows(0, 100)
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    derived = _cache(tmp_path / "a", rows)
    assert RecordPacks(objects, "records").push(list(rows), derived) == 100
    derived.close()

    other = RecordCache(tmp_path / "b" / "records.sqlite")
    packs = RecordPacks(objects, "records")
    packs.refresh()
    absent = _rows(1000, 3)
    assert packs.missing([*rows, *absent]) == set(absent)
    some = list(rows)[10:20]
    assert packs.pull([*some, *absent], other) == 10
    assert list(other.get(some)) == [rows[key] for key in some]
    assert packs.pull(list(rows), other) == 90  # what is here does not come again
    other.close()


def test_a_record_that_the_fleet_has_is_not_sent_again(tmp_path: Path, objects: ObjectStore) -> None:
    rows, more = _rows(0, 20), _rows(10, 20)
    cache = _cache(tmp_path, {**rows, **more})
    assert RecordPacks(objects, "records").push(list(rows), cache) == 20
    packs = RecordPacks(objects, "records", tmp_path / "keys")
    packs.refresh()
    assert packs.push(list(more), cache) == 10
    again = RecordPacks(objects, "records", tmp_path / "keys")
    again.refresh()
    assert again.push(list({**rows, **more}), cache) == 0
    cache.close()


def test_a_damaged_pack_is_an_error_not_a_record(tmp_path: Path, objects: ObjectStore) -> None:
    rows = _rows(0, 5)
    cache = _cache(tmp_path, rows)
    packs = RecordPacks(objects, "records")
    packs.push(list(rows), cache)
    cache.close()
    ((path, size, _),) = objects.backend.list("v1/records/packs")
    objects.backend.overwrite(path, os.urandom(size))
    with RecordCacheIn(tmp_path / "other") as other, pytest.raises(StateError, match="cannot be read"):
        packs.pull(list(rows), other)


def test_the_table_of_a_pack_must_fit_its_length() -> None:
    pack = encode_pack([(bytes(16), b"abc")])
    assert pack_keys(pack).tolist() == [0]
    for broken in (pack[:-1], pack + b"x", pack[:20], b"", b"codenib\1" + b"\xff" * 4):
        with pytest.raises(ValueError, match=r"it is|table"):
            pack_keys(broken)


def test_a_second_machine_derives_nothing_that_the_first_derived(
    objects: ObjectStore, indexed: Indexed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest = indexed.store.manifest(indexed.snapshot)
    assert manifest is not None
    snapshot = indexed.store.snapshot(manifest, "app")
    keys = snapshot_keys(snapshot)
    cache = indexed.store.open_cache()
    assert cache.missing(keys) == set()
    assert RecordPacks(objects, "records").push(keys, cache) == len(keys) == 9  # 3 files, 3 records each
    cache.close()

    monkeypatch.setenv("CODENIB_HOME", str(tmp_path / "other home"))
    packs = RecordPacks(objects, "records")
    packs.refresh()
    with Workspace(indexed.repo.path) as workspace:
        other = RecordCache(tmp_path / "other home" / "v1" / "records.sqlite")
        assert packs.pull(keys, other) == 9
        other.close()
        outcome = workspace.index((ViewKind.LEXICAL, ViewKind.TRIGRAM))
        assert outcome.derived == 0


class RecordCacheIn(RecordCache):
    """A cache in a new folder, for a `with`."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        super().__init__(folder / "records.sqlite")

    def __enter__(self) -> RecordCache:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from codenib.core.errors import StateError
from codenib.manifest.cache import RecordCache, record_key


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[RecordCache]:
    with closing(RecordCache(tmp_path / "records.sqlite")) as opened:
        yield opened


def test_records_come_back_in_the_order_of_their_keys(cache: RecordCache) -> None:
    cache.put([(b"a", b"1"), (b"b", b"2")])
    assert list(cache.get([b"b", b"x", b"a"])) == [b"2", None, b"1"]


def test_missing_names_what_has_no_record_over_many_batches(cache: RecordCache) -> None:
    keys = [record_key("units", "1", str(number), "python") for number in range(1300)]
    cache.put([(key, b"") for key in keys[::2]])
    assert cache.missing(keys) == set(keys[1::2])


def test_each_part_of_the_name_tells_records_apart() -> None:
    names = [("a", "b", "c", "d"), ("ab", "", "c", "d"), ("a", "b", "cd", ""), ("a", "bc", "", "d")]
    assert len({record_key(*name) for name in names}) == len(names)


def test_the_last_writer_wins(cache: RecordCache) -> None:
    cache.put([(b"a", b"skipped by a worker that was killed")])
    cache.put([(b"a", b"derived anew")])
    assert list(cache.get([b"a"])) == [b"derived anew"]


def test_keep_only_drops_every_other_record(cache: RecordCache) -> None:
    cache.put([(bytes([number]), b"x" * 1000) for number in range(100)])
    assert cache.keep_only({bytes([7])}) == 99
    assert cache.missing([bytes([7]), bytes([8])]) == {bytes([8])}


def test_two_processes_share_the_records(cache: RecordCache, tmp_path: Path) -> None:
    cache.put([(b"a", b"1")])
    with closing(RecordCache(tmp_path / "records.sqlite")) as other:
        assert list(other.get([b"a"])) == [b"1"]
        other.put([(b"b", b"2")])
    assert list(cache.get([b"b"])) == [b"2"]


def test_many_first_comers_create_one_cache(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from codenib.manifest.cache import RecordCache\n"
        "sys.stdin.readline(); cache = RecordCache(Path(sys.argv[1]))\n"
        "cache.put([(sys.argv[2].encode(), b'x')]); cache.close()"
    )
    path = tmp_path / "records.sqlite"
    comers = [
        subprocess.Popen([sys.executable, "-c", code, str(path), str(number)], stdin=subprocess.PIPE)
        for number in range(6)
    ]
    for comer in comers:
        assert comer.stdin is not None
        comer.stdin.close()
    assert [comer.wait() for comer in comers] == [0] * 6
    with closing(RecordCache(path)) as cache:
        assert cache.missing([str(number).encode() for number in range(6)]) == set()


def test_a_file_that_is_no_database_is_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "records.sqlite"
    path.write_bytes(b"not a database, and longer than the header of one" * 100)
    with closing(RecordCache(path)) as cache:
        cache.put([(b"key", b"record")])
        assert list(cache.get([b"key"])) == [b"record"]


def test_a_record_that_is_not_what_was_stored_counts_as_absent(tmp_path: Path) -> None:
    path = tmp_path / "records.sqlite"
    with closing(RecordCache(path)) as cache:
        cache.put([(b"key", b"record"), (b"other", b"record")])
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE records SET data = x'0011223344' WHERE key = ?", (b"key",))
    with closing(RecordCache(path)) as cache:
        assert list(cache.get([b"key", b"other"])) == [None, b"record"]


def test_a_file_that_cannot_be_opened_is_not_called_damaged(tmp_path: Path) -> None:
    path = tmp_path / "records.sqlite"
    path.mkdir()
    with pytest.raises(StateError, match="unable to open") as caught:
        RecordCache(path)
    assert "rm" not in caught.value.hint


def test_damage_inside_is_found_by_the_doctor_and_dropped_on_the_way(tmp_path: Path) -> None:
    path = tmp_path / "records.sqlite"
    keys = [bytes([number]) for number in range(200)]
    with closing(RecordCache(path)) as cache:
        assert cache.healthy()
        cache.put([(key, key * 3000) for key in keys])
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * 4096 * 8)
    with closing(RecordCache(path)) as cache:
        assert not cache.healthy()
        assert set(cache.get(keys)) == {None}
        cache.put([(keys[0], b"again")])
        assert list(cache.get(keys[:1])) == [b"again"]

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from codenib.compiler.compiler import silent
from codenib.compiler.records.derive import CachedRecords, derive_blob
from codenib.compiler.records.workers import CRASHED
from codenib.core.source import BlobUnits, SourceFile
from codenib.manifest.cache import RecordCache
from codenib.snapshot.blobs import BlobSource, LocalBlobs, blob_digest
from codenib.units.record import decode_units


@dataclass(frozen=True)
class Shout:
    """Upper case; raises over a blob that says `poison`."""

    name: str = "shout"
    version: str = "1"
    error: type[Exception] = RuntimeError

    def derive(self, data: bytes, units: BlobUnits) -> bytes:
        if b"poison" in data:
            raise self.error("poison")
        return data.upper()


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[RecordCache]:
    with closing(RecordCache(tmp_path / "records.sqlite")) as opened:
        yield opened


@pytest.fixture
def source(tmp_path: Path) -> BlobSource:
    return BlobSource(None, str(tmp_path / "blobs.sqlite"))


def store(source: BlobSource, path: str, data: bytes) -> SourceFile:
    with closing(LocalBlobs(Path(source.store))) as local:
        local.put_many([(blob_digest(data), data)])
    return SourceFile(path, blob_digest(data))


def records_of(cache: RecordCache, source: BlobSource, *, anew: bool = False) -> CachedRecords:
    return CachedRecords(cache, source, {"shout": Shout()}, silent, anew=anew)


def test_a_blob_is_derived_once_however_many_files_have_it(cache: RecordCache, source: BlobSource) -> None:
    files = [store(source, path, b"hello\n") for path in ("a.txt", "b.txt", "c/a.txt")]
    with closing(records_of(cache, source)) as records:
        assert list(records.fetch("shout", files)) == [b"HELLO\n"] * 3
        assert records.derived == 1
    with closing(records_of(cache, source)) as later:
        assert list(later.fetch("shout", files)) == [b"HELLO\n"] * 3
        assert later.derived == 0


def test_the_language_hint_tells_equal_blobs_apart(cache: RecordCache, source: BlobSource) -> None:
    files = [store(source, "a.py", b"x = 1\n"), store(source, "a.md", b"x = 1\n")]
    with closing(records_of(cache, source)) as records:
        assert [units.language for units in records.units(files)] == ["python", "markdown"]
        assert records.derived == 2


def test_anew_derives_what_the_cache_holds_and_replaces_it(cache: RecordCache, source: BlobSource) -> None:
    file = store(source, "a.txt", b"hello\n")
    with closing(records_of(cache, source)) as records:
        records.prepare([file])
    cache.put([(key, b"wrong") for key in _keys(cache)])
    with closing(records_of(cache, source, anew=True)) as records:
        assert list(records.fetch("shout", [file])) == [b"HELLO\n"]
        assert list(records.fetch("shout", [file])) == [b"HELLO\n"]
        assert records.derived == 1


def _keys(cache: RecordCache) -> list[bytes]:
    from codenib.compiler.records.derive import UNITS
    from codenib.manifest.cache import record_key
    from codenib.units.languages import language_hint, units_version

    digest = blob_digest(b"hello\n")
    names = (("shout", "1"), (UNITS, units_version()))
    keys = [record_key(name, version, digest, language_hint("a.txt")) for name, version in names]
    assert not cache.missing(keys)
    return keys


def test_a_blob_that_makes_a_deriver_raise_is_skipped_alone(cache: RecordCache, source: BlobSource) -> None:
    files = [store(source, "a.txt", b"hello\n"), store(source, "b.txt", b"poison\n")]
    with closing(records_of(cache, source)) as records:
        assert [units.skip for units in records.units(files)] == ["", CRASHED]
        assert list(records.fetch("shout", files)) == [b"HELLO\n", b""]
        assert list(records.blobs(files)) == [b"hello\n", b""]


def test_a_lack_of_memory_says_nothing_of_the_blob() -> None:
    with pytest.raises(MemoryError):
        derive_blob(b"poison", "python", [Shout(error=MemoryError)])


def test_a_skipped_blob_has_empty_records() -> None:
    rows = dict(derive_blob(b"\0binary", "python", [Shout()]))
    assert rows["shout"] == b""
    assert decode_units(rows["units"]).skip == "binary"


def test_a_missing_object_is_asked_for_again_by_the_next_build(
    cache: RecordCache, source: BlobSource
) -> None:
    file = SourceFile("a.txt", blob_digest(b"late\n"))
    with closing(records_of(cache, source)) as records:
        assert [units.skip for units in records.units([file])] == ["missing object"]
        assert records.derived == 0
    store(source, "a.txt", b"late\n")
    with closing(records_of(cache, source)) as records:
        assert list(records.fetch("shout", [file])) == [b"LATE\n"]

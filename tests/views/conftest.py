"""In-memory sources for the tests of views: files in, snapshots, deltas and derived records out."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence

import pytest

from codenib.core.protocols import Deriver
from codenib.core.source import BlobUnits, Delta, SourceFile, SourceSnapshot


class Sources:
    """A fake of `Records` that derives on demand from the blobs that `snapshot` has seen.

    `blob_units` holds the units of a digest where a test sets them; a blob whose units say `skip` gives empty
    records and bytes, as the real store does.
    """

    def __init__(self) -> None:
        self.blob_data: dict[str, bytes] = {}
        self.blob_units: dict[str, BlobUnits] = {}
        self.derivers: dict[str, Deriver] = {}

    def use(self, derivers: Sequence[Deriver]) -> Sources:
        self.derivers.update({deriver.name: deriver for deriver in derivers})
        return self

    def snapshot(self, files: Mapping[str, bytes], skipped: Sequence[str] = ()) -> SourceSnapshot:
        """A snapshot of `files`; the content of the paths in `skipped` counts as not indexed."""
        digests = {path: hashlib.sha1(data).hexdigest() for path, data in files.items()}
        self.blob_data.update({digests[path]: data for path, data in files.items()})
        for path in skipped:
            self.blob_units[digests[path]] = BlobUnits("", 0, skip="binary")
        return SourceSnapshot("memory", None, True, digests)

    def fetch(self, deriver: str, files: Sequence[SourceFile]) -> Iterator[bytes]:
        for file, units in zip(files, self.units(files), strict=True):
            derive = self.derivers[deriver].derive
            yield b"" if units.skip else derive(self.blob_data[file.digest], units)

    def units(self, files: Sequence[SourceFile]) -> Iterator[BlobUnits]:
        for file in files:
            lines = self.blob_data[file.digest].count(b"\n") + 1
            yield self.blob_units.get(file.digest, BlobUnits("text", lines))

    def blobs(self, files: Sequence[SourceFile]) -> Iterator[bytes]:
        for file, units in zip(files, self.units(files), strict=True):
            yield b"" if units.skip else self.blob_data[file.digest]


def delta_between(before: SourceSnapshot, after: SourceSnapshot) -> Delta:
    """What turns the files of `before` into those of `after`."""
    old, new = before.files, after.files
    return Delta(
        before.id,
        after.id,
        tuple(SourceFile(path, new[path]) for path in sorted(new.keys() - old.keys())),
        tuple(SourceFile(path, new[path]) for path in sorted(new) if old.get(path, new[path]) != new[path]),
        tuple(sorted(old.keys() - new.keys())),
    )


@pytest.fixture
def sources() -> Sources:
    return Sources()

"""Blobs in, their missing records into the cache; in worker processes when there is enough to do."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing

from codenib.compiler.records.workers import crashed, derive_in_workers
from codenib.core.protocols import BlobReader, Deriver, Progress
from codenib.core.source import DEFAULT_SETTINGS, BlobUnits, SourceFile, SourceSettings
from codenib.manifest.cache import RecordCache, record_key
from codenib.snapshot.blobs import Blobs, BlobSource
from codenib.units.encoding import as_utf8
from codenib.units.extract import extract, source_text
from codenib.units.languages import units_version
from codenib.units.record import decode_units, encode_units
from codenib.units.rules import rules_of

UNITS = "units"
_INLINE_BLOBS = 48  # starting two workers costs about what deriving this many blobs does
_PUT_BLOBS = 256

#: a blob to derive from: digest and language hint
Job = tuple[str, str]
#: what came of it: the records by deriver name
Derived = list[tuple[str, bytes]]


def derive_blob(data: bytes, hint: str, derivers: Sequence[Deriver]) -> Derived:
    """All records of one blob; a skipped blob has an empty record for all but its units."""
    try:
        data = as_utf8(data)
        units = extract(data, hint)
        text = source_text(data, hint)
        rows = [(UNITS, encode_units(units))]
        rows.extend((each.name, b"" if units.skip else each.derive(text, units)) for each in derivers)
    except MemoryError:  # says nothing of the blob
        raise
    except Exception:  # noqa: BLE001 - whatever a stranger's file does to a parser, it alone is skipped
        return crashed(each.name for each in derivers)
    return rows


class CachedRecords:
    """The `Records` of a build: whatever is not in the cache is derived on the way, once.

    With `anew`, what the cache holds from before is derived again and replaced.
    """

    def __init__(
        self,
        cache: RecordCache,
        source: BlobSource,
        derivers: Mapping[str, Deriver],
        progress: Progress,
        *,
        anew: bool = False,
        settings: SourceSettings = DEFAULT_SETTINGS,
    ) -> None:
        self._anew = anew
        self._language = rules_of(settings).language
        self._cache = cache
        self._source = source
        self._derivers = derivers
        self._progress = progress
        self._versions = {UNITS: units_version(), **{name: d.version for name, d in derivers.items()}}
        self._reader: Blobs | None = None
        self._ready: set[Job] = set()
        self._lacking: set[Job] = set()  # whose object git does not have
        self.derived = 0

    def close(self) -> None:
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    def prepare(self, files: Sequence[SourceFile]) -> None:
        """Derive what is missing for these files."""
        wanted = {(file.digest, self._language(file.path)): None for file in files}
        unready = [job for job in wanted if job not in self._ready]
        jobs = unready if self._anew else self._missing(unready)
        if jobs:
            self._derive(jobs)
        self._ready.update(wanted)  # only now: what failed half-way must not look derived to the next view

    def fetch(self, deriver: str, files: Sequence[SourceFile]) -> Iterator[bytes]:
        self.prepare(files)
        return (record or b"" for record in self._read(deriver, files))

    def units(self, files: Sequence[SourceFile]) -> Iterator[BlobUnits]:
        self.prepare(files)
        return (
            decode_units(record) if record else BlobUnits("", 0, skip="missing object")
            for record in self._read(UNITS, files)
        )

    def _read(self, name: str, files: Sequence[SourceFile]) -> Iterator[bytes | None]:
        """The record of each file; one that was damaged in the cache is derived again, for everybody."""
        for file in files:
            job = file.digest, self._language(file.path)
            key = self._key(name, *job)
            record = next(self._cache.get([key]))
            if record is None and job not in self._lacking:
                self._derive([job])
                record = next(self._cache.get([key]))
            yield record

    def blobs(self, files: Sequence[SourceFile]) -> Iterator[bytes]:
        indexed = [not units.skip for units in self.units(files)]
        # What is skipped is not read: it may be large, or the very object that cannot be read.
        wanted = [file.digest for file, keep in zip(files, indexed, strict=True) if keep]
        data = self._open_reader().read(wanted)
        for file, keep in zip(files, indexed, strict=True):
            yield source_text(as_utf8(next(data) or b""), self._language(file.path)) if keep else b""
        next(data, None)  # lets the reader hand its process back

    def _derive(self, jobs: Sequence[Job]) -> None:
        results = (
            self._derive_here(jobs)
            if len(jobs) <= _INLINE_BLOBS
            else derive_in_workers(jobs, self._source, list(self._derivers))
        )
        rows: list[tuple[bytes, bytes]] = []
        with closing(results):
            for done, ((digest, hint), derived) in enumerate(results, 1):
                rows.extend((self._key(name, digest, hint), record) for name, record in derived)
                self.derived += bool(derived)
                if not derived:
                    self._lacking.add((digest, hint))
                if done % _PUT_BLOBS == 0:
                    self._cache.put(rows)
                    rows.clear()
                self._progress("reading", done, len(jobs))
        self._cache.put(rows)

    def _missing(self, jobs: Sequence[Job]) -> list[Job]:
        keys = {(job, name): self._key(name, *job) for job in jobs for name in self._versions}
        absent = self._cache.missing(list(keys.values()))
        return [job for job in jobs if any(keys[job, name] in absent for name in self._versions)]

    def _derive_here(self, jobs: Sequence[Job]) -> Generator[tuple[Job, Derived]]:
        return derive_jobs(jobs, self._open_reader(), list(self._derivers.values()))

    def _open_reader(self) -> Blobs:
        if self._reader is None:
            self._reader = self._source.open()
        return self._reader

    def _key(self, name: str, digest: str, hint: str) -> bytes:
        return record_key(name, self._versions[name], digest, hint)


def derive_jobs(
    jobs: Sequence[Job], reader: BlobReader, derivers: Sequence[Deriver]
) -> Generator[tuple[Job, Derived]]:
    """Derive each job; a blob whose object is missing derives nothing, and is asked for again next time."""
    for job, data in zip(jobs, reader.read([digest for digest, _ in jobs]), strict=True):
        yield job, [] if data is None else derive_blob(data, job[1], derivers)

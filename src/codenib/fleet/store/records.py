"""Derived records in, packs of them for the whole fleet out; keys in, records that some machine derived out.

A pack is one object with many records. Beside it stands a much smaller one with the first eight bytes of each
of its keys: a machine reads those of the packs that it does not know yet, and so knows which records exist
and where. A key is looked up in full in the pack itself.

pack:  "codenib\1", count (u32), count rows (key 16 bytes, u32 length), the records, each deflated
keys:  count times u64, sorted
"""

from __future__ import annotations

import struct
import zlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from codenib.compiler.records.derive import UNITS
from codenib.compiler.registry import DEFAULT_VIEWS, derivers_of
from codenib.core.errors import StateError
from codenib.core.source import SourceSnapshot
from codenib.fleet.store.layout import DIGEST, FORM, ObjectRef
from codenib.fleet.store.objects import ObjectStore
from codenib.fleet.store.sweep_guard import SweepGuard
from codenib.manifest.cache import record_key
from codenib.units.languages import units_version
from codenib.units.rules import rules_of

_MAGIC = b"codenib\1"
_COUNT = struct.Struct("<I")
_ROW = np.dtype([("key", "V16"), ("length", "<u4")])
_START = len(_MAGIC) + _COUNT.size
#: A pack has at most so many bytes: a fresh machine asks for pieces of it, a damaged one costs no more.
_PACK_BYTES = 32 << 20
_MOST_BYTES = 64 << 20  # of one record, once inflated
_THREADS = 8
_HINT = "codenib fleet verify --store URL"


class RecordRows(Protocol):
    """Where records of this machine are: a `RecordCache`, also that of the embeddings."""

    def get(self, keys: Sequence[bytes]) -> Iterator[bytes | None]: ...

    def missing(self, keys: Sequence[bytes]) -> set[bytes]: ...

    def put(self, rows: Sequence[tuple[bytes, bytes]]) -> None: ...


class RecordPacks:
    """The packs of one kind (`records`, `embeddings`) in a fleet's store.

    `folder` remembers the key lists on this machine; without it they are read once by each process.
    """

    def __init__(self, objects: ObjectStore, kind: str, folder: Path | None = None) -> None:
        self._objects = objects
        self._prefix = f"{FORM}/{kind}"
        self._folder = folder
        self._lists: dict[str, NDArray[np.uint64]] = {}  # by pack

    def refresh(self) -> None:
        """Learn of the packs that others wrote since."""
        prefix = f"{self._prefix}/keys/"
        names = [stored.path.rpartition("/")[2] for stored in self._objects.backend.list(prefix)]
        unknown = [name for name in names if name not in self._lists and DIGEST.fullmatch(name)]
        with ThreadPoolExecutor(_THREADS) as pool:
            for name, keys in zip(unknown, pool.map(self._read_keys, unknown), strict=True):
                self._lists[name] = keys

    def missing(self, keys: Sequence[bytes]) -> set[bytes]:
        """Those of `keys` that no known pack has; exact but for a chance of one in 2⁶⁴ a pair of keys."""
        known = set().union(*self._by_pack(keys).values()) if keys else set()
        return set(keys) - known

    def push(self, keys: Sequence[bytes], cache: RecordRows) -> int:
        """Pack those records of this machine that no known pack has; how many went."""
        absent = sorted(self.missing(keys) - cache.missing(list(keys)))
        sent = 0
        rows: list[tuple[bytes, bytes]] = []
        size = 0
        for key, data in zip(absent, cache.get(absent), strict=True):
            if data is None:  # damaged here
                continue
            rows.append((key, zlib.compress(data, 1)))
            size += len(rows[-1][1])
            if size >= _PACK_BYTES:
                sent += self._send(rows)
                rows, size = [], 0
        return sent + (self._send(rows) if rows else 0)

    def pull(self, keys: Sequence[bytes], cache: RecordRows) -> int:
        """Bring records that this machine lacks and some known pack has; how many came."""
        wanted = self._by_pack(sorted(cache.missing(list(keys))))
        came: dict[bytes, bytes] = {}
        with ThreadPoolExecutor(_THREADS) as pool:
            for rows in pool.map(lambda item: self._read(*item), wanted.items()):
                came.update(rows)
        cache.put(list(came.items()))
        return len(came)

    def _send(self, rows: Sequence[tuple[bytes, bytes]]) -> int:
        pack = encode_pack(rows)
        ref = ObjectRef.of(pack)
        keys = _prefixes([key for key, _ in rows])
        keys.sort()
        backend, path = self._objects.backend, f"{self._prefix}/packs/{ref.digest}"
        guard = SweepGuard(backend)
        backend.create(path, pack)  # named by its content: once is enough
        while not guard.confirm([path]):
            backend.create(path, pack)
        backend.create(f"{self._prefix}/keys/{ref.digest}", keys.tobytes())  # now others may look into it
        self._lists[ref.digest] = keys
        return len(rows)

    def _by_pack(self, keys: Sequence[bytes]) -> dict[str, list[bytes]]:
        """For each pack the keys to get from it; each key from one."""
        chosen: dict[str, list[bytes]] = defaultdict(list)
        left = np.array(list(keys), dtype="V16")
        for pack, known in self._lists.items():
            if not len(left):
                break
            if len(known):
                prefixes = _prefixes(left)
                places = np.minimum(np.searchsorted(known, prefixes), len(known) - 1)
                there = known[places] == prefixes
                if there.any():
                    chosen[pack] = [bytes(key) for key in left[there]]
                    left = left[~there]
        return dict(chosen)

    def _read(self, pack: str, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Some records of a pack: its table, then pieces of it."""
        path = f"{self._prefix}/packs/{pack}"
        size = _ROW.itemsize * len(self._lists[pack])
        backend = self._objects.backend
        try:
            head = backend.read_ranges(path, [(0, _START + size)])[0]
            table = _table(head)
            ends = _START + size + np.cumsum(table["length"], dtype=np.int64)
            places = {bytes(key): place for place, key in enumerate(table["key"])}
            chosen = [key for key in keys if key in places]
            spans = [
                (int(ends[places[key]]) - int(table["length"][places[key]]), int(ends[places[key]]))
                for key in chosen
            ]
            pieces = backend.read_ranges(path, spans)
            return {key: _inflate(piece) for key, piece in zip(chosen, pieces, strict=True)}
        except (FileNotFoundError, ValueError, zlib.error) as error:
            raise StateError(f"the pack {pack} of records cannot be read: {error}", hint=_HINT) from error

    def _read_keys(self, pack: str) -> NDArray[np.uint64]:
        place = self._folder / pack if self._folder is not None else None
        if place is not None and place.exists():
            return np.frombuffer(place.read_bytes(), np.uint64)
        stored = self._objects.backend.read(f"{self._prefix}/keys/{pack}")
        data = stored[0] if stored else b""
        if place is not None and data:
            place.parent.mkdir(parents=True, exist_ok=True)
            partial = place.with_name(f".{place.name}.tmp")
            partial.write_bytes(data)
            partial.replace(place)
        return np.frombuffer(data[: len(data) // 8 * 8], np.uint64)


def snapshot_keys(snapshot: SourceSnapshot) -> list[bytes]:
    """The keys of all that the default views derive from the blobs of a snapshot, each once."""
    versions = {UNITS: units_version()}
    versions.update((name, deriver.version) for name, deriver in derivers_of(DEFAULT_VIEWS).items())
    language = rules_of(snapshot.settings).language
    jobs = {(digest, language(path)) for path, digest in snapshot.files.items()}
    return sorted(record_key(name, version, *job) for name, version in versions.items() for job in jobs)


def encode_pack(rows: Sequence[tuple[bytes, bytes]]) -> bytes:
    """Keys with deflated records as one object."""
    table = np.array([(key, len(data)) for key, data in rows], dtype=_ROW)
    return b"".join((_MAGIC, _COUNT.pack(len(rows)), table.tobytes(), *(data for _, data in rows)))


def pack_keys(pack: bytes) -> NDArray[np.uint64]:
    """What the key list of a pack must be; a ValueError when it is not a whole pack."""
    table = _table(pack)
    if len(pack) != _START + table.nbytes + int(table["length"].sum(dtype=np.int64)):
        raise ValueError("it is not as long as its table says")
    keys = _prefixes(table["key"])
    keys.sort()
    return keys


def _table(pack: bytes) -> NDArray[np.void]:
    if pack[: len(_MAGIC)] != _MAGIC or len(pack) < _START:
        raise ValueError("it is not a pack of records")
    (count,) = _COUNT.unpack_from(pack, len(_MAGIC))
    if len(pack) < _START + count * _ROW.itemsize:
        raise ValueError("its table is cut short")
    return np.frombuffer(pack, _ROW, count, _START)


def _prefixes(keys: Sequence[bytes] | NDArray[np.void]) -> NDArray[np.uint64]:
    """The first eight bytes of each key as a number."""
    rows = np.ascontiguousarray(np.array(keys, dtype="V16"))
    return rows.view("<u8").reshape(-1, 2)[:, 0].copy()


def _inflate(data: bytes) -> bytes:
    state = zlib.decompressobj()
    record = state.decompress(data, _MOST_BYTES)
    if not state.eof or state.unconsumed_tail:
        raise ValueError("a record is cut short or too long")
    return record

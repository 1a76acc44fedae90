"""A URL in, its objects and heads out: objects are checked against their names, heads move whole."""

from __future__ import annotations

import hashlib
import os
import random
import secrets
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

import msgspec

from codenib.core.errors import InputError, ProviderError, StateError
from codenib.fleet.store.backend import Backend, Unacknowledged, Version
from codenib.fleet.store.bucket import SCHEMES, open_bucket
from codenib.fleet.store.digests import file_digest
from codenib.fleet.store.folder import ObjectFolder
from codenib.fleet.store.layout import (
    FORM,
    FleetHead,
    ObjectRef,
    Publication,
    decode_head,
    decode_publication,
    head_path,
    name_in,
    repository_path,
    snapshot_path,
)

_ATTEMPTS = 1000  # at a head that others move; one of them wins each time
_FAILURES = 5  # in a row, after the library's own retries
_DOWNLOADS = 3
_HINT = "codenib fleet verify --store URL"

#: What a head should become, given what it is; None leaves it.
Successor = Callable[[FleetHead | None], FleetHead | None]


class ObjectStore:
    """The store of a fleet. Threads may share one."""

    def __init__(self, url: str, backend: Backend) -> None:
        self.url = url
        self.backend = backend

    @classmethod
    def open(cls, url: str) -> ObjectStore:
        """The store at `file:///…`, `s3://…`, `gs://…`, `az://…`, `memory:///…`; it asks nothing yet."""
        parts = urlsplit(url)
        if parts.scheme == "file" and parts.netloc in ("", "localhost") and parts.path.startswith("/"):
            return cls(url, ObjectFolder(Path(unquote(parts.path))))
        if parts.scheme in SCHEMES and not parts.query and not parts.fragment and not parts.password:
            return cls(url, open_bucket(url))
        raise InputError(
            f"{url} is not a store: file:///FOLDER, s3://BUCKET/PREFIX, gs://… or az://…, without a password",
            hint="--store file:///srv/codenib",
        )

    # -- objects

    def put(self, source: bytes | Path, ref: ObjectRef | None = None) -> tuple[ObjectRef, bool]:
        """Store an object once; its reference, and whether it was sent. `ref` is needed for a file."""
        if ref is None:
            assert isinstance(source, bytes)
            ref = ObjectRef.of(source)
        # Asked first, so that what another machine stored is not sent again just to be refused.
        known = self.backend.size(ref.path)
        if known == ref.size:
            return ref, False
        if isinstance(source, Path) and file_digest(source) != ref.digest:
            raise StateError(f"{source} is damaged: it is not what it was", hint="codenib verify")
        if known is None and self.backend.create(ref.path, source):
            return ref, True
        if known is None and self.has(ref):
            return ref, False  # another was faster
        self.backend.overwrite(
            ref.path, source
        )  # cut short by whoever wrote it: its name says what it must be
        return ref, True

    def has(self, ref: ObjectRef) -> bool:
        """Whether an object is there, with its size."""
        return self.backend.size(ref.path) == ref.size

    def get(self, ref: ObjectRef) -> bytes:
        """The bytes of an object, checked."""
        problem = ""
        for _ in range(_DOWNLOADS):
            data = b"".join(self._chunks(ref))
            if ObjectRef.of(data) == ref:
                return data
            problem = f"object {ref.digest} has {len(data)} of {ref.size} bytes, or other ones"
        raise StateError(problem, hint=_HINT)

    def download(self, ref: ObjectRef, place: Path) -> None:
        """Write an object to `place`, which appears when all of it is there and right.

        Not flushed: what the cache loses in a crash of the machine, it downloads again.
        """
        place.parent.mkdir(parents=True, exist_ok=True)
        partial = place.with_name(f".{place.name[:40]}.{os.getpid()}-{secrets.token_hex(4)}.tmp")
        problem: Exception = StateError(f"object {ref.digest} is damaged in {self.url}", hint=_HINT)
        try:
            for _ in range(_DOWNLOADS):
                try:
                    if self._write(ref, partial):
                        partial.replace(place)
                        return
                except ProviderError as error:  # the connection broke in the middle
                    problem = error
            raise problem
        finally:
            partial.unlink(missing_ok=True)

    def _write(self, ref: ObjectRef, partial: Path) -> bool:
        state, size = hashlib.sha256(), 0
        with partial.open("wb") as stream:
            for piece in self._chunks(ref):
                size += len(piece)
                if size > ref.size:
                    return False
                state.update(piece)
                stream.write(piece)
        return size == ref.size and state.hexdigest() == ref.digest

    def _chunks(self, ref: ObjectRef) -> Iterator[bytes]:
        try:
            yield from self.backend.chunks(ref.path)
        except FileNotFoundError:
            raise StateError(f"object {ref.digest} is not in {self.url}", hint=_HINT) from None

    # -- heads

    def repositories(self) -> list[str]:
        """The names of all repositories that have a head."""
        prefix = f"{FORM}/repos/"
        paths = (stored.path for stored in self.backend.list(prefix) if stored.size)
        return sorted({unquote(path.removeprefix(prefix).partition("/")[0]) for path in paths})

    def heads(self, repository: str) -> dict[str, FleetHead]:
        """Each branch of a repository with its head."""
        return self._named(f"{repository_path(repository)}/heads")

    def snapshots(self, repository: str) -> dict[str, FleetHead]:
        """Each snapshot of a repository with its head."""
        return self._named(f"{repository_path(repository)}/snapshots")

    def head(self, repository: str, ref: str) -> FleetHead | None:
        """What a branch was last published as."""
        return self.read_head(head_path(repository, ref))

    def snapshot(self, repository: str, snapshot: str) -> FleetHead | None:
        """What a snapshot was last published as."""
        return self.read_head(snapshot_path(repository, snapshot))

    def publication(self, head: FleetHead) -> Publication:
        """The manifest that a head names, with its objects."""
        return decode_publication(self.get(head.publication))

    def read_head(self, path: str) -> FleetHead | None:
        """The head at a path of the layout; a retired one is none."""
        row = self.read_versioned_head(path)
        return row[0] if row else None

    def read_versioned_head(self, path: str) -> tuple[FleetHead, Version] | None:
        """The head at a path, with what says that it is still that one."""
        stored = self.backend.read(path)
        return (decode_head(stored[0], path), stored[1]) if stored and stored[0] else None

    def move_head(self, path: str, successor: Successor) -> tuple[FleetHead | None, bool]:
        """Let a head become what `successor` says of it; the head as it then is, and whether we wrote it.

        Others may move it meanwhile: `successor` is then asked again. A write whose acknowledgement was lost
        is recognised by its nonce, so that it is neither repeated nor taken for another's.
        """
        nonce = secrets.token_hex(8)
        failures = 0
        for attempt in range(_ATTEMPTS):
            stored = self.backend.read(path)
            now = decode_head(stored[0], path) if stored and stored[0] else None
            if now is not None and now.written_by(nonce):
                return now, True
            wanted = successor(now)
            if wanted is None:
                return now, False
            after = wanted.after(now, nonce)
            try:
                if self.backend.replace(path, msgspec.json.encode(after), stored[1] if stored else ""):
                    return after, True
                failures = 0
            except Unacknowledged:
                failures += 1
                if failures >= _FAILURES:
                    raise
            if attempt:  # so that the losers of one round do not all meet in the next
                time.sleep(random.uniform(0, min(0.002 * attempt, 0.2)))
        raise ProviderError(f"the head {path} was moved by others {_ATTEMPTS} times in a row", hint=_HINT)

    def remove_head(self, repository: str, ref: str) -> None:
        """Forget a branch; its snapshots stay."""
        self.backend.remove(head_path(repository, ref))

    def _named(self, prefix: str) -> dict[str, FleetHead]:
        heads = {}
        for stored in self.backend.list(prefix):
            head = self.read_head(stored.path) if stored.size else None
            if head is not None:
                heads[name_in(stored.path)] = head
        return heads

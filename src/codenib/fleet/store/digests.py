"""The parts of a local artifact in, their references out; a part is read again only when it changed.

A maintained artifact shares its unchanged parts with the one before, so that pushing it costs what changed.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from pathlib import Path

import msgspec

from codenib.fleet.store.layout import ObjectRef
from codenib.manifest.files import replace_file, with_checksum, without_checksum

_CHUNK = 1 << 20


class _Known(msgspec.Struct, array_like=True, frozen=True):
    size: int
    mtime_ns: int
    digest: str


class _KnownFile(msgspec.Struct):
    parts: dict[str, _Known]  # by inode


class PartDigests:
    """What is known of the parts of one repository's artifacts; `file` remembers it."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._before = self._read()
        self._now: dict[str, _Known] = {}

    def parts(self, artifact: Path) -> dict[str, ObjectRef]:
        """Every file of an artifact with the reference of its content."""
        return {part.name: self._ref(part) for part in sorted(artifact.iterdir())}

    def save(self) -> None:
        """Remember what was asked for since this was opened."""
        if self._now != self._before:
            with suppress(OSError):  # without it the parts are read once more
                replace_file(self._file, with_checksum(msgspec.json.encode(_KnownFile(self._now))))

    def _ref(self, part: Path) -> ObjectRef:
        state = part.stat()
        inode = str(state.st_ino)
        known = self._before.get(inode)
        if known is None or (known.size, known.mtime_ns) != (state.st_size, state.st_mtime_ns):
            known = _Known(state.st_size, state.st_mtime_ns, file_digest(part))
        self._now[inode] = known
        return ObjectRef(known.digest, known.size)

    def _read(self) -> dict[str, _Known]:
        with suppress(OSError, ValueError):
            return msgspec.json.decode(without_checksum(self._file.read_bytes()), type=_KnownFile).parts
        return {}


def file_digest(path: Path) -> str:
    """The SHA-256 of a file."""
    state = hashlib.sha256()
    with path.open("rb") as stream:
        while data := stream.read(_CHUNK):
            state.update(data)
    return state.hexdigest()

"""A built folder in, its seal out: the size and checksum of every part. A sealed folder in, its damage out.

A part is read again only when its inode, size or times are not those of the last time that it was read and
right: opening costs a `stat` a part. Whatever writes to a file changes its times; what rots on the disk
beneath them is found by `codenib verify`, which reads everything.
"""

from __future__ import annotations

import os
import shutil
import zlib
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

from codenib.manifest.files import with_checksum, without_checksum

SEAL = "seal.json"
_CHUNK = 1 << 20


class _Part(msgspec.Struct, array_like=True, frozen=True):
    size: int
    crc: int


class _Stamp(msgspec.Struct, array_like=True, frozen=True):
    """What a part looked like when it was read and right."""

    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int

    @classmethod
    def of(cls, path: Path) -> _Stamp:
        now = path.stat()
        return cls(now.st_ino, now.st_size, now.st_mtime_ns, now.st_ctime_ns)

    def same_content(self, other: _Stamp) -> bool:
        """Whether nothing was written since `other`; a hard link more or less changes the last time alone."""
        return (self.inode, self.size, self.mtime_ns) == (other.inode, other.size, other.mtime_ns)


class _SealFile(msgspec.Struct):
    """`seal.json`."""

    parts: dict[str, _Part]


class _StampFile(msgspec.Struct):
    parts: dict[str, _Stamp]


class Seals:
    """The seals of one repository's artifacts; `stamps` is the folder that remembers what was checked."""

    def __init__(self, stamps: Path) -> None:
        self._stamps = stamps
        self._sealed: dict[Path, dict[str, _Stamp]] = {}

    def seal(self, folder: Path, base: Path | None = None) -> None:
        """Write the seal of a built folder; parts that are links into `base` have the checksums of there."""
        theirs, checked = (_parts_of(base), self._read_stamps(base.name)) if base is not None else ({}, {})
        parts: dict[str, _Part] = {}
        stamps: dict[str, _Stamp] = {}
        linked: dict[int, int] = {}
        for path in sorted(folder.iterdir()):
            stamp = _Stamp.of(path)
            known = theirs.get(path.name)
            if base is not None and known is not None and _is_link(base / path.name, stamp):
                parts[path.name] = known
                before = checked.get(path.name)
                if before is not None and stamp.same_content(before):
                    stamps[path.name] = stamp
                    linked[before.inode] = before.ctime_ns
            else:
                parts[path.name] = _Part(stamp.size, _checksum(path))
                stamps[path.name] = stamp
        (folder / SEAL).write_bytes(with_checksum(msgspec.json.encode(_SealFile(parts))))
        self._sealed[folder] = stamps
        self._follow_links(linked)

    def adopt(self, folder: Path, artifact: Path) -> None:
        """Remember that the parts of a folder, which now has its name, were checked when it was sealed."""
        self._write_stamps(artifact.name, self._sealed.pop(folder, {}))

    def accept(self, folder: Path, *, read: bool = True) -> str:
        """Take a folder with the seal that it came with; what is wrong with it, or nothing.

        Without `read`, sizes alone are compared: for parts whose stronger checksum was compared just now.
        """
        stamps: dict[str, _Stamp] = {}
        try:
            parts = _parts_of(folder)
            if {path.name for path in folder.iterdir()} != {*parts, SEAL}:
                return f"its parts are not those of its {SEAL}"
            for name, part in parts.items():
                stamps[name] = stamp = _Stamp.of(folder / name)
                if stamp.size != part.size or (read and _checksum(folder / name) != part.crc):
                    return f"{name} has another size or checksum"
        except (OSError, ValueError) as error:
            return f"{SEAL}: {error}"
        self._sealed[folder] = stamps
        return ""

    def remove(self, artifacts: Collection[Path]) -> None:
        """Remove artifacts; those that share parts with them need not be read again."""
        shared: dict[int, int] = {}
        for folder in artifacts:
            with suppress(OSError):
                states = [part.stat() for part in folder.iterdir()]
                shared.update((state.st_ino, state.st_ctime_ns) for state in states if state.st_nlink > 1)
        for folder in artifacts:
            shutil.rmtree(folder, ignore_errors=True)
            with suppress(OSError):
                (self._stamps / folder.name).unlink(missing_ok=True)
        self._follow_links(shared)

    def _follow_links(self, before: Mapping[int, int]) -> None:
        """Renew what was checked of parts that got or lost a link just now: inode to the time before that.

        A link changes a part's last time, and so every part that artifacts share would be read again after
        each update. What was written since has another time of its content, too, and is not renewed.
        """
        for file in self._stamps.glob("[!.]*") if before else ():
            known = self._read_stamps(file.name)
            renewed = dict(known)
            for name, stamp in known.items():
                if before.get(stamp.inode) == stamp.ctime_ns:
                    with suppress(OSError):
                        now = _Stamp.of(self._stamps.with_name("artifacts") / file.name / name)
                        renewed[name] = now if now.same_content(stamp) else stamp
            if renewed != known:
                self._write_stamps(file.name, renewed)

    def is_sealed(self, folder: Path) -> bool:
        """Whether a folder that is being built has its seal."""
        return folder in self._sealed

    def damage(self, artifact: Path, *, whole: bool = False) -> str:
        """What is wrong with an artifact; empty when each part has its checksum. `whole` reads each part."""
        try:
            parts = _parts_of(artifact)
        except (OSError, ValueError) as error:
            return f"{SEAL}: {error}"
        known = {} if whole else self._read_stamps(artifact.name)
        stamps: dict[str, _Stamp] = {}
        for name, part in parts.items():
            path = artifact / name
            try:
                stamps[name] = stamp = _Stamp.of(path)
                if stamp.size != part.size:
                    return f"{name} has {stamp.size} of {part.size} bytes"
                if stamp != known.get(name) and _checksum(path) != part.crc:
                    return f"{name} has another checksum"
            except OSError as error:
                return f"{name}: {error.strerror}"
        if stamps != known:
            self._write_stamps(artifact.name, stamps)
        return ""

    def _read_stamps(self, name: str) -> dict[str, _Stamp]:
        with suppress(OSError, ValueError):
            data = without_checksum((self._stamps / name).read_bytes())
            return msgspec.json.decode(data, type=_StampFile).parts
        return {}

    def _write_stamps(self, name: str, parts: Mapping[str, _Stamp]) -> None:
        """Not flushed: without them the parts are read once more."""
        with suppress(OSError):
            self._stamps.mkdir(parents=True, exist_ok=True)
            fresh = self._stamps / f".{name}.{os.getpid()}.tmp"
            try:
                fresh.write_bytes(with_checksum(msgspec.json.encode(_StampFile(dict(parts)))))
                fresh.replace(self._stamps / name)
            except OSError:
                fresh.unlink(missing_ok=True)


def _parts_of(artifact: Path) -> dict[str, _Part]:
    data = without_checksum((artifact / SEAL).read_bytes())
    return msgspec.json.decode(data, type=_SealFile).parts


def _is_link(path: Path, stamp: _Stamp) -> bool:
    try:
        return path.stat().st_ino == stamp.inode
    except OSError:
        return False


def _checksum(path: Path) -> int:
    crc = 0
    with path.open("rb") as stream:
        while data := stream.read(_CHUNK):
            crc = zlib.crc32(data, crc)
    return crc

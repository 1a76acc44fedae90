"""What npm unpacked in, the first file that it did not write whole out.

npm ends well when a write fails while it unpacks (a full disk, an I/O error), and the file is cut off. Its
cache has each archive by the digest that the lock file names.
"""

from __future__ import annotations

import base64
import hashlib
import tarfile
from collections.abc import Iterator
from pathlib import Path

import msgspec

from codenib.core.errors import UNDECODABLE

_ALGORITHM = "sha512"


class _Package(msgspec.Struct):
    integrity: str = ""


class _Lock(msgspec.Struct):
    packages: dict[str, _Package]


def first_broken(folder: Path, cache: Path) -> str:
    """The first file below `folder` that is not as in its archive; empty when there is none."""
    try:
        lock = msgspec.json.decode((folder / "package-lock.json").read_bytes(), type=_Lock)
    except (OSError, *UNDECODABLE):
        return "package-lock.json"
    for place, package in lock.packages.items():
        archive = _archive(cache, package.integrity)
        if (folder / place).is_dir() and archive is not None:
            for name, digest in _contents(archive):
                try:
                    same = hashlib.sha256((folder / place / name).read_bytes()).digest() == digest
                except OSError:
                    same = False
                if not same:
                    return f"{place}/{name}"
    return ""


def _archive(cache: Path, integrity: str) -> Path | None:
    """Where npm's cache has an archive, if it is there and right."""
    algorithm, _, digest = integrity.partition("-")
    if algorithm != _ALGORITHM:
        return None
    name = base64.b64decode(digest).hex()
    path = cache / "_cacache" / "content-v2" / _ALGORITHM / name[:2] / name[2:4] / name[4:]
    try:
        whole = hashlib.sha512(path.read_bytes()).hexdigest() == name
    except OSError:
        return None
    return path if whole else None


def _contents(archive: Path) -> Iterator[tuple[str, bytes]]:
    """Path and digest of each file, without the folder that stands before all."""
    with tarfile.open(archive) as stream:
        for member in stream:
            file = stream.extractfile(member) if member.isreg() else None
            if file is not None:
                yield member.name.partition("/")[2], hashlib.sha256(file.read()).digest()

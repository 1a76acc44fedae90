"""The files of the page, as the package has them: read once, compressed once, named by their digest."""

from __future__ import annotations

import gzip
import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


@dataclass(frozen=True, slots=True)
class Asset:
    """A file of the page."""

    content_type: str
    data: bytes
    compressed: bytes


@dataclass(frozen=True, slots=True)
class Assets:
    """All files by name, and a digest of them all: an address with it never means other bytes."""

    files: dict[str, Asset]
    digest: str

    @property
    def compressed_bytes(self) -> int:
        """What a browser loads at most."""
        return sum(len(asset.compressed) for asset in self.files.values())

    def page(self, name: str) -> bytes:
        """A document whose links to other files have the digest."""
        return self.files[name].data.replace(b"/ui/assets/", f"/ui/assets/{self.digest}/".encode())


@cache
def load_assets() -> Assets:
    """The files beside this module."""
    folder = Path(__file__).parent / "static"
    files: dict[str, Asset] = {}
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.suffix in _TYPES:
            data, name = path.read_bytes(), path.relative_to(folder).as_posix()
            digest.update(name.encode() + b"\0" + data)
            files[name] = Asset(_TYPES[path.suffix], data, gzip.compress(data, 9, mtime=0))
    return Assets(files, digest.hexdigest()[:12])

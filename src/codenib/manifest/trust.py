"""Which repositories the user trusts: engines may run their build scripts, macros and interpreters.

Trust is given by name (`codenib index --trust`) and bound to the repository's identity. When another
repository is put at the place, the trust ends, and does not come back by itself.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from codenib.core.errors import UNDECODABLE
from codenib.manifest.files import EarlierForm, replace_file, with_checksum, without_checksum
from codenib.manifest.home import home
from codenib.snapshot.identity import RepositoryIdentity, identify, is_still
from codenib.snapshot.repository import Repository

_FILE = "trust.json"
# The record and its time, the repository's inode and its configuration's time → whether the rest of the
# identity was the same. Asking git takes two processes, and a running server asks for every question.
_checked: dict[tuple[str, int, int, int], bool] = {}


class TrustRecord(msgspec.Struct, frozen=True):
    """One repository that is trusted, since when (seconds since 1970), and what it was then."""

    place: str
    since: float
    identity: RepositoryIdentity


def grant(folder: Path, repository: Repository) -> None:
    """Trust the repository whose store is `folder`, as it is now."""
    record = TrustRecord(str(repository.root), time.time(), identify(repository))
    replace_file(folder / _FILE, with_checksum(msgspec.json.encode(record)))


def revoke(folder: Path) -> None:
    """Trust it no more."""
    (folder / _FILE).unlink(missing_ok=True)


def is_trusted(folder: Path, repository: Repository) -> bool:
    """Whether the repository whose store is `folder` is the one that was trusted; if not, the trust ends."""
    file = folder / _FILE
    record = _read(file)
    if record is None:
        return False
    place = repository.common_dir or repository.root
    config = place / "config"
    changed = config.stat().st_mtime_ns if config.exists() else 0
    key = (str(file), file.stat().st_mtime_ns, place.stat().st_ino, changed)
    if key not in _checked:
        _checked[key] = is_still(repository, record.identity)
    if not _checked[key]:
        revoke(folder)
    return _checked[key]


def trust_records() -> Iterator[TrustRecord]:
    """Every repository that is trusted on this machine, by place."""
    records = (_read(file) for file in (home() / "repos").glob(f"*/{_FILE}"))
    yield from sorted((record for record in records if record is not None), key=lambda each: each.place)


def _read(file: Path) -> TrustRecord | None:
    try:
        data = file.read_bytes()
        with suppress(EarlierForm):
            data = without_checksum(data)
        return msgspec.json.decode(data, type=TrustRecord)
    except (OSError, *UNDECODABLE):
        return None

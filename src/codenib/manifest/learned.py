"""What was learnt of a repository as files of its store, each named by the digest of its bytes.

repos/KEY/learned/DIGEST.json     written by rename, never changed
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from codenib.core.errors import StateError
from codenib.manifest.files import drop_partial, replace_file
from codenib.manifest.store import Store


def learned_files(store: Store) -> list[Path]:
    """The files of what was learnt, the newest first."""
    dated = []
    for path in (store.folder / "learned").glob("[!.]*.json"):
        try:
            dated.append((path.stat().st_mtime_ns, path))
        except FileNotFoundError:  # dropped meanwhile
            continue
    return [path for _, path in sorted(dated, reverse=True)]


def write_learned(store: Store, data: bytes) -> Path:
    """Store what was learnt under the digest of its bytes."""
    path = store.folder / "learned" / f"{_digest(data)}.json"
    replace_file(path, data)
    return path


def read_learned(path: Path) -> bytes:
    """The bytes of a file; an error when they are not those that it was named for."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise StateError(f"{path.name} cannot be read: {error}", hint="codenib learn") from error
    if _digest(data) != path.stem:
        raise StateError(f"what was learnt is damaged: {path.name}", hint="codenib learn")
    return data


def drop_learned(store: Store, keep: int = 0) -> int:
    """Drop damaged files, and all but the newest `keep` others; how many went."""
    drop_partial(store.folder / "learned")
    gone = 0
    for path in learned_files(store):
        try:
            read_learned(path)
        except StateError:
            whole = False
        else:
            whole = True
        if whole and keep > 0:
            keep -= 1
            continue
        path.unlink(missing_ok=True)
        gone += 1
    return gone


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]

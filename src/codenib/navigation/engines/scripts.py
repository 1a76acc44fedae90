"""The folder of an engine's JavaScript in, its version out: a digest that changes when its answers may."""

from __future__ import annotations

import hashlib
from pathlib import Path

_SHARED = Path(__file__).parent / "js"


def script_version(folder: Path) -> str:
    """A digest of the engine's scripts and of those that all engines share."""
    digest = hashlib.sha256()
    for path in (*sorted(folder.rglob("*.js")), *sorted(_SHARED.rglob("*.js"))):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]

"""An engine's JavaScript in, its version and the command that runs it out."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

_SHARED = Path(__file__).parent / "js"


def script_version(folder: Path) -> str:
    """A digest of the engine's scripts and of those that all engines share: it changes when answers may."""
    digest = hashlib.sha256()
    for path in (*sorted(folder.rglob("*.js")), *sorted(_SHARED.rglob("*.js"))):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def script_command(
    node: Sequence[str], options: Sequence[str], script: Path, package: Path, root: Path
) -> tuple[str, ...]:
    """Node with `options` and a script that drives the engine in `package` over the checkout at `root`."""
    return (*node, *options, str(script), str(package), str(root.resolve()))

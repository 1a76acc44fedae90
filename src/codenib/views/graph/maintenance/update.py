"""What an update of the graph did and why, written to and read from `update.json` beside the artifact."""

from __future__ import annotations

from pathlib import Path

import msgspec

from codenib.core.errors import UNDECODABLE
from codenib.core.updates import GraphUpdate

_NAME = "update.json"


def write_update(update: GraphUpdate, folder: Path) -> None:
    """Store the report beside the artifact's arrays."""
    (folder / _NAME).write_bytes(msgspec.json.encode(update))


def read_update(folder: Path) -> GraphUpdate | None:
    """The report of the update that made an artifact; None when it was built from nothing."""
    try:
        return msgspec.json.decode((folder / _NAME).read_bytes(), type=GraphUpdate)
    except (OSError, *UNDECODABLE):
        return None

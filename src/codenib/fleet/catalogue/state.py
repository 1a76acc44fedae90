"""What is known of a repository of the fleet: its file in, a `RepositoryState` out, replaced as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from codenib.core.errors import UNDECODABLE
from codenib.manifest.files import replace_file, with_checksum, without_checksum


class RepositoryState(msgspec.Struct, frozen=True, kw_only=True):
    """What the last synchronization learned. Times are seconds since 1970, 0 for never.

    `heads` are the branches that the mirror has, with their commits: those of `synced`, when the source last
    answered. `error` says why the last try, at `tried`, failed; `gone` that the source was not there.
    """

    heads: Mapping[str, str] = {}
    default: str = ""
    synced: float = 0.0
    tried: float = 0.0
    error: str = ""
    gone: bool = False


def read_state(file: Path) -> RepositoryState:
    """The state; that of a repository which was never synchronized where the file is missing or damaged.

    Nothing is lost with it: the next synchronization learns it again.
    """
    try:
        return msgspec.json.decode(without_checksum(file.read_bytes()), type=RepositoryState)
    except (OSError, *UNDECODABLE):
        return RepositoryState()


def write_state(file: Path, state: RepositoryState) -> None:
    replace_file(file, with_checksum(msgspec.json.encode(state)))

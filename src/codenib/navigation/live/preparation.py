"""A repository and a server in, what the server is given beside its row out: places and variables.

The facts and the live servers of a language start from the same checks: what a repository may not make an
engine do, it may not make a server do.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from codenib.navigation.live.servers import Preparation, Server


def prepare(
    server: Server, root: Path, folder: Path, places: Mapping[str, str], *, trusted: bool
) -> Preparation:
    """What `server` needs on `root`; `folder` is private. ProviderError where trust is missing.

    `places` are those that the caller has prepared already.
    """
    if server.group == "rust" and not trusted:
        from codenib.navigation.rust.setup import environment, refuse_unsafe_settings

        refuse_unsafe_settings(root)
        return Preparation(environment=environment(folder / "cargo-target", trusted=False))
    if server.group == "cpp" and "database" not in places:
        from codenib.navigation.cpp.database import prepare_database

        database = folder / "database"
        prepare_database(root, database, trusted=trusted)
        return Preparation({"database": str(database)})
    return Preparation()

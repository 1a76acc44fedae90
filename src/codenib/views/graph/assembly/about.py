"""`graph.json` of a graph's artifact: what there is. Whoever asks a graph needs nothing of what makes one."""

from __future__ import annotations

from pathlib import Path

import msgspec

from codenib.core.errors import UNDECODABLE, StateError
from codenib.views.graph.facts.groups import GroupOrigin

FORMAT = 1
REBUILD = "codenib index --views graph --rebuild"


class GraphFile(msgspec.Struct):
    """`graph.json`: what the artifact has."""

    format: int
    groups: list[GroupOrigin]
    counts: dict[str, int]
    #: Files that do not parse, with the digest of the text that their facts are of.
    stale: dict[str, str] = msgspec.field(default_factory=dict, name="held")
    #: Files whose facts are of before an edit of others, which the graph already has.
    behind: list[str] = []


def read_graph_file(folder: Path) -> GraphFile:
    """`graph.json` of an artifact."""
    try:
        return msgspec.json.decode((folder / "graph.json").read_bytes(), type=GraphFile)
    except (OSError, *UNDECODABLE) as error:
        raise StateError(f"the graph view cannot be read: {error}", hint=REBUILD) from error


def read_stale(folder: Path) -> dict[str, str]:
    """The files of an artifact whose facts are of an earlier text, with that text's digest."""
    return read_graph_file(folder).stale

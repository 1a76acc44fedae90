"""The graph's artifact: facts by language group in, its folder out; and back again.

`graph.json` says what there is, `facts.bin` has the facts of each file, the arrays beside them are the graph
that is assembled from these facts.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import msgspec
import numpy as np

from codenib.core.errors import UNDECODABLE, StateError
from codenib.core.views import ViewFacts
from codenib.views.arrays import read_array, save_array
from codenib.views.graph.assembly.about import FORMAT, GraphFile
from codenib.views.graph.assembly.assemble import assemble
from codenib.views.graph.facts.file import FileFacts, decode, encode
from codenib.views.graph.facts.groups import GroupFacts
from codenib.views.graph.maintenance.stale_syntax import StaleSyntax, describe, rebased


def write_graph(
    groups: Sequence[GroupFacts],
    out: Path,
    encoded: dict[FileFacts, bytes] | None = None,
    stale: Mapping[str, StaleSyntax] | None = None,
    behind: Collection[str] = (),
) -> ViewFacts:
    """Write facts and assembled graph into `out`; `encoded` has bytes of facts, and gets those that it lacks.

    Of `stale` files the facts are those of their last readable text, the graph has them at today's lines.
    """
    stale = stale or {}
    facts = sorted((each for group in groups for each in group.facts), key=lambda each: each.path)
    known = {} if encoded is None else encoded
    known.update({file: encode(file) for file in facts if file not in known})
    records = [known[file] for file in facts]
    (out / "facts.bin").write_bytes(b"".join(records))
    save_array(out / "facts_at.npy", np.cumsum([0, *map(len, records)], dtype=np.int64))
    counts = assemble(
        [rebased(each, stale[each.path]) if each.path in stale else each for each in facts], out
    )
    origins = [group.origin for group in groups if group.origin.files or group.origin.error]
    digests = {path: stale[path].digest for path in sorted(stale)}
    about = GraphFile(FORMAT, origins, counts, digests, sorted(behind))
    (out / "graph.json").write_bytes(msgspec.json.encode(about))
    capabilities = []
    for each in origins:
        capabilities += [f"definitions:{each.group}", f"references:{each.group}"] if each.resolved else []
    errors = [f"{each.group}: {each.error}" for each in origins if each.error]
    lacks = "; ".join([*errors, *([describe(list(digests))] if digests else [])])
    return ViewFacts(counts, ("graph", *capabilities), lacks)


def read_group_facts(folder: Path) -> list[GroupFacts]:
    """The facts of an artifact, by group."""
    return read_encoded_facts(folder)[0]


def read_encoded_facts(folder: Path) -> tuple[list[GroupFacts], dict[FileFacts, bytes]]:
    """The facts of an artifact, by group; and the bytes of each file's."""
    try:
        about = msgspec.json.decode((folder / "graph.json").read_bytes(), type=GraphFile)
        data = (folder / "facts.bin").read_bytes()
        at = read_array(folder / "facts_at.npy").tolist()
    except (OSError, *UNDECODABLE) as error:
        raise StateError(
            f"the graph's facts cannot be read: {error}", hint="codenib index --rebuild"
        ) from error
    encoded = {decode(data[begin:end]): data[begin:end] for begin, end in pairwise(at)}
    by_group: dict[str, list[FileFacts]] = {}
    for facts in encoded:
        by_group.setdefault(facts.group, []).append(facts)
    return [GroupFacts(origin, tuple(by_group.get(origin.group, ()))) for origin in about.groups], encoded

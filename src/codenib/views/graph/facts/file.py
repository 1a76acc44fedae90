"""What is known of one file: its facts, and the bytes in which they are stored.

A target in the same file is its node's index (-1: the file itself); any other is an identity, so that a
file's facts stay true when the files that it refers to only shift. Identities: `path#` for a file,
`path#Class.method:method` for a declaration, with `:1` and so on for the next of equal name and kind, and
`~name` for what is outside the repository.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from functools import cached_property

import msgspec
import numpy as np

from codenib.core.errors import UNDECODABLE, StateError
from codenib.core.facts import FileScope, NodeFlag, NodeKind
from codenib.views.graph.facts.rows import CODE_NAME, NODE, OCCURRENCE, RELATION, Ints, Rows

OWN_FILE = -1
OUTSIDE = "~"
NO_NAMES: Rows = np.zeros(0, CODE_NAME)
_LABELS = [kind.label for kind in NodeKind]


@dataclass(frozen=True, eq=False)
class FileFacts:
    """What is known of one file; rows of `nodes` and `occurrences` are in source order, 0-based."""

    path: str
    group: str
    names: tuple[str, ...]
    nodes: Rows
    targets: tuple[int | str, ...]
    list_ptr: Ints
    list_items: Ints
    occurrences: Rows
    relations: Rows
    scope: FileScope = FileScope.PROJECT
    #: The names in the code at whose places no occurrence says what they are, each once.
    unknown_names: tuple[str, ...] = ()
    unknown: Rows = field(default_factory=lambda: NO_NAMES)  # their places, in source order

    @cached_property
    def identities(self) -> list[str]:
        """The identity of each node; also of parameters, which calls in other files name."""
        kinds, parents = (self.nodes[column].tolist() for column in ("kind", "parent"))
        chains: list[str] = []
        ordinals: dict[str, int] = {}
        found: list[str] = []
        for index, name in enumerate(self.names):
            parent = parents[index]
            chains.append(f"{chains[parent]}.{name}" if parent >= 0 else name)
            plain = f"{self.path}#{chains[index]}:{_LABELS[kinds[index]]}"
            ordinal = ordinals.get(plain, 0)
            ordinals[plain] = ordinal + 1
            found.append(f"{plain}:{ordinal}" if ordinal else plain)
        return found

    @cached_property
    def referred(self) -> frozenset[str]:
        """The other files that these facts name."""
        return frozenset(
            target.partition("#")[0]
            for target in self.targets
            if isinstance(target, str) and not target.startswith(OUTSIDE)
        )

    @property
    def has_anchors(self) -> bool:
        """Whether other files refer to places that this file did not list as declarations."""
        return bool(np.any(self.nodes["flags"] & NodeFlag.ANCHOR))

    def chain(self, node: int) -> str:
        """The dotted names from the file down to a node."""
        return self.identities[node].partition("#")[2].rpartition(":")[0].partition(":")[0]

    def plain(self) -> tuple[object, ...]:
        """Everything as values that compare."""
        arrays = (self.nodes, self.list_ptr, self.list_items, self.occurrences, self.relations, self.unknown)
        values = (self.path, self.group, self.names, self.targets, self.scope, self.unknown_names)
        return (*values, *(array.tolist() for array in arrays))


class _Record(msgspec.Struct, array_like=True):
    path: str
    group: str
    names: tuple[str, ...]
    targets: tuple[int | str, ...]
    nodes: bytes
    list_ptr: bytes
    list_items: bytes
    occurrences: bytes
    relations: bytes
    scope: FileScope
    unknown_names: tuple[str, ...]
    unknown: bytes


def encode(facts: FileFacts) -> bytes:
    """The facts of a file as bytes; same facts, same bytes."""
    record = _Record(
        path=facts.path,
        group=facts.group,
        names=facts.names,
        targets=facts.targets,
        nodes=facts.nodes.tobytes(),
        list_ptr=facts.list_ptr.astype("<i4").tobytes(),
        list_items=facts.list_items.astype("<i4").tobytes(),
        occurrences=facts.occurrences.tobytes(),
        relations=facts.relations.tobytes(),
        scope=facts.scope,
        unknown_names=facts.unknown_names,
        unknown=facts.unknown.tobytes(),
    )
    return zlib.compress(msgspec.msgpack.encode(record), 1)


def decode(data: bytes) -> FileFacts:
    """What `encode` was given."""
    try:
        record = msgspec.msgpack.decode(zlib.decompress(data), type=_Record)
    except (zlib.error, *UNDECODABLE) as error:
        raise StateError(f"the graph's facts are damaged: {error}", hint="codenib index --rebuild") from error
    return FileFacts(
        path=record.path,
        group=record.group,
        names=record.names,
        nodes=np.frombuffer(record.nodes, NODE),
        targets=record.targets,
        list_ptr=np.frombuffer(record.list_ptr, "<i4"),
        list_items=np.frombuffer(record.list_items, "<i4"),
        occurrences=np.frombuffer(record.occurrences, OCCURRENCE),
        relations=np.frombuffer(record.relations, RELATION),
        scope=record.scope,
        unknown_names=record.unknown_names,
        unknown=np.frombuffer(record.unknown, CODE_NAME),
    )

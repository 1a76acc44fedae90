"""Values of the view side: profiles, view records, the manifest."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from codenib.core.source import DEFAULT_SETTINGS, SourceSettings

MANIFEST_SCHEMA = 1
#: Vectors of the embedded model: only these answer on every machine at once, so that `auto` uses them.
INSTANT = "ranked:semantic:instant"


class ViewKind(StrEnum):
    LEXICAL = "lexical"
    TRIGRAM = "trigram"
    ZOEKT = "zoekt"  # optional: the same searches by another program
    DENSE = "dense"  # optional: embeddings
    GRAPH = "graph"  # optional: nodes, occurrences and edges
    HISTORY = "history"  # optional: the commits that lead to the snapshot


class Status(StrEnum):
    FRESH = "fresh"
    FAILED = "failed"
    STALE = "stale"


@dataclass(frozen=True, slots=True)
class ArtifactProfile:
    """Everything that decides a view's content besides the source."""

    view: ViewKind
    fields: Mapping[str, str]

    @property
    def digest(self) -> str:
        rows = "".join(f"{name}\0{value}\n" for name, value in sorted(self.fields.items()))
        return hashlib.sha256(f"{self.view}\n{rows}".encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class ViewFacts:
    """What a builder says of the artifact that it wrote."""

    counts: Mapping[str, int]
    capabilities: tuple[str, ...]
    lacks: str = ""  # what a fresh view is still without, and the command that helps


@dataclass(frozen=True, slots=True)
class ViewRecord:
    """One view of one snapshot, as the manifest records it."""

    kind: ViewKind
    profile: str
    snapshot: str
    status: Status
    artifact: str = ""
    how: str = ""  # built, maintained or reused
    fields: Mapping[str, str] = field(default_factory=dict)
    capabilities: tuple[str, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    size_bytes: int = 0
    error: str = ""


@dataclass(frozen=True, slots=True)
class RepoManifest:
    """Which views of a snapshot exist. The lookup boundary of serving, never a container of payloads."""

    schema: int
    snapshot: str
    tree: str
    commit: str | None
    dirty: bool
    files: int
    skipped: Mapping[str, int]
    views: Mapping[ViewKind, ViewRecord]
    settings: SourceSettings = DEFAULT_SETTINGS  # of the snapshot

    @property
    def capabilities(self) -> frozenset[str]:
        """What can be asked: the union over fresh views, so a failed view never lends its name."""
        fresh = (record for record in self.views.values() if record.status is Status.FRESH)
        return frozenset(name for record in fresh for name in record.capabilities)

"""What decides the graph besides the source: the backends of each language group. Cheap to import."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from codenib.core.errors import ProviderError
from codenib.core.protocols import FactBackend
from codenib.core.views import ArtifactProfile, ViewKind

SCHEMA = "5"  # 3: the scope of each file; 4: roles have sixteen bits; 5: names that nobody resolved
SYNTACTIC = "syntactic"


class ImportedBackend(FactBackend, Protocol):
    """A backend of given files rather than of languages."""

    @property
    def paths(self) -> frozenset[str]: ...


@dataclass(frozen=True)
class GraphBackends:
    """Who makes the facts: an imported index first, then each group's backends in turn, then names alone."""

    by_group: Mapping[str, Sequence[FactBackend]]
    syntactic: FactBackend
    imported: ImportedBackend | None = None
    trusted: bool = False
    sandbox: str = ""
    #: Whether the engine of a group runs in a sandbox, in words.
    confined: Callable[[str], str] = lambda _: ""

    def profile(self) -> ArtifactProfile:
        """The profile of a graph of their facts."""
        known = {group: self.first(group) for group in self.by_group}
        known[SYNTACTIC] = identify(self.syntactic)
        if self.imported is not None:
            known[self.imported.group] = identify(self.imported)
        fields = {f"backend:{group}": identity for group, identity in known.items()}
        if self.sandbox and not self.trusted:  # it may hide what an engine would read
            fields["sandbox"] = self.sandbox
        trusted = "yes" if self.trusted else "no"
        return ArtifactProfile(ViewKind.GRAPH, {"schema": SCHEMA, "trusted": trusted, **fields})

    def find(self, group: str, identity: str) -> FactBackend | None:
        """The backend of a group that has this identity."""
        return next((each for each in self.by_group.get(group, ()) if identify(each) == identity), None)

    def first(self, group: str) -> str:
        """The first backend of a group that can run."""
        return next((name for each in self.by_group[group] if (name := identify(each)) != MISSING), MISSING)


MISSING = "missing"


def identify(backend: FactBackend) -> str:
    """A backend's identity on one line; `missing` when it cannot run."""
    try:
        known = dict(backend.identity())
    except ProviderError:
        return MISSING
    name = " ".join(known.pop(field, "") for field in ("backend", "version")).strip()
    rest = ", ".join(value for _, value in sorted(known.items()) if value)
    return f"{name} ({rest})" if rest else name

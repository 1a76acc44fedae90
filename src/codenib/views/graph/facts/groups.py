"""Files in, the facts of each language group out: by the first of its backends that gives them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from codenib.core.errors import ProviderError
from codenib.core.protocols import FactBackend
from codenib.units.languages import language_hint
from codenib.views.graph.facts.file import FileFacts
from codenib.views.graph.profile import identify

_PROSE = frozenset({"markdown", "rst", "asciidoc"})
#: A backend, a group's name, a checkout and its files in, their facts out, and what these are without.
Produce = Callable[[FactBackend, str, Path, Sequence[str]], tuple[tuple[FileFacts, ...], tuple[str, ...]]]


class GroupOrigin(msgspec.Struct):
    """Who made the facts of one language group; `resolved` is false for a syntactic graph.

    `confined` says whether the engine ran in a sandbox.
    """

    group: str
    backend: str
    files: int
    resolved: bool
    error: str = ""
    confined: str = ""

    @property
    def label(self) -> str:
        """What an answer says of who made its facts."""
        return f"{self.backend}, {self.confined}" if self.confined else self.backend


@dataclass(frozen=True, slots=True)
class GroupFacts:
    """The facts of a language group's files, and who made them."""

    origin: GroupOrigin
    facts: tuple[FileFacts, ...]


class FactsCache:
    """The facts of the snapshot that was written last, for as long as the process lives.

    Updates follow each other; reading a large repository's facts and naming its nodes again would take longer
    than the edit's own part.
    """

    def __init__(self) -> None:
        self._snapshot = ""
        self._groups: list[GroupFacts] = []
        self._encoded: dict[FileFacts, bytes] = {}

    def get(self, snapshot: str) -> tuple[list[GroupFacts], dict[FileFacts, bytes]] | None:
        """The groups of a snapshot and their files' bytes; None when another was written last."""
        return (self._groups, self._encoded) if snapshot and snapshot == self._snapshot else None

    def put(self, snapshot: str, groups: Sequence[GroupFacts], encoded: Mapping[FileFacts, bytes]) -> None:
        """Replace what is cached."""
        self._snapshot, self._groups = snapshot, list(groups)
        present = {facts for group in groups for facts in group.facts}
        self._encoded = {facts: data for facts, data in encoded.items() if facts in present}


def produce_group(
    group: str,
    backends: Sequence[FactBackend],
    produce: Produce,
    root: Path,
    files: Sequence[str],
    *,
    confined: Callable[[str], str] = lambda _: "",
) -> GroupFacts:
    """The facts by the first backend that gives them; the reasons when none does.

    `confined` says of a group whether its engine runs in a sandbox.
    """
    reasons = []
    for backend in backends:
        try:
            facts, lacks = produce(backend, group, root, files)
        except ProviderError as error:
            reasons.append(f"{error.message}; try: {error.hint}" if error.hint else error.message)
            continue
        reasons += lacks
        origin = GroupOrigin(group, identify(backend), len(facts), True, "; ".join(reasons))
        origin.confined = confined(group)
        return GroupFacts(origin, facts)
    return GroupFacts(GroupOrigin(group, "", 0, False, reasons[0]), ())


def files_by_group(
    paths: Sequence[str], backends: Mapping[str, Sequence[FactBackend]]
) -> dict[str, list[str]]:
    """The files of each group's languages, in path order."""
    owner = {language: group for group, found in backends.items() for language in found[0].languages}
    groups: dict[str, list[str]] = {}
    for path in paths:
        group = owner.get(language_hint(path))
        if group is not None:
            groups.setdefault(group, []).append(path)
    return dict(sorted(groups.items()))


def affects_facts(path: str) -> bool:
    """Whether a change to this file can change anybody's facts: all but prose may configure an engine."""
    return language_hint(path) not in _PROSE

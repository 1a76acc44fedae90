"""Files in, the facts of each language group out: by the first of its backends that gives them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from codenib.core.errors import ProviderError
from codenib.core.protocols import FactBackend
from codenib.units.languages import language_hint
from codenib.views.graph.facts.file import FileFacts
from codenib.views.graph.profile import identify
from codenib.views.graph.read import GroupFacts

_PROSE = frozenset({"markdown", "rst", "asciidoc"})
#: A backend, a group's name, a checkout and its files in, their facts out.
Produce = Callable[[FactBackend, str, Path, Sequence[str]], tuple[FileFacts, ...]]


@dataclass(frozen=True, slots=True)
class Made:
    """The facts of a group's files, and how they were made."""

    about: GroupFacts
    facts: tuple[FileFacts, ...]


class Memory:
    """The facts of the snapshot that was written last, for as long as the process lives.

    Updates follow each other; reading a large repository's facts and naming its nodes again would take longer
    than the edit's own part.
    """

    def __init__(self) -> None:
        self._snapshot = ""
        self._made: list[Made] = []
        self._raw: dict[FileFacts, bytes] = {}

    def recall(self, snapshot: str) -> tuple[list[Made], dict[FileFacts, bytes]] | None:
        """The groups of a snapshot and their files' bytes; None when another was last."""
        return (self._made, self._raw) if snapshot and snapshot == self._snapshot else None

    def remember(self, snapshot: str, made: Sequence[Made], raw: Mapping[FileFacts, bytes]) -> None:
        """Keep these instead."""
        self._snapshot, self._made = snapshot, list(made)
        there = {facts for group in made for facts in group.facts}
        self._raw = {facts: data for facts, data in raw.items() if facts in there}


def make_group(
    group: str, backends: Sequence[FactBackend], produce: Produce, root: Path, files: Sequence[str]
) -> Made:
    """The facts by the first backend that gives them; the reasons when none does."""
    reasons = []
    for backend in backends:
        try:
            done = produce(backend, group, root, files)
        except ProviderError as error:
            reasons.append(f"{error.message}; try: {error.hint}" if error.hint else error.message)
            continue
        return Made(GroupFacts(group, identify(backend), len(done), True, "; ".join(reasons)), done)
    return Made(GroupFacts(group, "", 0, False, reasons[0]), ())


def by_group(paths: Sequence[str], backends: Mapping[str, Sequence[FactBackend]]) -> dict[str, list[str]]:
    """The files of each group's languages, in path order."""
    owner = {language: group for group, found in backends.items() for language in found[0].languages}
    groups: dict[str, list[str]] = {}
    for path in paths:
        group = owner.get(language_hint(path))
        if group is not None:
            groups.setdefault(group, []).append(path)
    return dict(sorted(groups.items()))


def matters(path: str) -> bool:
    """Whether a change to this file can change anybody's facts: all but prose may configure an engine."""
    return language_hint(path) not in _PROSE

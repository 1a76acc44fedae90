"""An edit and the facts before it in, the facts after it out, group by group, with a report of what was done.

A group whose engine reads nothing of the edit keeps its facts. One whose engine can follow does (follow.py).
The rest is made anew, and says why; the other groups stay as they are.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from codenib.core.errors import CannotMaintain, ProviderError
from codenib.core.protocols import FactBackend, FollowingBackend, KnowingBackend, RereadingBackend
from codenib.core.source import Delta
from codenib.units.languages import language_hint
from codenib.views.graph.facts.groups import Made, Produce, by_group, make_group, matters
from codenib.views.graph.maintenance.broken import Readable, breaks_syntax
from codenib.views.graph.maintenance.classify import Edit, symbol_changes
from codenib.views.graph.maintenance.follow import Arm, Change, Desk, Follower
from codenib.views.graph.maintenance.update import (
    BY_CONSTRUCTION,
    BY_REBUILDING,
    FOLLOWED,
    KEPT,
    REBUILT,
    GraphUpdate,
    GroupUpdate,
)
from codenib.views.graph.profile import SYNTACTIC, Makers, identify
from codenib.views.graph.read import GroupFacts


class WorkDesk(Desk, Protocol):
    """A desk whose files engines may read as a checkout."""

    root: Path
    delta: Delta | None  # the edit as the engines see it, where that is another
    held: Mapping[str, Readable]  # files that do not parse; engines have their last readable text

    def drop(self, group: str) -> None:
        """End a group's engine: what it has loaded no longer fits."""
        ...


class GroupMaintainer:
    """Decides for each group whether its facts stay, follow the edit or are made anew."""

    def __init__(
        self,
        makers: Makers,
        desk: WorkDesk,
        produce: Produce,
        delta: Delta,
        update: GraphUpdate,
        arm: Arm = "symbol",
    ) -> None:
        self._makers = makers
        self._desk = desk
        self._produce = produce
        self._delta = delta
        self._update = update
        self._arm = arm
        self._contents: dict[str, tuple[bytes | None, bytes | None]] = {}

    def run(self, made: Sequence[Made]) -> list[Made]:
        """The groups after the edit, in the order of a build."""
        known = {each.about.group: each for each in made}
        desk, found = self._desk, []
        left = set(desk.after)
        self._read_others()
        for group, files in by_group(sorted(left), self._makers.backends).items():
            found.append(self._group(group, known.get(group), files))
            left -= {facts.path for facts in found[-1].facts}
        desk.turn(desk.after)
        found.append(self._syntactic(known.get(SYNTACTIC), left))
        self._classify(made, found)
        return found

    def _classify(self, before: Sequence[Made], after: Sequence[Made]) -> None:
        """What the edit did to the declarations of each changed file, for the report."""
        old, new = ({facts.path: facts for made in both for facts in made.facts} for both in (before, after))
        for path, (was, now) in sorted(self._contents.items()):
            if path in old and path in new:
                edit = Edit(was or b"", now or b"")
                self._update.symbols += symbol_changes(old[path], new[path], edit)
            if path in new and now is not None and breaks_syntax(path, was or b"", now):
                self._update.broken.append(path)

    def _group(self, group: str, base: Made | None, files: Sequence[str]) -> Made:
        started = time.perf_counter()
        report = GroupUpdate(group, KEPT, files=len(files))
        self._update.groups.append(report)
        backends = self._makers.backends[group]
        change = self._change(backends[0].languages)
        backend = next((each for each in backends if identify(each) == (base and base.about.backend)), None)
        why = self._why_rebuilt(base, backend, change)
        reread = isinstance(backend, RereadingBackend) and any(map(backend.rereads, self._contents))
        if not why and not change and not reread and base is not None:
            return base
        try:
            if why:
                raise CannotMaintain(why)
            assert base is not None and isinstance(backend, FollowingBackend)
            self._desk.turn(self._desk.before)
            contents = {path: (old or b"", new or b"") for path, (old, new) in self._contents.items()}
            follower = Follower(backend, self._desk, base.facts, contents, self._arm)
            done = tuple(follower.follow(change, report))
            report.how = FOLLOWED
            if backend.caveat:
                report.confidence = f"{BY_CONSTRUCTION}, but for {backend.caveat}"
            made = Made(GroupFacts(group, base.about.backend, len(done), True, base.about.error), done)
        except (CannotMaintain, ProviderError) as error:
            if why or isinstance(error, ProviderError):
                self._desk.drop(group)  # first: an engine that failed cannot be told of files any more
            self._desk.turn(self._desk.after)
            report.how, report.why, report.confidence = REBUILT, error.message, BY_REBUILDING
            made = make_group(group, backends, self._produce, self._desk.root, files)
        report.seconds = time.perf_counter() - started - report.start_s
        return made

    def _why_rebuilt(self, base: Made | None, backend: FactBackend | None, change: Change) -> str:
        """The reason to make a group anew; empty when it can stay or follow."""
        if base is None or not base.about.resolved or backend is None:
            return "there are no facts of this backend to follow"
        if change and not isinstance(backend, FollowingBackend):
            return f"the {base.about.group} engine cannot follow edits yet"
        if isinstance(backend, KnowingBackend):
            root, contents = self._desk.root, sorted(self._contents.items())
            reasons = (backend.configures(root, path, *both) for path, both in contents)
            return next((reason for reason in reasons if reason), "")
        others = [path for path in self._contents if matters(path) and not self._is_source(path)]
        return f"{min(others)} may configure the engine" if others else ""

    def _is_source(self, path: str) -> bool:
        """Whether a file is of some group's languages, so that it configures no other."""
        hint = language_hint(path)
        return any(hint in found[0].languages for found in self._makers.backends.values())

    def _change(self, languages: frozenset[str]) -> Change:
        delta = self._delta
        return Change(
            [file.path for file in delta.changed if language_hint(file.path) in languages],
            [file.path for file in delta.added if language_hint(file.path) in languages],
            [path for path in delta.removed if language_hint(path) in languages],
        )

    def _read_others(self) -> None:
        """The changed files as they were and as they are."""
        desk, delta = self._desk, self._delta
        paths = sorted({file.path for file in (*delta.added, *delta.changed)} | set(delta.removed))
        before = {path: desk.read(path) for path in paths}
        desk.turn(desk.after)
        self._contents = {path: (before[path], desk.read(path)) for path in paths}

    def _syntactic(self, base: Made | None, left: Iterable[str]) -> Made:
        """What no engine covers; made anew when any of it changed, which takes milliseconds a file."""
        backend = self._makers.syntactic
        files = sorted(path for path in left if language_hint(path) in backend.languages)
        touched = {file.path for file in (*self._delta.added, *self._delta.changed)} | set(
            self._delta.removed
        )
        report = GroupUpdate(SYNTACTIC, KEPT, files=len(files))
        known = [facts.path for facts in base.facts] if base is not None else []
        if base is not None and sorted(known) == files and not touched.intersection(files):
            if files:
                self._update.groups.append(report)
            return base
        report.how, report.confidence = REBUILT, BY_REBUILDING
        report.why = "a file that only names are known of has changed"
        if files or known:
            self._update.groups.append(report)
        facts = self._produce(backend, SYNTACTIC, self._desk.root, files)
        return Made(GroupFacts(SYNTACTIC, identify(backend), len(facts), False), facts)

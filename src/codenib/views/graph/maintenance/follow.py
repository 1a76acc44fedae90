"""A group's facts and an edit in, its new facts out: the edited files and those whose answers may differ.

The set is closed under one rule. What a file shows to others is its surface: a digest of the type of each
name as the engine knows it, bodies included where they show through. A name whose digest is the same after
the edit changes nobody else. Where names did change, the files that depend on it, directly or not, *and*
write one of those names may answer differently, and the declarations in them that write it are compared in
turn. What is used without being written (the bases of a class, its special methods) counts for every name
whose type has the class. When the names are all known, the engine is asked once, for the bodies that write
them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np

from codenib.core.errors import CannotMaintain
from codenib.core.facts import WireNode
from codenib.core.protocols import Engine, FollowingBackend
from codenib.views.graph.facts.bind import Binder, node_rows
from codenib.views.graph.facts.canonical import canonical
from codenib.views.graph.facts.file import FileFacts
from codenib.views.graph.facts.rows import OCCURRENCE, RELATION
from codenib.views.graph.maintenance.classify import Edit, bodies, chains_at, chains_of_edit
from codenib.views.graph.maintenance.dependents import (
    Dependents,
    Shown,
    changed_names,
    keyword_of,
    module_stem,
)
from codenib.views.graph.maintenance.repair import Repair, plan_repair, repaired
from codenib.views.graph.maintenance.update import GroupUpdate, Rederived

# The share of a group's occurrences in files that write the names: from here on comparing them name by name
# costs more than it saves, and all dependents are derived.
_MOST = 0.6
Arm = Literal["symbol", "file"]


class Desk(Protocol):
    """The two states of the files, one of them on disk, and the engines that read it."""

    before: Mapping[str, str]
    after: Mapping[str, str]

    def turn(self, files: Mapping[str, str]) -> None: ...

    def engine(self, backend: FollowingBackend) -> tuple[Engine, float]: ...

    def read(self, path: str) -> bytes | None: ...


@dataclass
class Change:
    """The changed paths of one group."""

    changed: list[str] = field(default_factory=list)
    added: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.changed or self.added or self.removed)

    @property
    def present(self) -> list[str]:
        """Those that are there after the edit."""
        return sorted([*self.changed, *self.added])


class Follower:
    """Brings the facts of one group from one state of the files to the next."""

    def __init__(
        self,
        backend: FollowingBackend,
        desk: Desk,
        facts: Sequence[FileFacts],
        contents: Mapping[str, tuple[bytes, bytes]],
        arm: Arm = "symbol",
    ) -> None:
        """`contents`: the edited files before and after.

        `arm`: repair symbols inside files where that is exact and cheaper, or replace whole files.
        """
        self._backend = backend
        self._desk = desk
        self._old = {each.path: each for each in facts}
        self._arm = arm
        self._why: dict[str, str] = {}
        self._contents = contents
        self._around = Dependents(self._old, self._text)
        self._shown = Shown()
        self._whole: set[str] = set()  # files of which every line may differ
        self._nodes: dict[str, FileFacts] = {}  # after the edit, of files that can be asked in part
        self._lines: dict[str, bytes] = {}
        self._repairs: dict[str, Repair] = {}
        self._moved: dict[str, int] = {}
        self._compared: set[str] = set()  # files whose whole surfaces were
        self._closed: set[str] = set()  # files whose dependents are all derived as a whole
        self._size = sum(len(each.occurrences) for each in facts)

    def follow(self, change: Change, report: GroupUpdate) -> list[FileFacts]:
        """The facts of all files after `change`; raises `CannotMaintain` where a rebuild is due."""
        anchored = any(each.has_anchors for each in self._old.values())
        engine, report.start_s = self._desk.engine(self._backend)
        if engine.whole:
            if anchored:
                raise CannotMaintain("some facts have places that only their users know")
            return self._ask_all(engine, change, report)
        asked = engine.requests
        try:
            if anchored:
                raise CannotMaintain("some facts have places that only their users know")
            new = self._ask_some(engine, change)
        except CannotMaintain as reason:
            new = self._ask_every(engine, change, reason.message)
        report.names = sorted(self._shown.all | self._shown.keywords)
        report.requests = engine.requests - asked
        report.rederived = [Rederived(path, why) for path, why in sorted(self._why.items())]
        report.moved = sum(self._moved.values())
        every = sum(len(new[path].occurrences) for path in self._why if path in new)
        report.resolved = every - report.moved
        return [new[path] for path in sorted(new)]

    def _ask_some(self, engine: Engine, change: Change) -> dict[str, FileFacts]:
        """The files that may answer differently."""
        self._why = dict.fromkeys(change.changed, "edited") | dict.fromkeys(change.added, "new")
        self._whole.update(change.added)
        new = {path: facts for path, facts in self._old.items() if path not in change.removed}
        shown = self._compare(engine, change)
        self._take(self._near(new, change))
        self._spread(engine, new, shown + Shown({*map(module_stem, (*change.added, *change.removed))}))
        while True:
            while self._ask(engine):
                new = self._bind(change.removed)
            gone = self._around.dangling(new, self._why)
            self._whole.update(gone)
            self._take(gone)
            found = [*gone, *self._affected(new, self._shown)]
            if not found:
                return new
            shown = self._compare_entries(engine, self._entries(found, self._shown))
            self._spread(engine, new, shown - self._shown)

    def _ask_every(self, engine: Engine, change: Change, reason: str) -> dict[str, FileFacts]:
        """All files anew, by the engine as it is: it has read them, and a rebuild would say the same."""
        self._desk.turn(self._desk.after)
        paths = sorted((self._old.keys() | set(change.added)) - set(change.removed))
        self._why = {**dict.fromkeys(paths, reason), **dict.fromkeys(change.changed, "edited")}
        self._repairs, self._moved = {}, {}
        self._lines = dict(zip(paths, engine.lines(paths), strict=True))
        return self._bind(change.removed)

    def _compare(self, engine: Engine, change: Change) -> Shown:
        """How the surfaces of the edited files differ.

        Where an edit stays inside bodies, only what these bodies declare is compared. On disk are at first
        the files before the edit, afterwards those after it.
        """
        known = engine.imports(sorted([*change.changed, *change.removed]))
        self._desk.turn(self._desk.after)
        self._check_apart(engine, known, engine.imports(change.present))
        self._know(engine, change.changed)
        entries: dict[str, Sequence[str] | None] = {}
        for path in change.changed:
            chains = None
            if path in self._nodes:
                chains = chains_of_edit(self._old[path], self._nodes[path], Edit(*self._contents[path]))
            if chains is not None or path in self._around.users:
                entries[path] = chains
                self._compared.update([path] if chains is None else [])
            else:
                self._whole.add(path)  # nobody sees it: asking for all of it is cheaper than comparing
        return self._compare_entries(engine, entries)

    def _check_apart(
        self, engine: Engine, before: Mapping[str, list[str]], after: Mapping[str, list[str]]
    ) -> None:
        """Decline where other imports bring files in that the configuration leaves out, or let them go."""
        if all((before.get(path) or []) == (after.get(path) or []) for path in before.keys() | after.keys()):
            return
        now = engine.apart()
        self._desk.turn(self._desk.before)
        was = engine.apart()
        self._desk.turn(self._desk.after)
        if now != was:
            raise CannotMaintain("files that the configuration leaves out are now imported, or no longer")

    def _compare_entries(self, engine: Engine, entries: Mapping[str, Sequence[str] | None]) -> Shown:
        """How these entries of surfaces differ; None: all of a file's."""
        paths = sorted(path for path, chains in entries.items() if chains is None or chains)
        if not paths:
            return Shown()
        chosen = {path: chains for path in paths if (chains := entries[path]) is not None}
        after = engine.surfaces(
            paths, sorted(self._shown.all | self._shown.keywords), chosen, sorted(self._shown.held)
        )
        self._desk.turn(self._desk.before)
        before = engine.surfaces(paths, (), chosen)
        self._desk.turn(self._desk.after)
        return changed_names(before, after, self._around.subclasses)

    def _spread(self, engine: Engine, new: Mapping[str, FileFacts], shown: Shown) -> None:
        """Take in whom the names concern, and the names that this changes, until there are no more."""
        while shown:
            self._shown += shown
            self._affected(new, shown)
            shown = self._compare_entries(engine, self._entries(self._why, shown)) - self._shown

    def _entries(self, paths: Collection[str], shown: Shown) -> dict[str, Sequence[str] | None]:
        """What of these files may have other types because of `shown`; None: anything."""
        found: dict[str, Sequence[str] | None] = {}
        for path in paths:
            seen = path in self._around.users and path in self._old and path not in self._closed
            if path in self._whole and not seen:
                continue
            facts = self._nodes.get(path) or (None if path in self._contents else self._old[path])
            if path in self._whole and path not in self._compared:
                self._compared.add(path)
                found[path] = None
            elif lines := self._around.lines_with(path, shown):
                found[path] = None if facts is None else chains_at(facts, lines)
        return found

    def _near(self, new: Mapping[str, FileFacts], change: Change) -> dict[str, str]:
        """Files that a module which came or went may concern: what they import may lead elsewhere now."""
        found: dict[str, str] = {}
        for path in (*change.added, *change.removed):
            stem, fate = module_stem(path), "came" if path in change.added else "went"
            package = path.rpartition("/")[0] + "/" if path.rpartition("/")[2].startswith("__init__.") else ""
            for other in new.keys() - self._why.keys() - found.keys():
                if self._around.mention(other, [stem]):
                    found[other] = f"writes {stem}, and {path} {fate}"
                elif package and other.startswith(package) and b"from ." in self._around.text(other):
                    found[other] = f"may import from {path}, which {fate}"
                    self._whole.add(other)
        return found

    def _affected(self, new: Mapping[str, FileFacts], shown: Shown) -> dict[str, str]:
        """The next files to derive, each with its reason; they are noted."""
        found: dict[str, str] = {}
        names = shown.names | shown.made | shown.held
        keyword = keyword_of(shown.keywords)
        near = self._around.of(self._why, new, self._why) if names or keyword else set()
        for path in near - self._why.keys():
            if hit := self._around.mention(path, names):
                found[path] = f"writes {hit}, which means something else now"
            elif keyword and (written := keyword.search(self._around.text(path))):
                found[path] = f"writes {written[0].decode()}, which may be another parameter now"
        for source, imported in shown.imports.items():
            for path in self._around.importers(source, new, self._why) - self._why.keys() - found.keys():
                if hit := self._around.mention(path, imported):
                    found[path] = f"writes {hit}, which {source} imports otherwise now"
        for source, reason in shown.wide.items():
            found |= self._close([source], new, reason)
        self._take(found)
        if sum(self._weight(path) for path in self._why if path in self._old) > _MOST * self._size:
            more = self._close(self._why, new, f"depends on what {len(self._why)} files write")
            self._take(more)
            found |= more
        return found

    def _close(self, paths: Collection[str], new: Mapping[str, FileFacts], reason: str) -> dict[str, str]:
        """The dependents of files that are not noted yet; all of them are derived as a whole, uncompared."""
        group = self._around.of(paths, new, self._why) | (set(paths) & new.keys())
        self._whole |= group
        self._closed |= group
        return dict.fromkeys(group - self._why.keys(), reason)

    def _take(self, found: Mapping[str, str]) -> None:
        """Note files to derive."""
        self._why.update({path: why for path, why in found.items() if path not in self._why})

    def _weight(self, path: str) -> int:
        """About how many occurrences of a file are to be resolved."""
        lines = self._old[path].occurrences["line"]
        if path in self._whole or path in self._contents:
            return len(lines)
        hit = self._around.lines_with(path, self._shown)
        found = [body for body in bodies(self._old[path]) if hit.isdisjoint(range(body.first, body.last + 1))]
        return len(lines) - sum(
            int(np.count_nonzero((lines >= each.first) & (lines <= each.last))) for each in found
        )

    def _know(self, engine: Engine, paths: Sequence[str]) -> None:
        """The declarations of files, after the edit; without them a file is asked as a whole."""
        found = engine.nodes(paths) if paths and self._arm == "symbol" else {}
        self._nodes.update({path: bare_facts(path, rows) for path, rows in found.items()})
        self._whole.update(path for path in paths if path not in found)

    def _ask(self, engine: Engine) -> bool:
        """The lines of the files that may differ, of most only where they write a name that changed.

        False when all are at hand.
        """
        part = [path for path in sorted(self._why) if path not in self._whole]
        self._know(engine, [path for path in part if path not in self._nodes])
        repairs = {path: plan for path in part if path not in self._whole and (plan := self._plan(path))}
        asked = [
            path
            for path in sorted(self._why)
            if path not in self._lines or self._repairs.get(path) != repairs.get(path)
        ]
        self._repairs = repairs
        within = {path: repairs[path].within for path in asked if path in repairs}
        if asked:
            self._lines.update(zip(asked, engine.lines(asked, within), strict=True))
        return bool(asked)

    def _plan(self, path: str) -> Repair | None:
        """Which bodies of a file stay as they were."""
        text = self._around.text(path)
        edit = Edit(*self._contents.get(path, (text, text)))
        writes = self._around.writer(path, self._shown)
        return plan_repair(
            edit, bodies(self._old[path]), bodies(self._nodes[path]), lambda part: not writes(part)
        )

    def _text(self, path: str) -> bytes:
        """A file after the edit; files that did not change are read from disk."""
        known = self._contents.get(path)
        return known[1] if known is not None else self._desk.read(path) or b""

    def _ask_all(self, engine: Engine, change: Change, report: GroupUpdate) -> list[FileFacts]:
        """Every file by an engine that knows itself what still holds; what is equal stays as it was."""
        asked = engine.requests
        settled = engine.settled
        self._desk.turn(self._desk.after)
        paths = sorted((self._old.keys() | set(change.added)) - set(change.removed))
        lines, _ = engine.differing(paths, anew=not settled)
        self._lines = dict(lines)
        new = self._bind(change.removed)
        why = {**dict.fromkeys(change.changed, "edited"), **dict.fromkeys(change.added, "new")}
        for path, facts in new.items():
            old = self._old.get(path)
            if old is facts:
                continue
            if old is not None and old.plain() == facts.plain():
                new[path] = old
            elif path not in why:
                why[path] = "answers differently"
        report.requests = engine.requests - asked
        report.rederived = [Rederived(path, reason) for path, reason in sorted(why.items())]
        report.resolved = sum(len(new[path].occurrences) for path in why)
        return [new[path] for path in sorted(new)]

    def _bind(self, removed: Collection[str]) -> dict[str, FileFacts]:
        """The facts of the new lines and those that stay."""
        stay = {
            path: facts
            for path, facts in self._old.items()
            if path not in self._lines and path not in removed
        }
        binder = Binder(self._backend.group, lambda path: self._desk.read(path) or b"", stay.values())
        for line in self._lines.values():
            binder.add(line)
        bound = {facts.path: facts for facts in binder.bind()}
        if binder.unlisted:
            raise CannotMaintain(f"a place in {min(binder.unlisted)} is referred to for the first time")
        for path, facts in bound.items():
            if path in self._repairs:
                try:
                    bound[path], self._moved[path] = repaired(self._old[path], facts, self._repairs[path])
                    continue
                except CannotMaintain:
                    self._whole.add(path)
            self._moved.pop(path, None)
            bound[path] = canonical(facts)
        return {**stay, **bound}


def bare_facts(path: str, nodes: Sequence[WireNode]) -> FileFacts:
    """Declarations alone as facts."""
    return FileFacts(
        path=path,
        group="",
        names=tuple(node.name for node in nodes),
        nodes=node_rows(nodes),
        targets=(),
        list_ptr=np.zeros(1, np.int32),
        list_items=np.zeros(0, np.int32),
        occurrences=np.zeros(0, OCCURRENCE),
        relations=np.zeros(0, RELATION),
    )

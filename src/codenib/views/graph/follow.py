"""A group's facts and an edit in, its new facts out: the edited files and those whose answers may differ.

The set is closed under one rule. What a file shows to others is its surface: a digest of the type of each
name as the engine knows it, bodies included where they show through. A file whose surface is the same after
the edit changes nobody else. Where names did change, the files that depend on it, directly or not, *and*
write one of those names are derived anew, and then their surfaces are compared. What is used without being
written (the bases of a class, its special methods) counts for every dependent.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePosixPath
from typing import Literal, Protocol

import numpy as np

from codenib.core.errors import CannotMaintain
from codenib.core.facts import RELATIONS, NodeFlag
from codenib.core.protocols import Engine, FollowingBackend
from codenib.views.graph.canonical import canonical
from codenib.views.graph.classify import Edit, bodies, chains_in, inside
from codenib.views.graph.facts import OUTSIDE, Binder, FileFacts, node_rows
from codenib.views.graph.repair import Repair, plan_repair, repaired
from codenib.views.graph.update import GroupUpdate, Rederived

# Deriving 11 and 12 of requests' 37 files took a third of a rebuild, 17 of them 1.4 times as long as one.
_MOST = 0.4
_FEW = 12
_WORD = re.compile(r"[^\W\d]\w*")
Arm = Literal["symbol", "file"]
_CLASS = "(class)"  # ends the entry of a class's bases, type parameters and the like
_IMPORT = "(import)"  # ends the entry of a name that a module imports
_MADE = "__init__"
_ONLY = " only "  # in the scope of a key, as engines write it


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
        self._lines: dict[str, bytes] = {}
        self._repairs: dict[str, Repair] = {}
        self._moved: dict[str, int] = {}
        self._heirs: dict[str, set[str]] = defaultdict(set)

    def follow(self, change: Change, report: GroupUpdate) -> list[FileFacts]:
        """The facts of all files after `change`; raises `CannotMaintain` where a rebuild is due."""
        if any(np.any(each.nodes[:, 9] & NodeFlag.ANCHOR) for each in self._old.values()):
            raise CannotMaintain("some facts have places that only their users know")
        engine, report.start_s = self._desk.engine(self._backend)
        asked = engine.requests
        if engine.whole:
            return self._ask_all(engine, change, report)
        self._why = dict.fromkeys(change.changed, "edited") | dict.fromkeys(change.added, "new")
        self._limit(self._why)
        imported = dict(engine.imports(sorted([*change.changed, *change.removed])))
        shown, known = self._compare(engine, change)
        self._check_apart(engine, imported, dict(engine.imports(change.present)))
        self._ask(engine, change.present, known, shown)
        new = self._bind(change.removed)
        names = set(shown.all)
        near = self._near(change)
        while found := self._affected(new, shown, near):
            more = self._surfaces(engine, [path for path in found if path in self._users], shown.all)
            self._ask(engine, found, {path: None for path in found if path in self._users}, shown + more)
            new = self._bind(change.removed)
            shown, near = more, {}
            names |= shown.all
        report.names = sorted(names)
        report.requests = engine.requests - asked
        report.rederived = [Rederived(path, why) for path, why in sorted(self._why.items())]
        report.moved = sum(self._moved.values())
        every = sum(len(new[path].occurrences) for path in self._why if path in new)
        report.resolved = every - report.moved
        return [new[path] for path in sorted(new)]

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

    def _compare(self, engine: Engine, change: Change) -> tuple[Shown, dict[str, FileFacts | None]]:
        """How the surfaces of the edited files differ, and of which of them that is known.

        Where an edit stays inside bodies, only what these bodies declare is compared. On disk are at first
        the files before the edit, afterwards those after it.
        """
        edits = {path: Edit(*self._contents[path]) for path in change.changed}
        wanted = {path: self._declared(self._old[path], edit.touched(0)) for path, edit in edits.items()}
        inner = sorted(path for path, chains in wanted.items() if chains is not None)
        full = [path for path in change.changed if path in self._users and path not in inner]
        before = self._seen(engine, inner, {path: wanted[path] or [] for path in inner})
        all_before = self._seen(engine, full)
        self._desk.turn(self._desk.after)
        nodes = {path: bare_facts(path, rows) for path, rows in engine.nodes(inner).items()} if inner else {}
        there = {path: self._declared(facts, edits[path].touched(1)) for path, facts in nodes.items()}
        after = self._seen(
            engine,
            [path for path in inner if there.get(path) is not None],
            {path: chains for path, chains in there.items() if chains is not None},
        )
        same = [path for path in inner if path in after and before[path] == after[path]]
        more = [path for path in inner if path not in same and path in self._users]
        all_after = self._seen(engine, [*full, *more])
        if more:
            self._desk.turn(self._desk.before)
            all_before |= self._seen(engine, more)
            self._desk.turn(self._desk.after)
        known = {path: nodes.get(path) for path in (*same, *full, *more)}
        return changed_names(all_before, all_after, self._subclasses), known

    def _declared(self, facts: FileFacts, touched: set[int]) -> list[str] | None:
        """What the bodies that hold the touched lines declare; None when a line lies elsewhere."""
        chosen = inside(touched, bodies(facts))
        return None if chosen is None else chains_in(facts, chosen)

    def _seen(
        self, engine: Engine, paths: Sequence[str], entries: Mapping[str, Sequence[str]] | None = None
    ) -> dict[str, Mapping[str, str]]:
        return dict(engine.surfaces(paths, (), entries)) if paths else {}

    def _surfaces(self, engine: Engine, paths: Sequence[str], touched: Collection[str]) -> Shown:
        """How the surfaces of dependents differ; who is not used has none."""
        if not paths:
            return Shown()
        after = engine.surfaces(paths, sorted(touched))
        self._desk.turn(self._desk.before)
        before = engine.surfaces(paths)
        self._desk.turn(self._desk.after)
        return changed_names(before, after, self._subclasses)

    def _ask(
        self, engine: Engine, paths: Sequence[str], known: Mapping[str, FileFacts | None], shown: Shown
    ) -> None:
        """The lines of files; of those in `known` (with their nodes, if at hand) where they may differ."""
        if not paths:
            return
        missing = [path for path, facts in known.items() if facts is None and self._arm == "symbol"]
        nodes = (
            {path: bare_facts(path, rows) for path, rows in engine.nodes(missing).items()} if missing else {}
        )
        for path in known if self._arm == "symbol" and not shown.wide else ():
            facts = known[path] or nodes.get(path)
            if facts is None or entwined(self._old[path]):
                continue
            text = self._desk.read(path) or b""
            edit = Edit(*self._contents.get(path, (text, text)))
            repair = plan_repair(
                edit, bodies(self._old[path]), bodies(facts), lambda part: _stays(part, shown.all)
            )
            if repair is not None:
                self._repairs[path] = repair
        within = {path: self._repairs[path].within for path in paths if path in self._repairs}
        self._lines.update(zip(paths, engine.lines(paths, within), strict=True))

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
            if old is not None and old.plain() == facts.plain():
                new[path] = old
            elif path not in why:
                why[path] = "answers differently"
        report.requests = engine.requests - asked
        report.rederived = [Rederived(path, reason) for path, reason in sorted(why.items())]
        report.resolved = sum(len(new[path].occurrences) for path in why)
        return [new[path] for path in sorted(new)]

    @cached_property
    def _users(self) -> dict[str, set[str]]:
        """Which files name which, before the edit."""
        users: dict[str, set[str]] = defaultdict(set)
        for path, each in self._old.items():
            for other in each.referred:
                users[other].add(path)
        return users

    def _subclasses(self, name: str) -> set[str]:
        """The names of the classes that inherit from one of this name, directly or not."""
        if not self._heirs:
            inherit = RELATIONS.index("inherit")
            for each in self._old.values():
                for kind, source, to in each.relations.tolist():
                    if kind == inherit:
                        self._heirs[_last(each, to)].add(_last(each, source))
        found, left = {name}, [name]
        while left:
            for heir in self._heirs.get(left.pop(), ()):
                if heir not in found:
                    found.add(heir)
                    left.append(heir)
        return found

    def _near(self, change: Change) -> dict[str, str]:
        """Files that a module which came or went may concern: what they import may lead elsewhere now."""
        near = {}
        for path in (*change.added, *change.removed):
            stem = module_stem(path)
            near[stem] = f"writes {stem}, and {path} {'came' if path in change.added else 'went'}"
        return near

    def _affected(self, new: Mapping[str, FileFacts], shown: Shown, near: Mapping[str, str]) -> list[str]:
        """The next files to derive, each with its reason noted."""
        found = self._dangling(new)
        for path in new.keys() - self._why.keys() if near else ():
            if hit := self._mention(path, near):
                found[path] = near[hit]
        if shown.names or shown.wide:
            for path in self._dependents(new) - self._why.keys() - found.keys():
                if shown.wide:
                    found[path] = shown.wide
                elif hit := self._mention(path, shown.names):
                    found[path] = f"writes {hit}, which means something else now"
        for source, imported in shown.imports.items():
            for path in self._importers(source, new) - self._why.keys() - found.keys():
                if hit := self._mention(path, imported):
                    found[path] = f"writes {hit}, which {source} imports otherwise now"
        self._why.update(found)
        self._limit(self._why)
        return sorted(found)

    def _importers(self, source: str, new: Mapping[str, FileFacts]) -> set[str]:
        """The files that name a module; when one takes all of its names, every dependent."""
        named = f"{source}#"
        direct = {
            path
            for path in self._users.get(source, ())
            if path in new and (named in self._old[path].targets or named in new[path].targets)
        }
        if any(b"import *" in (self._desk.read(path) or b"") for path in direct):
            return self._dependents(new)
        return direct

    def _dangling(self, new: Mapping[str, FileFacts]) -> dict[str, str]:
        """Files that name a declaration which is no longer there."""
        touched = self._why.keys() | (self._old.keys() - new.keys())
        there = {name for path in self._why if path in new for name in new[path].identities}
        there |= {f"{path}#" for path in touched if path in new}
        users = {user for path in touched for user in self._users.get(path, ())}
        found = {}
        for path in (users & new.keys()) - self._why.keys():
            for target in new[path].targets:
                if not isinstance(target, str) or target[0] == OUTSIDE or target in there:
                    continue
                if target.partition("#")[0] in touched:
                    found[path] = f"names {target}, which is gone"
                    break
        return found

    def _limit(self, found: Mapping[str, str]) -> None:
        if len(found) > max(_FEW, _MOST * len(self._old)):
            raise CannotMaintain(f"{len(found)} of {len(self._old)} files may answer differently")

    def _mention(self, path: str, names: Collection[str]) -> str:
        """One of the names that a file writes."""
        data = self._desk.read(path)
        words = set(_WORD.findall((data or b"").decode("utf-8", "replace")))
        return min(words.intersection(names), default="")

    def _dependents(self, new: Mapping[str, FileFacts]) -> set[str]:
        """The files that depend on one that was derived anew, directly or not, before or after the edit."""
        users: dict[str, set[str]] = {path: set(found) for path, found in self._users.items()}
        for path in self._why.keys() & new.keys():
            for other in new[path].referred:
                users.setdefault(other, set()).add(path)
        found: set[str] = set()
        left = list(self._why)
        while left:
            for user in users.get(left.pop(), ()):
                if user not in found:
                    found.add(user)
                    left.append(user)
        return found & new.keys()

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
                bound[path], self._moved[path] = repaired(self._old[path], facts, self._repairs[path])
            else:
                bound[path] = canonical(facts)
        return {**stay, **bound}


@dataclass
class Shown:
    """How the surfaces of files differ."""

    names: set[str] = field(default_factory=set)
    imports: dict[str, set[str]] = field(default_factory=dict)  # by the file that imports them
    wide: str = ""  # why every dependent counts, if so

    @property
    def all(self) -> set[str]:
        return self.names.union(*self.imports.values())

    def __add__(self, other: Shown) -> Shown:
        both = {path: set(names) for path, names in self.imports.items()}
        for path, names in other.imports.items():
            both.setdefault(path, set()).update(names)
        return Shown(self.names | other.names, both, self.wide or other.wide)


def changed_names(
    before: Mapping[str, Mapping[str, str]],
    after: Mapping[str, Mapping[str, str]],
    subclasses: Callable[[str], Collection[str]],
) -> Shown:
    """The names that differ between surfaces."""
    shown = Shown()
    for path in sorted(before.keys() | after.keys()):
        old, new = before.get(path, {}), after.get(path, {})
        for entry in sorted(old.keys() | new.keys()):
            if old.get(entry) == new.get(entry):
                continue
            chain, _, mark = entry.partition(" ")
            owner, _, last = chain.rpartition(".")
            if mark == _IMPORT:
                shown.imports.setdefault(path, set()).add(last)
                continue
            shown.names.add(last)
            if last == _MADE and not mark:
                shown.names.update(subclasses(owner.rpartition(".")[2]))
            elif mark == _CLASS and entry in old and entry in new:
                shown.wide = f"depends on {path}, where the bases of {chain} changed"
            elif owner and last.startswith("__") and last.endswith("__"):
                shown.wide = f"depends on {path}, where {chain} changed"
    return shown


def _last(facts: FileFacts, target: int) -> str:
    """The plain name of a target."""
    named = facts.targets[target]
    if isinstance(named, int):
        return facts.names[named] if named >= 0 else ""
    return named.partition("#")[2].partition(":")[0].rpartition(".")[2]


def module_stem(path: str) -> str:
    """The name by which a module is imported: its file's, or its folder's."""
    pure = PurePosixPath(path)
    return pure.parent.name if pure.stem == "__init__" else pure.stem


def entwined(facts: FileFacts) -> bool:
    """Whether answers in a file depend on other lines of it: keys that only its own questions find."""
    return any(isinstance(target, str) and _ONLY in target for target in facts.targets)


def bare_facts(path: str, rows: Sequence[Sequence[str | int]]) -> FileFacts:
    """Declarations alone as facts."""
    none = np.zeros(0, np.int32)
    return FileFacts(
        path, "", tuple(str(row[0]) for row in rows), node_rows(rows), (), np.zeros(1, np.int32), none,
        none.reshape(-1, 8), none.reshape(-1, 3),
    )  # fmt: skip


def _stays(text: bytes, names: Collection[str]) -> bool:
    """Whether a text has none of the names."""
    return not names or not set(_WORD.findall(text.decode("utf-8", "replace"))).intersection(names)

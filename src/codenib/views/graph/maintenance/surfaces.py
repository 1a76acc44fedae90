"""A group's facts and an edit in, its new facts out: the edited files and those whose answers may differ.

The set is closed under one rule. What other files see of a file is its surface: a digest of the type of each
name as the engine knows it, which includes a body where the type follows from it. A name whose digest is the
same after the edit changes no other file. Where names did change, the files that depend on the edited one,
directly or not, *and* write one of those names may answer differently; the declarations in them that write
it are compared in turn. What is used without being written (the bases of a class, its special methods)
counts for every name whose type has the class. When all changed names are known, the engine is asked once,
for the bodies that write them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from codenib.core.errors import CannotMaintain
from codenib.core.facts import WireNode
from codenib.core.protocols import SurfaceEngine
from codenib.core.surfaces import ChangedNames
from codenib.core.updates import GroupUpdate, Rederived
from codenib.views.graph.facts.bind import node_rows
from codenib.views.graph.facts.canonical import canonical
from codenib.views.graph.facts.file import FileFacts
from codenib.views.graph.facts.rows import OCCURRENCE, RELATION
from codenib.views.graph.maintenance.bodies import bodies, chains_at, chains_of_edit
from codenib.views.graph.maintenance.dependents import Dependents
from codenib.views.graph.maintenance.group_edit import EngineWorkspace, GroupEdit, bind_lines
from codenib.views.graph.maintenance.repair import Repair, plan_repair, repaired
from codenib.views.graph.maintenance.text_edit import TextEdit

# The share of a group's occurrences in files that write the names: from here on comparing them name by name
# costs more than it saves, and all dependents are derived again.
_MOST = 0.6


class SurfaceFollower:
    """Brings the facts of one group from one state of the files to the next."""

    def __init__(self, engine: SurfaceEngine, edit: GroupEdit, workspace: EngineWorkspace) -> None:
        self._engine = engine
        self._edit = edit
        self._old = edit.facts
        self._workspace = workspace
        self._dependents = Dependents(edit.facts, self._text, engine.rules)
        self._reasons: dict[str, str] = {}  # the files to derive again
        self._changed = ChangedNames()
        self._whole: set[str] = set()  # files of which every line may differ
        self._declared: dict[str, FileFacts] = {}  # after the edit, of files that can be asked in part
        self._lines: dict[str, bytes] = {}
        self._repairs: dict[str, Repair] = {}
        self._moved: dict[str, int] = {}
        self._compared: set[str] = set()  # files whose whole surfaces were
        self._closed: set[str] = set()  # files whose dependents are all derived as a whole
        self._size = sum(len(each.occurrences) for each in edit.facts.values())

    def follow(self, report: GroupUpdate) -> list[FileFacts]:
        """The facts of all files after the edit; raises `CannotMaintain` where a rebuild is due."""
        asked = self._engine.requests
        try:
            if any(each.has_anchors for each in self._old.values()):
                raise CannotMaintain("some facts have places that only their users know")
            new = self._derive_some()
        except CannotMaintain as reason:
            new = self._derive_all(reason.message)
        report.names = sorted(self._changed.all | self._changed.keywords)
        report.requests = self._engine.requests - asked
        report.rederived = [Rederived(path, why) for path, why in sorted(self._reasons.items())]
        report.moved = sum(self._moved.values())
        every = sum(len(new[path].occurrences) for path in self._reasons if path in new)
        report.resolved = every - report.moved
        return [new[path] for path in sorted(new)]

    def _derive_some(self) -> dict[str, FileFacts]:
        """The files that may answer differently."""
        files = self._edit.files
        self._reasons = files.reasons
        self._whole.update(files.added)
        new = {path: facts for path, facts in self._old.items() if path not in files.removed}
        changed = self._compare_edited()
        self._note(self._importers_of_modules(new))
        modules = {self._engine.rules.module_name(path) for path in (*files.added, *files.removed)}
        self._spread(new, changed + ChangedNames(modules))
        while True:
            while self._ask():
                new = self._bind()
            dangling = self._dependents.dangling(new, self._reasons)
            self._whole.update(dangling)
            self._note(dangling)
            found = [*dangling, *self._affected(new, self._changed)]
            if not found:
                return new
            changed = self._compare(self._entries(found, self._changed))
            self._spread(new, changed - self._changed)

    def _derive_all(self, reason: str) -> dict[str, FileFacts]:
        """All files anew, by the engine as it is: it has read them, and a rebuild would say the same."""
        self._workspace.check_out(self._workspace.after)
        paths = self._edit.paths_after
        self._reasons = {**dict.fromkeys(paths, reason), **dict.fromkeys(self._edit.files.changed, "edited")}
        self._repairs, self._moved = {}, {}
        self._lines = dict(zip(paths, self._engine.lines(paths), strict=True))
        return self._bind()

    def _compare_edited(self) -> ChangedNames:
        """How the surfaces of the edited files differ.

        Where an edit stays inside bodies, only what these bodies declare is compared. On disk are at first
        the files before the edit, afterwards those after it.
        """
        files = self._edit.files
        self._workspace.check_out(self._workspace.after)
        self._read_declarations(files.changed)
        entries: dict[str, Sequence[str] | None] = {}
        for path in files.changed:
            chains = None
            if path in self._declared:
                edit = TextEdit(*self._edit.contents[path])
                chains = chains_of_edit(self._old[path], self._declared[path], edit)
            if chains is not None or path in self._dependents.users:
                entries[path] = chains
                self._compared.update([path] if chains is None else [])
            else:
                self._whole.add(path)  # nobody depends on it: asking for all is cheaper than comparing
        return self._compare(entries)

    def _compare(self, entries: Mapping[str, Sequence[str] | None]) -> ChangedNames:
        """How these entries of surfaces differ; None: all of a file's."""
        paths = sorted(path for path, chains in entries.items() if chains is None or chains)
        if not paths:
            return ChangedNames()
        chosen = {path: chains for path in paths if (chains := entries[path]) is not None}
        touched, implicit = self._changed.all | self._changed.keywords, self._changed.implicit
        after = self._engine.surfaces(paths, sorted(touched), chosen, sorted(implicit))
        self._workspace.check_out(self._workspace.before)
        before = self._engine.surfaces(paths, (), chosen)
        self._workspace.check_out(self._workspace.after)
        return self._engine.rules.compare(before, after, self._dependents.subclasses)

    def _spread(self, new: Mapping[str, FileFacts], changed: ChangedNames) -> None:
        """Note whom the names concern, and the names that this changes, until there are no more."""
        while changed:
            self._changed += changed
            self._affected(new, changed)
            changed = self._compare(self._entries(self._reasons, changed)) - self._changed

    def _entries(self, paths: Collection[str], changed: ChangedNames) -> dict[str, Sequence[str] | None]:
        """What of these files may have other types because of `changed`; None: anything."""
        found: dict[str, Sequence[str] | None] = {}
        for path in paths:
            visible = path in self._dependents.users and path in self._old and path not in self._closed
            if path in self._whole and not visible:
                continue
            facts = self._declared.get(path) or (None if path in self._edit.contents else self._old[path])
            if path in self._whole and path not in self._compared:
                self._compared.add(path)
                found[path] = None
            elif lines := self._dependents.lines_with(path, changed):
                found[path] = None if facts is None else chains_at(facts, lines)
        return found

    def _importers_of_modules(self, new: Mapping[str, FileFacts]) -> dict[str, str]:
        """Files that a module which came or went may concern: what they import may lead elsewhere now."""
        found: dict[str, str] = {}
        rules, files = self._engine.rules, self._edit.files
        for path in (*files.added, *files.removed):
            name, fate = rules.module_name(path), "came" if path in files.added else "went"
            for other in new.keys() - self._reasons.keys() - found.keys():
                if self._dependents.mention(other, [name]):
                    found[other] = f"writes {name}, and {path} {fate}"
                elif rules.may_import_unnamed(other, self._dependents.text(other), path):
                    found[other] = f"may import from {path}, which {fate}"
                    self._whole.add(other)
        return found

    def _affected(self, new: Mapping[str, FileFacts], changed: ChangedNames) -> dict[str, str]:
        """The next files to derive again, each with its reason; they are noted."""
        found: dict[str, str] = {}
        names = changed.names | changed.constructed | changed.implicit
        keyword = self._engine.rules.keyword_arguments(changed.keywords)
        near = self._dependents.of(self._reasons, new, self._reasons) if names or keyword else set()
        for path in near - self._reasons.keys():
            if name := self._dependents.mention(path, names):
                found[path] = f"writes {name}, which means something else now"
            elif keyword and (written := keyword.search(self._dependents.text(path))):
                found[path] = f"writes {written[0].decode()}, which may be another parameter now"
        for source, imported in changed.imports.items():
            importers = self._dependents.importers(source, new, self._reasons)
            for path in importers - self._reasons.keys() - found.keys():
                if name := self._dependents.mention(path, imported):
                    found[path] = f"writes {name}, which {source} imports otherwise now"
        for source, reason in changed.wide.items():
            found |= self._close([source], new, reason)
        self._note(found)
        if sum(self._weight(path) for path in self._reasons if path in self._old) > _MOST * self._size:
            more = self._close(self._reasons, new, f"depends on what {len(self._reasons)} files write")
            self._note(more)
            found |= more
        return found

    def _close(self, paths: Collection[str], new: Mapping[str, FileFacts], reason: str) -> dict[str, str]:
        """The dependents of files that are not noted yet; all of them are derived as a whole, uncompared."""
        group = self._dependents.of(paths, new, self._reasons) | (set(paths) & new.keys())
        self._whole |= group
        self._closed |= group
        return dict.fromkeys(group - self._reasons.keys(), reason)

    def _note(self, found: Mapping[str, str]) -> None:
        """Add files to derive again; the first reason counts."""
        for path, reason in found.items():
            self._reasons.setdefault(path, reason)

    def _weight(self, path: str) -> int:
        """About how many occurrences of a file are to be resolved."""
        lines = self._old[path].occurrences["line"]
        if path in self._whole or path in self._edit.contents:
            return len(lines)
        concerned = self._dependents.lines_with(path, self._changed)
        stay = [
            body for body in bodies(self._old[path]) if concerned.isdisjoint(range(body.first, body.last + 1))
        ]
        return len(lines) - sum(
            int(np.count_nonzero((lines >= body.first) & (lines <= body.last))) for body in stay
        )

    def _read_declarations(self, paths: Sequence[str]) -> None:
        """The declarations of files, after the edit; without them a file is asked as a whole."""
        found = self._engine.nodes(paths) if paths and self._edit.level == "symbol" else {}
        self._declared.update({path: bare_facts(path, rows) for path, rows in found.items()})
        self._whole.update(path for path in paths if path not in found)

    def _ask(self) -> bool:
        """Ask for the lines of the files that may differ, of most only where they write a changed name.

        False when no line is missing.
        """
        part = [path for path in sorted(self._reasons) if path not in self._whole]
        self._read_declarations([path for path in part if path not in self._declared])
        repairs = {path: plan for path in part if path not in self._whole and (plan := self._plan(path))}
        asked = [
            path
            for path in sorted(self._reasons)
            if path not in self._lines or self._repairs.get(path) != repairs.get(path)
        ]
        self._repairs = repairs
        within = {path: repairs[path].within for path in asked if path in repairs}
        if asked:
            self._lines.update(zip(asked, self._engine.lines(asked, within), strict=True))
        return bool(asked)

    def _plan(self, path: str) -> Repair | None:
        """Which bodies of a file stay as they were."""
        text = self._dependents.text(path)
        edit = TextEdit(*self._edit.contents.get(path, (text, text)))
        writes = self._dependents.writer(path, self._changed)
        old, new = bodies(self._old[path]), bodies(self._declared[path])
        return plan_repair(edit, old, new, lambda part: not writes(part))

    def _text(self, path: str) -> bytes:
        """A file after the edit; files that did not change are read from disk."""
        known = self._edit.contents.get(path)
        return known[1] if known is not None else self._workspace.read(path) or b""

    def _bind(self) -> dict[str, FileFacts]:
        """The facts of all files: those that stay, and those of the new lines, repaired from the old ones."""
        new, bound = bind_lines(self._edit, self._workspace, self._lines)
        for facts in bound:
            path = facts.path
            if path in self._repairs:
                try:
                    new[path], self._moved[path] = repaired(self._old[path], facts, self._repairs[path])
                    continue
                except CannotMaintain:
                    self._whole.add(path)
            self._moved.pop(path, None)
            new[path] = canonical(facts)
        return new


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

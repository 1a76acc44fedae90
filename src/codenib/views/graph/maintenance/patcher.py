"""An edit and the facts before it in, the facts after it out, group by group, with a report of what was done.

A group whose engine reads nothing of the edit keeps its facts. One whose engine can follow the edit does: by
the differences that the engine itself reports, or by comparing surfaces. The rest is made anew, and says why;
the other groups stay as they are.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace

from codenib.core.errors import CannotMaintain, ProviderError
from codenib.core.protocols import AnnotatedSource, DifferenceEngine, FactBackend, ResidentBackend
from codenib.core.source import Delta
from codenib.core.updates import (
    BY_CONSTRUCTION,
    BY_REBUILDING,
    FOLLOWED,
    REBUILT,
    UNCHANGED,
    GraphUpdate,
    GroupUpdate,
)
from codenib.units.languages import language_hint
from codenib.views.graph.facts.file import FileFacts
from codenib.views.graph.facts.groups import (
    GroupFacts,
    GroupOrigin,
    Produce,
    affects_facts,
    files_by_group,
    produce_group,
)
from codenib.views.graph.maintenance.classify import symbol_changes
from codenib.views.graph.maintenance.differences import Early, follow_differences
from codenib.views.graph.maintenance.group_edit import ChangedFiles, EngineWorkspace, GroupEdit, RepairLevel
from codenib.views.graph.maintenance.stale_syntax import breaks_syntax
from codenib.views.graph.maintenance.surfaces import SurfaceFollower
from codenib.views.graph.maintenance.text_edit import TextEdit
from codenib.views.graph.profile import SYNTACTIC, GraphBackends, identify

#: Takes the groups of a graph, and the files whose facts are still of before the edit.
EarlyGroups = Callable[[Sequence[GroupFacts], Collection[str]], None]


class GraphPatcher:
    """The paper's file and symbol repair: brings the facts of a graph from one snapshot to the next."""

    def __init__(
        self,
        backends: GraphBackends,
        workspace: EngineWorkspace,
        produce: Produce,
        level: RepairLevel = "symbol",
        early: EarlyGroups | None = None,
    ) -> None:
        """`workspace` has the files before the edit on disk; `early` gets a graph that is not whole yet."""
        self._early = early
        self._backends = backends
        self._workspace = workspace
        self._produce = produce
        self._level = level
        #: The changed files before and after the edit.
        self._contents: dict[str, tuple[bytes | None, bytes | None]] = {}
        self._before: Sequence[GroupFacts] = ()

    def patch(self, before: Sequence[GroupFacts], delta: Delta, update: GraphUpdate) -> list[GroupFacts]:
        """The groups after the edit, in the order of a build; `update` is told what was done."""
        base = {each.origin.group: each for each in before}
        self._before = before
        workspace = self._workspace
        after: list[GroupFacts] = []
        left = set(workspace.after)
        self._contents = self._read_changed(delta)
        for group, files in files_by_group(sorted(left), self._backends.by_group).items():
            report = GroupUpdate(group, UNCHANGED, files=len(files))
            update.groups.append(report)
            after.append(self._patch_group(base.get(group), files, self._changed_files(group, delta), report))
            left -= {facts.path for facts in after[-1].facts}
        workspace.check_out(workspace.after)
        after.append(self._patch_syntactic(base.get(SYNTACTIC), left, update))
        self._classify(before, after, update)
        return after

    def _patch_group(
        self, base: GroupFacts | None, files: Sequence[str], changed: ChangedFiles, report: GroupUpdate
    ) -> GroupFacts:
        started = time.perf_counter()
        group = report.group
        backend = self._backends.find(group, base.origin.backend) if base is not None else None
        why = self._why_rebuilt(base, backend, changed)
        if not why and not changed and not self._is_reread(backend) and base is not None:
            return base
        try:
            if why:
                raise CannotMaintain(why)
            assert base is not None and isinstance(backend, ResidentBackend)
            facts = tuple(self._follow(backend, base, changed, report))
            engine, _ = self._workspace.engine(backend)
            lacks = "; ".join(engine.lacks) if isinstance(engine, AnnotatedSource) else base.origin.error
            report.how = FOLLOWED
            if backend.caveat:
                report.confidence = f"{BY_CONSTRUCTION}, but for {backend.caveat}"
            origin = GroupOrigin(group, base.origin.backend, len(facts), True, lacks)
            origin.confined = self._backends.confined(group)
            patched = GroupFacts(origin, facts)
        except (CannotMaintain, ProviderError) as error:
            if why or isinstance(error, ProviderError):
                self._workspace.end_engine(group)  # first: a failed engine cannot be told of files any more
            self._workspace.check_out(self._workspace.after)
            report.how, report.why, report.confidence = REBUILT, error.message, BY_REBUILDING
            backends = self._backends.by_group[group]
            confined = self._backends.confined
            root = self._workspace.root
            patched = produce_group(group, backends, self._produce, root, files, confined=confined)
        report.seconds = time.perf_counter() - started - report.start_s
        return patched

    def _follow(
        self, backend: ResidentBackend, base: GroupFacts, changed: ChangedFiles, report: GroupUpdate
    ) -> list[FileFacts]:
        """The facts after the edit, as the engine's design allows."""
        workspace = self._workspace
        workspace.check_out(workspace.before)
        edit = GroupEdit(
            group=backend.group,
            facts={facts.path: facts for facts in base.facts},
            files=changed,
            contents={path: (old or b"", new or b"") for path, (old, new) in self._contents.items()},
            level=self._level,
        )
        engine, report.start_s = workspace.engine(backend)
        if isinstance(engine, DifferenceEngine):
            return follow_differences(engine, edit, workspace, report, self._early_of(base, changed))
        return SurfaceFollower(engine, edit, workspace).follow(report)

    def _early_of(self, base: GroupFacts, changed: ChangedFiles) -> Early | None:
        """What takes a group's first facts, where all other groups are as before the edit."""
        early, before = self._early, self._before
        others = [path for path in self._contents if affects_facts(path) and path not in changed.changed]
        if early is None or others or self._workspace.stale:
            return None

        def take(facts: Sequence[FileFacts], behind: Collection[str]) -> None:
            now = replace(base, facts=tuple(facts))
            early([now if each is base else each for each in before], behind)

        return take

    def _why_rebuilt(
        self, base: GroupFacts | None, backend: FactBackend | None, changed: ChangedFiles
    ) -> str:
        """The reason to make a group anew; empty when it can stay or follow."""
        if base is None or not base.origin.resolved or backend is None:
            return "there are no facts of this backend to follow"
        if isinstance(backend, ResidentBackend):
            root, contents = self._workspace.root, sorted(self._contents.items())
            reasons = (backend.configures(root, path, *both) for path, both in contents)
            return next((reason for reason in reasons if reason), "")
        if changed:
            return f"the {base.origin.group} engine cannot follow edits yet"
        others = [path for path in self._contents if affects_facts(path) and not self._is_source(path)]
        return f"{min(others)} may configure the engine" if others else ""

    def _is_reread(self, backend: FactBackend | None) -> bool:
        """Whether a changed file is one that the engine reads beside sources and follows by itself."""
        names = backend.reread_files if isinstance(backend, ResidentBackend) else frozenset()
        return any(path.rpartition("/")[2] in names for path in self._contents)

    def _is_source(self, path: str) -> bool:
        """Whether a file is of some group's languages, so that it configures no other."""
        hint = language_hint(path)
        return any(hint in backends[0].languages for backends in self._backends.by_group.values())

    def _changed_files(self, group: str, delta: Delta) -> ChangedFiles:
        languages = self._backends.by_group[group][0].languages
        return ChangedFiles(
            changed=tuple(file.path for file in delta.changed if language_hint(file.path) in languages),
            added=tuple(file.path for file in delta.added if language_hint(file.path) in languages),
            removed=tuple(path for path in delta.removed if language_hint(path) in languages),
        )

    def _read_changed(self, delta: Delta) -> dict[str, tuple[bytes | None, bytes | None]]:
        """The changed files as they were and as they are; afterwards the latter are on disk."""
        workspace, paths = self._workspace, sorted(touched_paths(delta))
        before = {path: workspace.read(path) for path in paths}
        workspace.check_out(workspace.after)
        return {path: (before[path], workspace.read(path)) for path in paths}

    def _patch_syntactic(
        self, base: GroupFacts | None, left: Iterable[str], update: GraphUpdate
    ) -> GroupFacts:
        """What no engine covers; made anew when any of it changed, which takes milliseconds a file."""
        backend = self._backends.syntactic
        files = sorted(path for path in left if language_hint(path) in backend.languages)
        report = GroupUpdate(SYNTACTIC, UNCHANGED, files=len(files))
        known = [facts.path for facts in base.facts] if base is not None else []
        if base is not None and sorted(known) == files and self._contents.keys().isdisjoint(files):
            if files:
                update.groups.append(report)
            return base
        report.how, report.confidence = REBUILT, BY_REBUILDING
        report.why = "a file that only names are known of has changed"
        if files or known:
            update.groups.append(report)
        facts, _ = self._produce(backend, SYNTACTIC, self._workspace.root, files)
        return GroupFacts(GroupOrigin(SYNTACTIC, identify(backend), len(facts), False), facts)

    def _classify(
        self, before: Sequence[GroupFacts], after: Sequence[GroupFacts], update: GraphUpdate
    ) -> None:
        """What the edit did to the declarations of each changed file, for the report."""
        old, new = (
            {facts.path: facts for group in both for facts in group.facts} for both in (before, after)
        )
        for path, (was, now) in sorted(self._contents.items()):
            if path in old and path in new:
                edit = TextEdit(was or b"", now or b"")
                update.symbols += symbol_changes(old[path], new[path], edit)
            if path in new and now is not None and breaks_syntax(path, was or b"", now):
                update.broken.append(path)


def touched_paths(delta: Delta) -> set[str]:
    """Every path that an edit changes, adds or removes."""
    return {file.path for file in (*delta.added, *delta.changed)} | set(delta.removed)

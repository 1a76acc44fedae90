"""The graph for the compiler: a snapshot in, its facts and the assembled graph out.

Each group of languages has its backend. One that fails leaves its files to the syntactic backend, under the
syntactic group's name, so that nothing answers as if it were resolved; the reason stays with the artifact.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from codenib.core.errors import CannotMaintain
from codenib.core.protocols import (
    AnnotatedSource,
    DifferenceEngine,
    FactBackend,
    Progress,
    PublishEarly,
    Records,
    ReportingEngine,
    ResidentBackend,
)
from codenib.core.source import Delta, SourceSnapshot
from codenib.core.updates import UNCHANGED, GraphUpdate, GroupUpdate
from codenib.core.views import ArtifactProfile, ViewFacts, ViewKind
from codenib.units.languages import language_hint
from codenib.units.notebook_code import exported_code
from codenib.views.graph.assembly.about import read_stale
from codenib.views.graph.assembly.artifact import read_encoded_facts, read_group_facts, write_graph
from codenib.views.graph.facts.bind import Binder
from codenib.views.graph.facts.canonical import canonical
from codenib.views.graph.facts.file import FileFacts
from codenib.views.graph.facts.groups import (
    FactsCache,
    GroupFacts,
    GroupOrigin,
    affects_facts,
    files_by_group,
    produce_group,
)
from codenib.views.graph.inverse import law_breaches
from codenib.views.graph.maintenance.group_edit import EngineWorkspace, RepairLevel
from codenib.views.graph.maintenance.patcher import EarlyGroups, GraphPatcher, touched_paths
from codenib.views.graph.maintenance.replay import replayed
from codenib.views.graph.maintenance.stale_syntax import StaleSyntax
from codenib.views.graph.maintenance.update import write_update
from codenib.views.graph.profile import SYNTACTIC, GraphBackends, identify
from codenib.views.graph.read import GraphView

#: A snapshot in, a folder with its files for as long as the context lasts.
Export = Callable[[SourceSnapshot], AbstractContextManager[Path]]
#: An edit and the files stale before it (path to readable digest) in; the files before and after it for as
#: long as the context lasts, those before it on disk.
OpenEdit = Callable[[Delta, Mapping[str, str]], AbstractContextManager[EngineWorkspace]]
#: A snapshot in, a workspace with its files whose engines stay.
OpenSnapshot = Callable[[SourceSnapshot], AbstractContextManager[EngineWorkspace]]
#: Files (path to digest) in, those whose facts are of an earlier text out.
RecallStale = Callable[[Mapping[str, str]], Mapping[str, StaleSyntax]]


class GraphViewBuilder:
    """Runs the backends over an export of the snapshot and assembles their facts."""

    def __init__(
        self,
        backends: GraphBackends,
        export: Export,
        progress: Progress,
        *,
        open_edit: OpenEdit | None = None,
        open_snapshot: OpenSnapshot | None = None,
        cache: FactsCache | None = None,
        recall_stale: RecallStale | None = None,
    ) -> None:
        """Without `open_edit` only changes of prose can be followed; with `open_snapshot`, engines stay after
        a build. `recall_stale` says which files a build reads at an earlier text.
        """
        self._backends = backends
        self._export = export
        self._progress = progress
        self._open_edit = open_edit
        self._open_snapshot = open_snapshot
        self._cache = cache or FactsCache()
        self._recall_stale = recall_stale
        self._workspace: EngineWorkspace | None = None  # while a build or an update runs
        self.repair_level: RepairLevel = "symbol"  # "file" replaces whole files, to compare the two
        #: Publishes what a function writes into the folder that it is given, before the whole view is there.
        self.publish_early: PublishEarly | None = None

    @property
    def kind(self) -> ViewKind:
        return ViewKind.GRAPH

    def profile(self) -> ArtifactProfile:
        return self._backends.profile()

    def build(self, snapshot: SourceSnapshot, records: Records, out: Path) -> ViewFacts:
        stale = self._recall_stale(snapshot.files) if self._recall_stale is not None else {}
        if stale:
            readable = {path: each.digest for path, each in stale.items()}
            snapshot = replace(snapshot, files={**snapshot.files, **readable})
        if self._open_snapshot is None:
            with self._export(snapshot) as root:
                groups = self._run(root, list(snapshot.files))
        else:
            with self._open_snapshot(snapshot) as self._workspace:
                groups = self._run(self._workspace.root, list(snapshot.files))
            self._workspace = None
        encoded: dict[FileFacts, bytes] = {}
        facts = write_graph(groups, out, encoded, stale)
        if self._open_snapshot is not None:
            self._cache.put(snapshot.id, groups, encoded)
        return facts

    def maintain(self, base: Path, delta: Delta, records: Records, out: Path) -> ViewFacts:
        """Follow the edit group by group; a group that cannot be followed is rebuilt, the others are not."""
        groups, encoded = self._cache.get(delta.base) or read_encoded_facts(base)
        update = GraphUpdate(delta.base, delta.target)
        known = read_stale(base)
        stale: Mapping[str, StaleSyntax] = {}
        if not known and not any(affects_facts(path) for path in touched_paths(delta)):
            update.groups = [
                GroupUpdate(each.origin.group, UNCHANGED, files=each.origin.files) for each in groups
            ]
        elif self._open_edit is None or self._backends.imported is not None:
            raise CannotMaintain("a file that a backend reads has changed")
        else:
            with self._open_edit(delta, known) as workspace:
                self._workspace, stale = workspace, workspace.stale
                early = self._early(encoded) if self.publish_early is not None else None
                patcher = GraphPatcher(self._backends, workspace, self._produce, self.repair_level, early)
                groups = patcher.patch(groups, delta if workspace.delta is None else workspace.delta, update)
            self._workspace = None
            update.stale = sorted(stale)
        facts = write_graph(groups, out, encoded, stale)
        write_update(update, out)
        self._cache.put(delta.target, groups, encoded)
        return facts

    def _early(self, encoded: Mapping[FileFacts, bytes]) -> EarlyGroups:
        known = dict(encoded)

        def publish(groups: Sequence[GroupFacts], behind: Collection[str]) -> None:
            if self.publish_early is not None:
                self.publish_early(lambda out: write_graph(groups, out, known, behind=behind))

        return publish

    def differences(self, left: Path, right: Path) -> Iterator[str]:
        """Facts per file, who made them, and how both answer sampled requests."""
        ours, theirs = read_group_facts(left), read_group_facts(right)
        if [group.origin for group in ours] != [group.origin for group in theirs]:
            yield "the groups and their backends are not equal"
        mine, other = (
            {facts.path: facts for group in both for facts in group.facts} for both in (ours, theirs)
        )
        for path in sorted(mine.keys() | other.keys()):
            if path not in mine or path not in other:
                yield f"{path}: only one side has facts"
            elif mine[path].plain() != other[path].plain():
                yield f"{path}: facts not equal"
        yield from replayed(left, right)
        yield from map(str, law_breaches(GraphView(left)))

    def _run(self, root: Path, paths: Sequence[str]) -> list[GroupFacts]:
        done: list[GroupFacts] = []
        left = set(paths)
        if self._backends.imported is not None:
            covered = sorted(left & self._backends.imported.paths)
            imported = self._backends.imported
            done.append(produce_group(imported.group, [imported], self._produce, root, covered))
            left -= {facts.path for facts in done[-1].facts}
        for group, files in files_by_group(sorted(left), self._backends.by_group).items():
            backends, confined = self._backends.by_group[group], self._backends.confined
            done.append(produce_group(group, backends, self._produce, root, files, confined=confined))
            left -= {facts.path for facts in done[-1].facts}
        syntactic = self._backends.syntactic
        known = sorted(name for name in left if language_hint(name) in syntactic.languages)
        rest, _ = self._produce(syntactic, SYNTACTIC, root, known)
        return [*done, GroupFacts(GroupOrigin(SYNTACTIC, identify(syntactic), len(rest), False), rest)]

    def _produce(
        self, backend: FactBackend, group: str, root: Path, files: Sequence[str]
    ) -> tuple[tuple[FileFacts, ...], tuple[str, ...]]:
        binder = Binder(group, partial(exported_code, root))
        lines, source = self._lines(backend, root, files)
        for line in lines:
            binder.add(line)
        lacks = tuple(source.lacks) if isinstance(source, AnnotatedSource) else ()
        return tuple(canonical(facts) for facts in binder.bind()), lacks

    def _lines(
        self, backend: FactBackend, root: Path, files: Sequence[str]
    ) -> tuple[Iterable[bytes], object]:
        """By the engine that stays, where its first run is what later ones follow; else by one that ends.

        The second part is who gives the lines.
        """
        if self._workspace is not None and isinstance(backend, ResidentBackend) and backend.stays:
            engine, _ = self._workspace.engine(backend)
            if isinstance(engine, DifferenceEngine):
                with self._told_of(engine, backend.group):
                    lines, _ = engine.differing(files, anew=True)
                return lines.values(), engine
        return backend.produce(root, files, self._progress, trusted=self._backends.trusted), backend

    @contextmanager
    def _told_of(self, engine: object, group: str) -> Iterator[None]:
        """While this lasts, what the engine says of its progress is passed on."""

        def report(stage: str, done: int, total: int) -> None:
            self._progress(": ".join(filter(None, (f"facts of {group}", stage))), done, total)

        if not isinstance(engine, ReportingEngine):
            yield
            return
        engine.on_progress = report
        try:
            yield
        finally:
            engine.on_progress = None

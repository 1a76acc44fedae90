"""Which graph a repository gets: its languages and the tools in, the builder out. Cheap to import."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from codenib.core.errors import CannotMaintain, InputError
from codenib.core.protocols import DifferenceEngine, FactBackend, Progress, ResidentBackend
from codenib.core.source import Delta, SourceSnapshot
from codenib.core.views import ArtifactProfile
from codenib.manifest.home import tools_folder
from codenib.manifest.store import Store
from codenib.manifest.trust import is_trusted
from codenib.navigation.engines import sandbox
from codenib.navigation.registry import backends_of, syntactic_backend
from codenib.navigation.tools.locate import Toolbox
from codenib.snapshot.blobs import BlobSource
from codenib.snapshot.delta import diff
from codenib.snapshot.repository import Repository
from codenib.units.languages import language_hint
from codenib.views.graph.profile import GraphBackends

if TYPE_CHECKING:  # what builds and maintains, numpy too: a question and a no-op need none of it
    from codenib.compiler.engines import EditSession, EnginePool
    from codenib.navigation.scip.imported import ScipFile
    from codenib.views.graph.facts.groups import FactsCache
    from codenib.views.graph.maintenance.audit import GroupAudit
    from codenib.views.graph.maintenance.group_edit import RepairLevel
    from codenib.views.graph.view import GraphViewBuilder

_QUICK_S = 0.5  # of the last update: so long an answer waits for engines that are up
#: The tools and a repository's languages in, each group's backends out, the first choice first.
FindBackends = Callable[[Toolbox, Set[str]], Mapping[str, Sequence[FactBackend]]]


class GraphChoice:
    """The graph of one repository: backends for the groups that it has files of."""

    def __init__(
        self,
        repository: Repository,
        store: Store,
        progress: Progress,
        find_backends: FindBackends = backends_of,
    ) -> None:
        self._repository = repository
        self._store = store
        self._progress = progress
        self._find = find_backends
        self._backends: Mapping[str, Sequence[FactBackend]] = {}
        self._imported: ScipFile | None = None
        self._snapshot: SourceSnapshot | None = None
        self._cache: FactsCache | None = None
        self._last_s = 0.0  # what the last update took
        self.repair_level: RepairLevel = "symbol"  # "file" replaces whole files, to compare the two
        self.tools = Toolbox(tools_folder())

    def settle(self, snapshot: SourceSnapshot) -> None:
        """Look which languages there are, and whether a SCIP file was imported for just this state."""
        self._snapshot = snapshot
        self._backends = self._find(self.tools, {language_hint(path) for path in snapshot.files})
        file = self._store.scip_of(snapshot.tree)
        self._imported = _read_scip(file) if file is not None else None

    def import_scip(self, file: Path, snapshot: SourceSnapshot) -> ScipFile:
        """Keep a SCIP file for this snapshot; one that has none of its files is refused."""
        index = _read_scip(file)
        if not index.paths & snapshot.files.keys():
            raise InputError(
                f"{file} has {len(index.paths)} documents, none of them a file of this repository",
                hint="make the index in the repository's top folder",
            )
        self._store.keep_scip(snapshot.tree, file.read_bytes())
        self.settle(snapshot)
        return index

    def profile(self) -> ArtifactProfile:
        """The profile that the view built now would have."""
        return self._graph_backends().profile()

    def rebuilder(self, published: Path, scratch: Path) -> AbstractContextManager[GraphViewBuilder]:
        """A builder that uses no engine that stayed; it reads the files that the artifact was made of."""
        from codenib.compiler.stale_syntax import recall_stale
        from codenib.views.graph.assembly.about import read_stale
        from codenib.views.graph.view import GraphViewBuilder

        stale = read_stale(published)
        builder = GraphViewBuilder(
            self._graph_backends(),
            self._export,
            self._progress,
            recall_stale=lambda files: recall_stale(self._source, stale, files),
        )
        return nullcontext(builder)

    def builder(self) -> GraphViewBuilder:
        """The builder of the view."""
        from codenib.views.graph.facts.groups import FactsCache
        from codenib.views.graph.view import GraphViewBuilder

        self._cache = self._cache or FactsCache()
        builder = GraphViewBuilder(
            self._graph_backends(),
            self._export,
            self._progress,
            open_edit=self._open_edit,
            open_snapshot=self._open_snapshot,
            cache=self._cache,
        )
        builder.repair_level = self.repair_level
        return builder

    def warm(self, snapshot: SourceSnapshot, published: Path) -> None:
        """Start the engines of a graph and let them read its files, so that the next edit need not wait."""
        from codenib.views.graph.assembly.about import read_stale
        from codenib.views.graph.assembly.artifact import read_encoded_facts
        from codenib.views.graph.facts.groups import FactsCache

        self.settle(snapshot)
        groups, encoded = read_encoded_facts(published)
        self._cache = self._cache or FactsCache()
        self._cache.put(snapshot.id, groups, encoded)
        files = {**snapshot.files, **read_stale(published)}
        with self._open_snapshot(replace(snapshot, files=files)) as session:
            for group in groups:
                backend = self._graph_backends().find(group.origin.group, group.origin.backend)
                if isinstance(backend, ResidentBackend) and group.origin.resolved:
                    engine, _ = session.engine(backend)
                    if isinstance(engine, DifferenceEngine) and not engine.settled:
                        engine.differing([facts.path for facts in group.facts], anew=True)

    def audit(self, snapshot: SourceSnapshot, published: Path, *, sample: int, seed: int) -> list[GroupAudit]:
        """Ask new engines for some files of each group of an artifact."""
        from codenib.views.graph.assembly.about import read_stale
        from codenib.views.graph.assembly.artifact import read_group_facts
        from codenib.views.graph.maintenance.audit import audit

        groups, stale = read_group_facts(published), read_stale(published)
        with self._export(replace(snapshot, files={**snapshot.files, **stale})) as root:
            return audit(
                self._graph_backends(), root, groups, sample=sample, seed=seed, progress=self._progress
            )

    @property
    def at_hand(self) -> bool:
        """Whether engines are up that brought the graph to the last edit while somebody would wait."""
        return "_pool" in self.__dict__ and self._pool.running > 0 and self._last_s < _QUICK_S

    def close(self) -> None:
        """End the engines that stayed, and let go of the facts."""
        if "_pool" in self.__dict__:
            self._pool.close()
        self._cache = None

    @cached_property
    def _pool(self) -> EnginePool:
        from codenib.compiler.engines import EnginePool

        return EnginePool(self._repository, self._store)

    @property
    def _source(self) -> BlobSource:
        return BlobSource.of(self._repository, self._store.blob_store)

    @contextmanager
    def _open_snapshot(self, snapshot: SourceSnapshot) -> Iterator[EditSession]:
        """The files of a snapshot, with engines that stay."""
        yield self._pool.open(snapshot, snapshot)
        self._pool.trim()

    @contextmanager
    def _open_edit(self, delta: Delta, known: Mapping[str, str]) -> Iterator[EditSession]:
        """The files before and after an edit, with the engines that read them.

        `known` are the files whose last readable text engines were given. Who commits a file that does not
        parse means it: only files of a worktree at work are stale.
        """
        from codenib.compiler.stale_syntax import find_stale

        manifest = self._store.manifest(delta.base)
        after = self._snapshot
        if manifest is None or after is None or after.id != delta.target:
            raise CannotMaintain("the snapshot to follow is not known")
        before = self._store.snapshot(manifest, self._repository.key)
        stale = {}
        if after.dirty or after.commit is None:
            stale = find_stale(self._source, before.files, after.files, delta, known)
        if stale or known:
            was = {path: digest for path, digest in known.items() if path in before.files}
            before = replace(before, files={**before.files, **was})
            now = {path: each.digest for path, each in stale.items()}
            after = replace(after, files={**after.files, **now})
            delta = replace(diff(before, after), base=delta.base, target=delta.target, commit=delta.commit)
        started = time.perf_counter()
        session = self._pool.open(before, after)
        session.delta, session.stale = delta, stale
        yield session
        self._pool.trim()
        self._last_s = time.perf_counter() - started

    def _graph_backends(self) -> GraphBackends:
        trusted = is_trusted(self._store.folder, self._repository)
        return GraphBackends(
            self._backends,
            syntactic_backend(),
            self._imported,
            trusted=trusted,
            sandbox=sandbox.setting(),
            confined=partial(sandbox.confinement, trusted=trusted),
        )

    def _export(self, snapshot: SourceSnapshot) -> AbstractContextManager[Path]:
        from codenib.compiler.checkouts import exported

        return exported(snapshot, self._source, self._repository, self._store.checkouts)


def _read_scip(file: Path) -> ScipFile:
    from codenib.navigation.scip.imported import ScipFile

    return ScipFile(file)

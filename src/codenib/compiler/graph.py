"""Which graph a repository gets: its languages and the tools in, the builder out. Cheap to import."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from codenib.compiler.checkouts import Desk, Workshop
from codenib.compiler.export import exported
from codenib.compiler.held import find_held, recall_held
from codenib.core.errors import CannotMaintain, InputError
from codenib.core.protocols import FactBackend, FollowingBackend, Progress
from codenib.core.source import Delta, SourceSnapshot
from codenib.core.views import ArtifactProfile
from codenib.manifest.home import tools_folder
from codenib.manifest.store import Store
from codenib.navigation.registry import backends_of, syntactic_backend
from codenib.navigation.scip.imported import ScipFile
from codenib.navigation.tools.locate import Toolbox
from codenib.snapshot.blobs import BlobSource
from codenib.snapshot.delta import diff
from codenib.snapshot.repository import Repository
from codenib.units.languages import language_hint
from codenib.views.graph.profile import Makers, identify

if TYPE_CHECKING:  # numpy, which a no-op never needs
    from codenib.views.graph.facts.groups import Memory
    from codenib.views.graph.maintenance.audit import Audited
    from codenib.views.graph.maintenance.follow import Arm
    from codenib.views.graph.view import GraphViewBuilder

_QUICK_S = 3.0
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
        self._workshop = Workshop()
        self._memory: Memory | None = None
        self._last_s = 0.0  # what the last update took
        self.arm: Arm = "symbol"  # "file" replaces whole files, to compare the two
        self.tools = Toolbox(tools_folder())

    def settle(self, snapshot: SourceSnapshot) -> None:
        """Look which languages there are, and whether a SCIP file was imported for just this state."""
        self._snapshot = snapshot
        self._backends = self._find(self.tools, {language_hint(path) for path in snapshot.files})
        file = self._store.scip_of(snapshot.tree)
        self._imported = ScipFile(file) if file is not None else None

    def import_scip(self, file: Path, snapshot: SourceSnapshot) -> ScipFile:
        """Keep a SCIP file for this snapshot; one that has none of its files is refused."""
        made = ScipFile(file)
        if not made.paths & snapshot.files.keys():
            raise InputError(
                f"{file} has {len(made.paths)} documents, none of them a file of this repository",
                hint="make the index in the repository's top folder",
            )
        self._store.keep_scip(snapshot.tree, file.read_bytes())
        self.settle(snapshot)
        return made

    def profile(self) -> ArtifactProfile:
        """The profile that the view built now would have."""
        return self._made().profile()

    def rebuilder(self, published: Path, scratch: Path) -> AbstractContextManager[GraphViewBuilder]:
        """A builder that uses no engine that stayed; it reads the files that the artifact was made of."""
        from codenib.views.graph.read import read_held
        from codenib.views.graph.view import GraphViewBuilder

        held = read_held(published)
        return nullcontext(GraphViewBuilder(
            self._made(), self._export, self._progress,
            recall=lambda files: recall_held(self._source, held, files),
        ))  # fmt: skip

    def builder(self) -> GraphViewBuilder:
        """The builder of the view."""
        from codenib.views.graph.facts.groups import Memory
        from codenib.views.graph.view import GraphViewBuilder

        if self._memory is None:
            self._memory = Memory()
        made = GraphViewBuilder(
            self._made(), self._export, self._progress, self._desk, self._hold, self._memory
        )
        made.arm = self.arm
        return made

    def warm(self, snapshot: SourceSnapshot, published: Path) -> None:
        """Start the engines of a graph and let them read its files, so that the next edit finds them up."""
        from codenib.views.graph.facts.groups import Memory
        from codenib.views.graph.read import read_held
        from codenib.views.graph.view import read_facts

        self.settle(snapshot)
        made, raw = read_facts(published)
        self._memory = self._memory or Memory()
        self._memory.remember(snapshot.id, made, raw)
        files = {**snapshot.files, **read_held(published)}
        with self._hold(replace(snapshot, files=files)) as desk:
            for each in made:
                backends = self._backends.get(each.about.group, ())
                backend = next((one for one in backends if identify(one) == each.about.backend), None)
                if isinstance(backend, FollowingBackend) and each.about.resolved:
                    engine, _ = desk.engine(backend)
                    if engine.whole and not engine.settled:
                        engine.differing([facts.path for facts in each.facts], anew=True)

    def audit(self, snapshot: SourceSnapshot, published: Path, *, sample: int, seed: int) -> list[Audited]:
        """Ask new engines for some files of each group of an artifact."""
        from codenib.views.graph.maintenance.audit import audit
        from codenib.views.graph.read import read_held
        from codenib.views.graph.view import read_made

        made, held = read_made(published), read_held(published)
        with self._export(replace(snapshot, files={**snapshot.files, **held})) as root:
            return audit(self._made(), root, made, sample=sample, seed=seed, progress=self._progress)

    @property
    def at_hand(self) -> bool:
        """Whether engines are up that brought the graph to the last edit while somebody would wait."""
        return self._workshop.running > 0 and self._last_s < _QUICK_S

    def close(self) -> None:
        """End the engines that stayed, and let go of the facts."""
        self._workshop.close()
        self._memory = None

    @contextmanager
    def _hold(self, snapshot: SourceSnapshot) -> Iterator[Desk]:
        yield self._open(snapshot, snapshot)
        self._workshop.trim()

    @property
    def _source(self) -> BlobSource:
        return BlobSource.of(self._repository, self._store.blob_store)

    def _open(self, before: SourceSnapshot, after: SourceSnapshot) -> Desk:
        return self._workshop.desk(
            self._source, self._repository, self._store.checkouts, before, after, trusted=self._store.trusted
        )

    @contextmanager
    def _desk(self, delta: Delta, known: Mapping[str, str]) -> Iterator[Desk]:
        """The files before and after an edit, with the engines that hold them.

        `known` are the files whose last readable text engines were given. Who commits a file that does not
        parse means it: only those of a worktree at work are held.
        """
        manifest = self._store.manifest(delta.base)
        after = self._snapshot
        if manifest is None or after is None or after.id != delta.target:
            raise CannotMaintain("the snapshot to follow is not known")
        before = self._store.snapshot(manifest, self._repository.key)
        held = {}
        if after.dirty or after.commit is None:
            held = find_held(self._source, before.files, after.files, delta, known)
        if held or known:
            kept = {path: digest for path, digest in known.items() if path in before.files}
            before = replace(before, files={**before.files, **kept})
            read = {path: each.digest for path, each in held.items()}
            after = replace(after, files={**after.files, **read})
            delta = replace(diff(before, after), base=delta.base, target=delta.target, commit=delta.commit)
        started = time.perf_counter()
        desk = self._open(before, after)
        desk.delta, desk.held = delta, held
        yield desk
        self._workshop.trim()
        self._last_s = time.perf_counter() - started

    def _made(self) -> Makers:
        return Makers(self._backends, syntactic_backend(), self._imported, trusted=self._store.trusted)

    def _export(self, snapshot: SourceSnapshot) -> AbstractContextManager[Path]:
        return exported(snapshot, self._source, self._repository, self._store.checkouts)

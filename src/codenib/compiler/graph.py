"""Which graph a repository gets: its languages and the tools in, the builder out. Cheap to import."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from codenib.compiler.checkouts import Desk, Workshop
from codenib.compiler.export import exported
from codenib.core.errors import CannotMaintain, InputError
from codenib.core.protocols import FactBackend, Progress
from codenib.core.source import Delta, SourceSnapshot
from codenib.core.views import ArtifactProfile
from codenib.manifest.home import tools_folder
from codenib.manifest.store import Store
from codenib.navigation.backends.registry import backends_of, syntactic_backend
from codenib.navigation.backends.scip_file import ScipFile
from codenib.navigation.tools import Toolbox
from codenib.snapshot.blobs import BlobSource
from codenib.snapshot.repository import Repository
from codenib.units.languages import language_hint
from codenib.views.graph.profile import Makers

if TYPE_CHECKING:  # numpy, which a no-op never needs
    from codenib.views.graph.groups import Memory
    from codenib.views.graph.view import GraphViewBuilder

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

    def builder(self, *, independent: bool = False) -> GraphViewBuilder:
        """The builder of the view; an `independent` one uses no engine that stayed."""
        from codenib.views.graph.groups import Memory
        from codenib.views.graph.view import GraphViewBuilder

        if independent:
            return GraphViewBuilder(self._made(), self._export, self._progress)
        if self._memory is None:
            self._memory = Memory()
        return GraphViewBuilder(
            self._made(), self._export, self._progress, self._desk, self._hold, self._memory
        )

    def close(self) -> None:
        """End the engines that stayed, and let go of the facts."""
        self._workshop.close()
        self._memory = None

    @contextmanager
    def _hold(self, snapshot: SourceSnapshot) -> Iterator[Desk]:
        yield self._open(snapshot, snapshot)
        self._workshop.trim()

    def _open(self, before: SourceSnapshot, after: SourceSnapshot) -> Desk:
        source = BlobSource.of(self._repository, self._store.blob_store)
        return self._workshop.desk(
            source, self._repository, self._store.checkouts, before, after, trusted=self._store.trusted
        )

    @contextmanager
    def _desk(self, delta: Delta) -> Iterator[Desk]:
        """The files before and after an edit, with the engines that hold them."""
        manifest = self._store.manifest(delta.base)
        after = self._snapshot
        if manifest is None or after is None or after.id != delta.target:
            raise CannotMaintain("the snapshot to follow is not known")
        before = self._store.snapshot(manifest, self._repository.key)
        yield self._open(before, after)
        self._workshop.trim()

    def _made(self) -> Makers:
        return Makers(self._backends, syntactic_backend(), self._imported, trusted=self._store.trusted)

    def _export(self, snapshot: SourceSnapshot) -> AbstractContextManager[Path]:
        source = BlobSource.of(self._repository, self._store.blob_store)
        return exported(snapshot, source, self._repository, self._store.checkouts)

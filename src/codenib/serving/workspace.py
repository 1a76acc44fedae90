"""A repository in, answers out: `codenib.open(path)` returns one of these."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self

from codenib.compiler.compiler import IndexCompiler, silent
from codenib.compiler.dense import open_named
from codenib.compiler.graph import FindBackends
from codenib.core import requests
from codenib.core.answers import Answer, Evidence, Passage, RegexAnswer
from codenib.core.calls.checked import check_path
from codenib.core.embedding import OpenEmbedder
from codenib.core.errors import StateError
from codenib.core.protocols import Progress
from codenib.core.requests import CURRENT, PUBLISHED, Refresh, SnapshotRequest
from codenib.core.source import SourceUnit
from codenib.core.updates import Outcome
from codenib.core.views import RepoManifest, ViewKind
from codenib.manifest.store import Store
from codenib.navigation.registry import backends_of
from codenib.serving.configuration import configured_views
from codenib.serving.search.searcher import Searcher
from codenib.serving.snapshots.maintenance import Maintenance
from codenib.serving.snapshots.pool import SnapshotPool, Snapshots
from codenib.serving.snapshots.published import PublishedPool
from codenib.serving.snapshots.reader import SourceReader
from codenib.serving.snapshots.status import StatusReport, make_status
from codenib.snapshot.repository import Repository, locate

if TYPE_CHECKING:  # numpy comes with the first query, not with `import codenib`
    from codenib.core.context import ContextPack, RepoMap
    from codenib.core.history import HistoryAnswer
    from codenib.core.navigation import Position
    from codenib.core.symbols import GraphAnswer, ImpactAnswer, NavigationAnswer
    from codenib.serving.context.explore import Explorer
    from codenib.serving.context.ledger import Ledger
    from codenib.serving.impact.analyzer import ImpactAnalyzer
    from codenib.serving.navigation.navigator import Navigator


class Workspace:
    """One repository, with answers that are always of one whole snapshot.

    Its parts (`searcher`, `navigator`, `explorer`, `reader`, `maintenance`) take the requests of
    `core.requests`; its own methods are the short forms that build one.

    Without `at`, answers are for the worktree as it is now (a bare repository: its HEAD): views are built on
    first use and maintained when files changed, which the answer reports as `refreshed`. A workspace of a
    published `manifest` answers for that one alone, and builds nothing; with the `store` that has it, and a
    `Repository` that names it, no checkout is needed.
    """

    def __init__(
        self,
        path: str | Path | Repository = ".",
        *,
        progress: Progress = silent,
        open_embedder: OpenEmbedder = open_named,
        find_backends: FindBackends = backends_of,
        manifest: RepoManifest | None = None,
        store: Store | None = None,
    ) -> None:
        if isinstance(path, Repository):
            repository = path
        else:
            check_path(path)
            repository = locate(Path(path))
        self.name, self.root = repository.name, repository.root
        self.is_bare = repository.kind == "bare"  # without a worktree, answers are for HEAD
        self._compiler = IndexCompiler(
            repository, store or Store(repository.key), progress, open_embedder=open_embedder,
            find_backends=find_backends,
        )  # fmt: skip
        self._options = open_embedder, find_backends
        self._published = manifest, store
        pool = SnapshotPool(self._compiler)
        self._maintenance = Maintenance(self._compiler, pool) if manifest is None else None
        self.snapshots: Snapshots = pool if manifest is None else PublishedPool(self._compiler, manifest)
        self.searcher = Searcher(self._compiler, self.snapshots)
        self.reader = SourceReader(repository.root, self.snapshots)

    @property
    def maintenance(self) -> Maintenance:
        """What builds and updates the views; an error where nothing may be built."""
        if self._maintenance is None:
            raise StateError("a workspace of a published manifest builds nothing", hint="codenib index")
        self.snapshots.check_open()
        return self._maintenance

    @cached_property
    def navigator(self) -> Navigator:
        from codenib.serving.navigation.navigator import Navigator

        return Navigator(self._compiler, self.snapshots, self.reader)

    @cached_property
    def explorer(self) -> Explorer:
        from codenib.serving.context.explore import Explorer

        return Explorer(self.searcher, self.snapshots)

    @cached_property
    def impact_analyzer(self) -> ImpactAnalyzer:
        from codenib.serving.impact.analyzer import ImpactAnalyzer

        return ImpactAnalyzer(self._compiler, self.snapshots, self.navigator)

    @property
    def files(self) -> Sequence[str]:
        """The paths of the snapshot, in order."""
        return self.reader.files(CURRENT)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the opened views, engines and servers. No question is answered after it; answers stay."""
        self.snapshots.close()
        self._compiler.dense.close()
        self.searcher.close()
        self._compiler.graph.close()
        if "navigator" in self.__dict__:
            self.navigator.close()

    def twin(self) -> Workspace:
        """Another one of the same repository, for another thread."""
        open_embedder, find_backends = self._options
        manifest, store = self._published
        place = self._compiler.repository if store is not None else self.root
        return Workspace(
            place, open_embedder=open_embedder, find_backends=find_backends, manifest=manifest, store=store
        )

    def open_views(self, views: Sequence[ViewKind]) -> None:
        """Open published views now; a `StateError` names the first that is missing, stale or failed."""
        for kind in views:
            self.snapshots.pin(kind, PUBLISHED)

    def current_snapshot(self) -> str:
        """The snapshot of the worktree as it is now."""
        self.snapshots.check_open()
        return self._compiler.take().id

    def status(self) -> StatusReport:
        """What is indexed, for which snapshot, and what changed since."""
        self.snapshots.check_open()
        return make_status(self._compiler)

    def search(
        self, query: str = "", *, like: str = "", k: int = 10, route: str = "auto", budget: str = "balanced",
        level: requests.ResultLevel = "unit", paths: Sequence[str] = (), tests: requests.Tests | None = None,
        fusion: str = "auto", reranker: str | None = None, cut: int | None = None, expand: bool = False,
        learned: bool = True, at: str | None = None, refresh: Refresh = "auto",
    ) -> Answer:  # fmt: skip
        """Units (or files) by how well they match `query`, or resemble the place `like`, best first."""
        return self.searcher.search(
            requests.SearchRequest(
                query, k=k, route=route, budget=budget, level=level, paths=paths, tests=tests, fusion=fusion,
                reranker=reranker, cut=cut, expand=expand, like=like, learned=learned,
                snapshot=SnapshotRequest(at, refresh),
            )
        )  # fmt: skip

    def regex(
        self, pattern: str, *, k: int | None = 100, ignore_case: bool = False, literal: bool = False,
        multiline: bool = False, paths: Sequence[str] = (), context: int = 0, timeout_s: float = 10.0,
        backend: requests.RegexBackend = "trigram", at: str | None = None, refresh: Refresh = "auto",
    ) -> RegexAnswer:  # fmt: skip
        """Lines that match `pattern`, in path order, as a scan of every file would find them."""
        return self.searcher.regex(
            requests.RegexRequest(
                pattern, k=k, ignore_case=ignore_case, literal=literal, multiline=multiline, paths=paths,
                context=context, timeout_s=timeout_s, backend=backend, snapshot=SnapshotRequest(at, refresh),
            )
        )  # fmt: skip

    def explore(
        self, query: str, *, max_tokens: int = 4000, ledger: Ledger | None = None, paths: Sequence[str] = (),
        at: str | None = None, refresh: Refresh = "auto",
    ) -> ContextPack:  # fmt: skip
        """Evidence for `query` in at most `max_tokens` tokens; what `ledger` has as sent is only named."""
        request = requests.ExploreRequest(query, max_tokens, paths, SnapshotRequest(at, refresh))
        return self.explorer.explore(request, ledger)

    def map(
        self, *, max_tokens: int = 1000, query: str | None = None, at: str | None = None,
        refresh: Refresh = "auto",
    ) -> RepoMap:  # fmt: skip
        """Folders, files and their most important declarations in at most `max_tokens` tokens."""
        return self.explorer.map(query, max_tokens, SnapshotRequest(at, refresh))

    def definition(
        self, where: str | Position, *, name: str = "", provider: requests.ProviderChoice = "auto",
        limit: int | None = None, at: str | None = None, refresh: Refresh = "auto", wait: bool = False,
    ) -> NavigationAnswer:  # fmt: skip
        """Where what stands at `where` is declared; see `NavigationRequest` and `SnapshotRequest`."""
        snapshot = SnapshotRequest(at, refresh, wait)
        return self.navigator.definition(
            requests.NavigationRequest(where, name, provider, limit, snapshot=snapshot)
        )

    def references(
        self, where: str | Position, *, name: str = "", provider: requests.ProviderChoice = "auto",
        limit: int | None = None, declarations: bool = True, at: str | None = None, refresh: Refresh = "auto",
        wait: bool = False,
    ) -> NavigationAnswer:  # fmt: skip
        """Every place that refers to what stands at `where`; see `NavigationRequest`."""
        snapshot = SnapshotRequest(at, refresh, wait)
        request = requests.NavigationRequest(where, name, provider, limit, declarations, snapshot=snapshot)
        return self.navigator.references(request)

    def neighbours(
        self, where: str | Position, relation: requests.NeighbourRelation = "dependencies", *, name: str = "",
        depth: int = 1, k: int = 50, kinds: Sequence[str] = (), at: str | None = None,
        refresh: Refresh = "auto", wait: bool = False,
    ) -> GraphAnswer:  # fmt: skip
        """What a symbol uses (`dependencies`), is used by (`dependents`), its callers, callees, subtypes."""
        snapshot = SnapshotRequest(at, refresh, wait)
        request = requests.NeighboursRequest(where, relation, name, depth, k, kinds=kinds, snapshot=snapshot)
        return self.navigator.neighbours(request)

    def impact(
        self, where: str = "", *, name: str = "", diff: str = "", since: str = "", depth: int = 1,
        k: int = 50, at: str | None = None, refresh: Refresh = "auto", wait: bool = False,
    ) -> ImpactAnswer:  # fmt: skip
        """What depends on a change, which tests reach it, what changes with it; see `ImpactRequest`."""
        snapshot = SnapshotRequest(at, refresh, wait)
        return self.impact_analyzer.impact(
            requests.ImpactRequest(
                where, name=name, diff=diff, since=since, depth=depth, k=k, snapshot=snapshot
            )
        )

    def outline(self, path: str, *, at: str | None = None, refresh: Refresh = "auto") -> GraphAnswer:
        """The declarations of a file; of a folder its folders, its files and what those declare outermost."""
        return self.navigator.outline(path, SnapshotRequest(at, refresh))

    def history(
        self, path: str, start: int | None = None, end: int | None = None, *, k: int = 20,
        at: str | None = None, refresh: Refresh = "auto",
    ) -> HistoryAnswer:  # fmt: skip
        """Who changed a file, or lines `start` to `end` of it, newest first."""
        return self.navigator.history(
            requests.HistoryRequest(path, start, end, k, SnapshotRequest(at, refresh))
        )

    def read(
        self, path: str, start: int | None = None, end: int | None = None, *, at: str | None = None,
        refresh: Refresh = "auto",
    ) -> Passage:  # fmt: skip
        """Lines `start` to `end` of a file (all of it by default), as the snapshot has them."""
        return self.reader.read(path, (start, end), SnapshotRequest(at, refresh))

    def units(self, path: str, *, at: str | None = None, refresh: Refresh = "auto") -> list[SourceUnit]:
        """The source units of a file, outermost first."""
        return self.reader.units(path, SnapshotRequest(at, refresh))

    def texts(self, items: Sequence[Evidence], *, at_snapshot: str) -> list[str]:
        """The source text of each result, from the snapshot that answered."""
        return self.reader.texts(items, at_snapshot)

    def lines(self, answer: NavigationAnswer) -> list[str]:
        """The line of text of each location, as the snapshot that answered has it."""
        return self.reader.lines(answer.locations, answer.snapshot.id)

    def index(
        self, views: Sequence[ViewKind] = (), *, at: str | None = None, rebuild: bool = False,
        embedder: str | None = None, family: str | None = None, documents: str | None = None,
        trust: bool | None = None,
    ) -> Outcome:  # fmt: skip
        """Build or maintain these views of a revision, or of the worktree as it is; see `IndexRequest`.

        Without `views`, those that configuration names.
        """
        views = views or configured_views(self._compiler.repository)
        request = requests.IndexRequest(
            views, at=at, rebuild=rebuild, embedder=embedder, family=family, documents=documents, trust=trust
        )
        return self.maintenance.index(request)

    def update(self, *, wait: bool = True) -> Outcome:
        """Bring the views that this worktree has up to now; see `Maintenance.update`."""
        return self.maintenance.update(wait=wait)

    def verify(self, views: Sequence[ViewKind] = (), *, at: str | None = None) -> dict[ViewKind, list[str]]:
        """Rebuild beside the maintained views and compare; the differences by view, empty when equal."""
        return self.maintenance.verify(views, at=at)

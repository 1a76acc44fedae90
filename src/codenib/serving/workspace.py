"""A repository in, answers out: `codenib.open(path)` returns one of these."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self

from codenib.compiler.compiler import IndexCompiler, silent
from codenib.compiler.dense import open_named
from codenib.compiler.graph import FindBackends
from codenib.compiler.outcome import Outcome
from codenib.compiler.registry import DEFAULT_VIEWS, SLOW_VIEWS
from codenib.core.answers import Evidence, Passage, RegexAnswer
from codenib.core.embedding import OpenEmbedder
from codenib.core.errors import InputError
from codenib.core.history import HistoryAnswer
from codenib.core.navigation import Position
from codenib.core.protocols import Progress
from codenib.core.source import SourceUnit, Span
from codenib.core.symbols import GraphAnswer, NavigationAnswer
from codenib.core.views import ViewKind
from codenib.manifest.store import Store
from codenib.navigation.registry import backends_of
from codenib.serving.budgeted import Budgeted
from codenib.serving.search.paths import path_filter
from codenib.serving.snapshots.maintenance import AuditReport, audit_graph, graph_update, warm_graph
from codenib.serving.snapshots.pool import Pins, Refresh
from codenib.serving.snapshots.status import StatusReport, coverage_of, make_status
from codenib.snapshot.repository import locate

if TYPE_CHECKING:  # numpy comes with the first query, not with `import codenib`
    from codenib.serving.navigation.compare import Comparison
    from codenib.serving.navigation.navigator import Asked, Navigator
    from codenib.serving.navigation.neighbours import Neighbours
    from codenib.serving.snapshots.pinned import Pinned
    from codenib.views.graph.maintenance.update import GraphUpdate


class Workspace(Budgeted):
    """One repository, with answers that are always of one whole snapshot.

    Without `at`, answers are for the worktree as it is now (a bare repository: its HEAD): views are built on
    first use and maintained when files changed, which the answer reports as `refreshed`.
    """

    def __init__(
        self,
        path: str | Path = ".",
        *,
        progress: Progress = silent,
        open_embedder: OpenEmbedder = open_named,
        find_backends: FindBackends = backends_of,
    ) -> None:
        self._given: dict[str, Any] = {"open_embedder": open_embedder, "find_backends": find_backends}
        self._repository = locate(Path(path))
        self._store = Store(self._repository.key)
        self._compiler = IndexCompiler(
            self._repository, self._store, progress, open_embedder=open_embedder, find_backends=find_backends
        )
        self._pins = Pins(self._compiler)
        self._navigating: Navigator | None = None
        self._rerankers = {}

    @property
    def root(self) -> Path:
        """The top of the worktree, the bare repository or the folder."""
        return self._repository.root

    @property
    def is_bare(self) -> bool:
        """Whether there is no worktree, so that answers are for HEAD."""
        return self._repository.kind == "bare"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the opened views."""
        self._pins.clear()
        self._compiler.dense.close()
        self._costs.save()
        self._compiler.graph.close()
        if self._navigating is not None:
            self._navigating.close()
            self._navigating = None

    def trust_events(self, unchanged_since: Callable[[float], bool | None]) -> None:
        """Look at the files only when this does not say that none changed since the last look."""
        self._pins.unchanged_since = unchanged_since

    # -- asking

    def regex(
        self,
        pattern: str,
        *,
        k: int | None = 100,
        ignore_case: bool = False,
        literal: bool = False,
        paths: Sequence[str] = (),
        context: int = 0,
        timeout_s: float = 10.0,
        backend: Literal["trigram", "zoekt"] = "trigram",
        at: str | None = None,
        refresh: Refresh = "auto",
    ) -> RegexAnswer:
        """Lines that match `pattern`, in path order, as a scan of every file would find them."""
        from codenib.serving.search.lexical import regex_pinned

        started = time.perf_counter()
        kind = ViewKind.ZOEKT if backend == "zoekt" else ViewKind.TRIGRAM
        pinned, refreshed = self._pins.pin(kind, at, refresh)
        matches, provider = regex_pinned(
            pinned,
            pattern,
            ignore_case=ignore_case,
            literal=literal,
            paths=path_filter(paths),
            limit=k,
            context=context,
            timeout_s=timeout_s,
            backend=backend,
        )
        return RegexAnswer(
            matches.items,
            pinned.ref,
            matches.total,
            matches.files,
            matches.total > len(matches.items),
            matches.complete,
            matches.scanned_all,
            matches.candidates,
            provider,
            matches.reason,
            coverage_of(pinned.manifest, kind),
            time.perf_counter() - started,
            refreshed,
        )

    def read(
        self,
        path: str,
        start: int | None = None,
        end: int | None = None,
        *,
        at: str | None = None,
        refresh: Refresh = "auto",
    ) -> Passage:
        """Lines `start` to `end` of a file (all of it by default), as the snapshot has them."""
        from codenib.units.languages import language_hint

        if refresh == "auto":  # the text needs no view, so it waits for none
            pinned = self._pins.pin_ready(ViewKind.LEXICAL, at)
        else:
            pinned, _ = self._pins.pin(None, at, refresh)
        name = self._inside(path)
        lines = _lines(pinned.text(name))
        first, last = start or 1, min(end or len(lines), len(lines))
        if lines and not 1 <= first <= last:
            raise InputError(
                f"{name} has {len(lines)} lines; {start}-{end} is outside", hint=f"codenib read {name}"
            )
        text = "\n".join(lines[first - 1 : last])
        return Passage(name, first, last, len(lines), language_hint(name), text, pinned.ref)

    def units(self, path: str, *, at: str | None = None, refresh: Refresh = "auto") -> list[SourceUnit]:
        """The source units of a file, outermost first."""
        pinned, _ = self._pins.pin(None, at, refresh)
        name = self._inside(path)
        found, text = pinned.units(name)
        if found.skip:
            raise InputError(f"{name} is not indexed: {found.skip}", hint=f"codenib read {name}")
        lines = _lines(text)
        return [
            SourceUnit(
                Span(name, row.start_line, row.end_line),
                row.level,
                row.kind,
                found.language,
                row.symbol,
                "\n".join(lines[row.start_line - 1 : row.end_line]),
            )
            for row in sorted(found.rows, key=lambda row: (row.start_line, row.level, -row.end_line))
        ]

    def history(
        self, path: str, start: int | None = None, end: int | None = None, *, k: int = 20,
        at: str | None = None, refresh: Refresh = "auto",
    ) -> HistoryAnswer:  # fmt: skip
        """Who changed a file, or lines `start` to `end` of it, newest first."""
        from codenib.serving.navigation.history import ask_history

        where = (self._inside(path), start, end)
        return ask_history(self._compiler, self._pins, where, k=k, at=at, refresh=refresh)

    # -- navigating

    def definition(
        self,
        where: str | Position,
        *,
        name: str = "",
        provider: Asked = "auto",
        limit: int | None = None,
        at: str | None = None,
        refresh: Refresh = "auto",
    ) -> NavigationAnswer:
        """Where what stands at `where` is declared.

        `where` is a position, `path:line:column` (1-based), `path:line` with a `name`, or a dotted symbol.
        """
        return self._navigator.ask(
            "definition", self._written(where), name=name, provider=provider, limit=limit, declarations=True,
            at=at, refresh=refresh,
        )  # fmt: skip

    def references(
        self,
        where: str | Position,
        *,
        name: str = "",
        provider: Asked = "auto",
        limit: int | None = None,
        declarations: bool = True,
        at: str | None = None,
        refresh: Refresh = "auto",
    ) -> NavigationAnswer:
        """Every place that refers to what stands at `where`; see `definition`."""
        return self._navigator.ask(
            "references", self._written(where), name=name, provider=provider, limit=limit,
            declarations=declarations, at=at, refresh=refresh,
        )  # fmt: skip

    def neighbours(
        self,
        where: str | Position,
        which: Neighbours = "dependencies",
        *,
        name: str = "",
        depth: int = 1,
        k: int = 50,
        kinds: Sequence[str] = (),
        at: str | None = None,
        refresh: Refresh = "auto",
    ) -> GraphAnswer:
        """What a symbol uses (`dependencies`), is used by (`dependents`), its callers, callees, subtypes."""
        from codenib.serving.navigation import neighbours as graph

        started = time.perf_counter()
        pinned, refreshed = self._navigator.graph(at, refresh)
        node = self._node(pinned, where, name)
        found = graph.neighbours(pinned, node, which, depth=depth, limit=k, kinds=graph.edge_kinds(kinds))
        return replace(found, seconds=time.perf_counter() - started, refreshed=refreshed)

    def path(
        self,
        start: str | Position,
        goal: str | Position,
        *,
        at: str | None = None,
        refresh: Refresh = "auto",
    ) -> GraphAnswer:
        """The shortest chain of uses from one symbol to another; no symbols when there is none."""
        from codenib.serving.navigation.neighbours import shortest_path

        started = time.perf_counter()
        pinned, refreshed = self._navigator.graph(at, refresh)
        ends = (self._node(pinned, start, ""), self._node(pinned, goal, ""))
        found = shortest_path(pinned, *ends)
        return replace(found, seconds=time.perf_counter() - started, refreshed=refreshed)

    def symbols(
        self, query: str, *, k: int = 20, at: str | None = None, refresh: Refresh = "auto"
    ) -> GraphAnswer:
        """Declarations whose name holds `query`: exact names first, then the more important."""
        from codenib.serving.navigation.neighbours import find_symbols

        started = time.perf_counter()
        pinned, refreshed = self._navigator.graph(at, refresh)
        found = find_symbols(pinned, query, k)
        return replace(found, asked=query, seconds=time.perf_counter() - started, refreshed=refreshed)

    def outline(self, path: str, *, at: str | None = None, refresh: Refresh = "auto") -> GraphAnswer:
        """The declarations of a file, each with its depth."""
        from codenib.serving.navigation.neighbours import outline

        started = time.perf_counter()
        pinned, refreshed = self._navigator.graph(at, refresh)
        found = outline(pinned, self._inside(path))
        return replace(found, seconds=time.perf_counter() - started, refreshed=refreshed)

    def compare_navigation(self, *, n: int = 200, seed: int = 1, paths: Sequence[str] = ()) -> Comparison:
        """Ask the graph and the language servers at `n` sampled positions, and compare."""
        from codenib.serving.navigation.compare import compare

        pinned, _ = self._navigator.graph(None, "auto")
        accepts = path_filter(paths)
        chosen = [path for path in pinned.graph.paths if accepts(path)] if accepts else []
        progress, servers = self._compiler.progress, self._navigator.servers
        return compare(pinned, servers, n=n, seed=seed, paths=chosen, progress=progress)

    def lines(self, answer: NavigationAnswer) -> list[str]:
        """The line of text of each location, as the snapshot that answered has it."""
        pinned = self._pins.of_snapshot(answer.snapshot.id)
        names = sorted({place.path for place in answer.locations})
        found = {name: text.split("\n") for name, text in zip(names, pinned.texts(names), strict=True)}
        return [
            found[place.path][place.line - 1] if place.line <= len(found[place.path]) else ""
            for place in answer.locations
        ]

    # -- keeping

    def index(
        self,
        views: Sequence[ViewKind] = DEFAULT_VIEWS,
        *,
        at: str | None = None,
        rebuild: bool = False,
        embedder: str | None = None,
        family: str | None = None,
        documents: str | None = None,
        trust: bool | None = None,
    ) -> Outcome:
        """Build or maintain these views of a revision, or of the worktree as it is now.

        The last three choose the dense view: what embeds, how vectors are organised (`flat`, `ivf`, `hnsw`)
        and what a document is (`L2`, `L0`). They are kept for later updates. `trust` says, until it is said
        otherwise, that engines may run this repository's build scripts and macros.
        """
        if trust is not None:
            self._store.trust(trusted=trust)
        if ViewKind.DENSE not in views:
            if embedder or family or documents:
                raise InputError("an embedder is for the dense view", hint="codenib index --views dense")
            return self._index(views, at, rebuild)
        with self._compiler.dense.asked(embedder, family, documents):
            return self._index(views, at, rebuild)

    def import_scip(self, file: str | Path) -> Outcome:
        """Take the facts of the files as they are now from a SCIP index that was made elsewhere."""
        snapshot = self._compiler.take()
        self._compiler.graph.import_scip(Path(file), snapshot)
        return self._index((ViewKind.GRAPH,), None, False)

    def update(self, *, wait: bool = True) -> Outcome:
        """Bring the views that this worktree has up to now, the text views first; default views if none.

        Without `wait`, slow views are left as stale for another update.
        """
        views = self.views if wait else tuple(kind for kind in self.views if kind not in SLOW_VIEWS)
        self._pins.await_kept(views)
        return self._index(views, None, False)

    @contextmanager
    def keeping(self) -> Iterator[None]:
        """Be the one that keeps the slow views: others wait for them. An error when somebody is."""
        with self._store.keeping(self._repository.worktree_key):
            self._pins.keeps = True
            try:
                yield
            finally:
                self._pins.keeps = False

    @property
    def views(self) -> tuple[ViewKind, ...]:
        """The views of this worktree; the default ones when it has none."""
        return self._pins.views_of_head()

    def twin(self) -> Workspace:
        """Another one of the same repository, for another thread."""
        return type(self)(self._repository.root, **self._given)

    def graph_update(self, outcome: Outcome) -> GraphUpdate | None:
        """What an update did to the graph and why; None when there is none or it was built from nothing."""
        return graph_update(self._compiler, outcome)

    def verify(
        self, views: Sequence[ViewKind] | None = None, *, at: str | None = None
    ) -> dict[ViewKind, list[str]]:
        """Rebuild beside the maintained views and compare; the differences by view, empty when equal."""
        return self._compiler.verify(self._compiler.take(at), views or self.views)

    def audit(self, *, sample: int = 24, seed: int | None = None, repair: bool = True) -> AuditReport:
        """Ask new engines for `sample` files of each group of the graph; made anew where one differs."""
        chosen = int(time.time()) if seed is None else seed
        return audit_graph(self._compiler, sample=sample, seed=chosen, repair=repair)

    def warm(self) -> None:
        """Start the engines of the graph, so that the next edit finds them up."""
        warm_graph(self._compiler)

    def status(self) -> StatusReport:
        """What is indexed, for which snapshot, and what changed since."""
        return make_status(self._compiler)

    def texts(self, items: Sequence[Evidence], *, at_snapshot: str) -> list[str]:
        """The source text of each result, from the snapshot that answered."""
        pinned = self._pins.of_snapshot(at_snapshot)
        names = sorted({item.path for item in items})
        found = {name: _lines(text) for name, text in zip(names, pinned.texts(names), strict=True)}
        return ["\n".join(found[item.path][item.start_line - 1 : item.end_line]) for item in items]

    @property
    def _navigator(self) -> Navigator:
        if self._navigating is None:
            from codenib.serving.navigation.by_name import ByName
            from codenib.serving.navigation.navigator import Navigator

            names = ByName(
                self._named,
                lambda pattern: self.regex(pattern, k=None),
                lambda items, snapshot: self.texts(items, at_snapshot=snapshot),
            )
            self._navigating = Navigator(self._compiler, self._pins, names)
        return self._navigating

    def _named(self, name: str) -> tuple[list[Evidence], str]:
        """The units whose last name is `name`, in any case, and the snapshot that they are of."""
        from codenib.serving.search.evidence import unit_evidence

        pinned, _ = self._pins.pin(ViewKind.LEXICAL, None, "auto")
        units = pinned.names.units(name).tolist()
        return [unit_evidence(pinned.lexical, unit, 0.0, ()) for unit in units], pinned.ref.id

    def _node(self, pinned: Pinned, where: str | Position, name: str) -> int:
        """The node of the graph that `where` means; a path means its file."""
        from codenib.serving.navigation.neighbours import node_at

        written = self._written(where)
        if isinstance(written, str) and not name and (file := pinned.graph.file_number(written)) is not None:
            return pinned.graph.files_at + file
        if isinstance(written, str):
            written = self._navigator.position(pinned, written, name)
        return node_at(pinned.graph, written)

    def _written(self, where: str | Position) -> str | Position:
        """`where` with its path made relative to the root."""
        if isinstance(where, Position) or not Path(where).is_absolute():
            return where
        path, _, rest = where.partition(":")
        return f"{self._inside(path)}:{rest}" if rest else self._inside(path)

    def _index(self, views: Sequence[ViewKind], at: str | None, rebuild: bool) -> Outcome:
        self._pins.look_again()
        later = {} if rebuild or at is not None else self._pins.left_for_later(views)
        with self._store.not_collecting():  # `gc` must not drop what `take` stored before it is published
            snapshot = self._compiler.take(at)
            return self._compiler.ensure(snapshot, views, head=at is None, rebuild=rebuild, later=later)

    def _inside(self, path: str) -> str:
        """`path` relative to the repository's root, however the caller wrote it."""
        place = Path(path)
        if place.is_absolute():
            try:
                return place.relative_to(self.root).as_posix()
            except ValueError:
                hint = "codenib -C REPOSITORY read PATH"
                raise InputError(f"{path} is outside {self.root}", hint=hint) from None
        return place.as_posix()


def _lines(text: str) -> list[str]:
    """Lines by newline alone; a final newline opens no further line."""
    lines = text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    return lines

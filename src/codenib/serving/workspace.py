"""A repository in, answers out: `codenib.open(path)` returns one of these."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Literal, Self

from codenib.compiler.compiler import IndexCompiler, Outcome, silent
from codenib.compiler.registry import DEFAULT_VIEWS
from codenib.core.answers import Answer, Evidence, Passage, RegexAnswer
from codenib.core.errors import InputError, StateError
from codenib.core.protocols import Progress
from codenib.core.source import SourceUnit, Span
from codenib.core.views import RepoManifest, ViewKind
from codenib.manifest.store import Store
from codenib.planner.plan import plan
from codenib.serving.paths import path_filter
from codenib.serving.report import StatusReport, coverage_of, describe_refresh, make_status
from codenib.snapshot.repository import locate

if TYPE_CHECKING:  # numpy comes with the first query, not with `import codenib`
    from codenib.serving.pinned import Pinned

Refresh = Literal["auto", "never"]
# Between two looks at the files a query costs no git call. A look is worth at most a tenth of the time, and
# there is one at least every second: a saved file is visible within a second, on small repositories sooner.
_RECHECK_SHARE = 10.0
_RECHECK_S = 1.0


class Workspace:
    """One repository, with answers that are always of one whole snapshot.

    Without `at`, answers are for the worktree as it is now (a bare repository: its HEAD): views are built on
    first use and maintained when files changed, which the answer reports as `refreshed`.
    """

    def __init__(self, path: str | Path = ".", *, progress: Progress = silent) -> None:
        self._repository = locate(Path(path))
        self._store = Store(self._repository.key)
        self._compiler = IndexCompiler(self._repository, self._store, progress)
        self._pinned: dict[tuple[str, bool], Pinned] = {}  # by snapshot and whether it may be stale
        self._recent: dict[str | None, tuple[float, Pinned]] = {}  # by revision: good until then

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
        self._pinned.clear()
        self._recent.clear()

    # -- asking

    def search(
        self,
        query: str,
        *,
        k: int = 10,
        route: str = "auto",
        level: Literal["unit", "file"] = "unit",
        paths: Sequence[str] = (),
        tests: Literal["include", "exclude", "lower"] = "lower",
        at: str | None = None,
        refresh: Refresh = "auto",
    ) -> Answer:
        """Units (or files) ranked by how well they match `query`, best first."""
        from codenib.serving.search import search_pinned

        if not query.strip():
            raise InputError("the query is empty", hint="codenib search 'what to look for'")
        started = time.perf_counter()
        pinned, refreshed = self._pin(ViewKind.LEXICAL, at, refresh)
        chosen = plan(route, pinned.manifest.capabilities, k)
        ranked, items = search_pinned(pinned, query, chosen, level, tests, path_filter(paths))
        return Answer(
            items,
            pinned.ref,
            chosen,
            ranked.total,
            ranked.total > len(items),
            coverage_of(pinned.manifest, ViewKind.LEXICAL),
            time.perf_counter() - started,
            refreshed,
        )

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
        from codenib.serving.search import regex_pinned

        started = time.perf_counter()
        kind = ViewKind.ZOEKT if backend == "zoekt" else ViewKind.TRIGRAM
        pinned, refreshed = self._pin(kind, at, refresh)
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

        pinned, _ = self._pin(None, at, refresh)
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
        pinned, _ = self._pin(None, at, refresh)
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

    # -- keeping

    def index(
        self,
        views: Sequence[ViewKind] = DEFAULT_VIEWS,
        *,
        at: str | None = None,
        rebuild: bool = False,
    ) -> Outcome:
        """Build or maintain these views of a revision, or of the worktree as it is now."""
        self._recent.clear()
        with self._store.not_collecting():  # `gc` must not drop what `take` stored before it is published
            snapshot = self._compiler.take(at)
            return self._compiler.ensure(snapshot, views, head=at is None, rebuild=rebuild)

    def update(self) -> Outcome:
        """Bring the views that this worktree has up to now; all default views when it has none."""
        return self.index(self._views_of_head())

    def verify(
        self, views: Sequence[ViewKind] | None = None, *, at: str | None = None
    ) -> dict[ViewKind, list[str]]:
        """Rebuild beside the maintained views and compare; the differences by view, empty when equal."""
        return self._compiler.verify(self._compiler.take(at), views or self._views_of_head())

    def status(self) -> StatusReport:
        """What is indexed, for which snapshot, and what changed since."""
        return make_status(self._compiler)

    def texts(self, items: Sequence[Evidence], *, at_snapshot: str) -> list[str]:
        """The source text of each result, from the snapshot that answered."""
        pinned = (
            self._pinned.get((at_snapshot, False))
            or self._pinned.get((at_snapshot, True))
            or self._open(self._manifest(at_snapshot), None, stale=False)
        )
        names = sorted({item.path for item in items})
        found = {name: _lines(text) for name, text in zip(names, pinned.texts(names), strict=True)}
        return ["\n".join(found[item.path][item.start_line - 1 : item.end_line]) for item in items]

    # -- pinning

    def _pin(self, kind: ViewKind | None, at: str | None, refresh: Refresh) -> tuple[Pinned, str]:
        """The opened views of the snapshot to answer for; `kind` must be among them."""
        if refresh == "never" and at is None:
            return self._pin_published(kind), ""
        until, recent = self._recent.get(at, (0.0, None))
        if (
            recent is not None
            and time.monotonic() < until
            and (kind is None or kind in recent.manifest.views)
        ):
            with suppress(StateError):  # not opened before, and swept since: look again
                recent.hold(kind)
                return recent, ""
        with self._store.not_collecting():  # `gc` must not drop what `take` stored before it is published
            pinned, outcome = self._pin_current(kind, at)
        return pinned, describe_refresh(outcome)

    def _pin_current(self, kind: ViewKind | None, at: str | None) -> tuple[Pinned, Outcome]:
        started = time.monotonic()
        snapshot = self._compiler.take(at)
        look_s = time.monotonic() - started
        views = self._views_of_head()
        if kind is not None and kind not in views:
            views = (*views, kind)
        while True:
            outcome = self._compiler.ensure(snapshot, views, head=at is None, retry=False)
            try:
                pinned = self._open(outcome.manifest, kind, stale=False)
            except StateError:
                if self._store.manifest(snapshot.id) == outcome.manifest:
                    raise  # damaged; otherwise another writer swept it before it was open
                continue
            good_s = min(_RECHECK_SHARE * look_s, _RECHECK_S)
            self._recent[at] = (time.monotonic() + good_s, pinned)
            return pinned, outcome

    def _pin_published(self, kind: ViewKind | None) -> Pinned:
        while True:
            head = self._store.head(self._repository.worktree_key)
            manifest = self._store.manifest(head) if head else None
            try:
                if manifest is None:
                    raise StateError(f"{self.root} was never indexed", hint="codenib index")
                return self._open(manifest, kind, stale=True)
            except StateError:
                if self._store.head(self._repository.worktree_key) == head and (
                    head is None or self._store.manifest(head) == manifest
                ):
                    raise  # otherwise a writer moved on before it was open: take the newest

    def _manifest(self, snapshot: str) -> RepoManifest:
        manifest = self._store.manifest(snapshot)
        if manifest is None:
            raise StateError(f"snapshot {snapshot} is no longer published", hint="codenib update")
        return manifest

    def _open(self, manifest: RepoManifest, kind: ViewKind | None, *, stale: bool) -> Pinned:
        """The views of a manifest, with `kind` open, so that later sweeps cannot reach the answer."""
        from codenib.serving.pinned import Pinned

        key = (manifest.snapshot, stale)
        pinned = self._pinned.get(key)
        if pinned is None or pinned.manifest != manifest:
            pinned = Pinned(self._store, manifest, self._compiler.source, stale=stale)
        pinned.hold(kind)
        while key not in self._pinned and len(self._pinned) >= 4:  # a few revisions at once; the oldest goes
            self._pinned.pop(next(iter(self._pinned)))
        self._pinned[key] = pinned
        return pinned

    def _views_of_head(self) -> tuple[ViewKind, ...]:
        head = self._store.head(self._repository.worktree_key)
        manifest = self._store.manifest(head) if head else None
        # Zoekt's shards are rebuilt whole, so only a question for them pays for them.
        kept = tuple(kind for kind in manifest.views if kind is not ViewKind.ZOEKT) if manifest else ()
        return kept or DEFAULT_VIEWS

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

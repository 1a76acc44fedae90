"""A query in, a plan and its ranked answer out: the part of a workspace that searches."""

from __future__ import annotations

import importlib.util
import time
from abc import ABC
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from codenib.core.answers import Answer, Plan, Route
from codenib.core.errors import InputError
from codenib.core.views import Status, ViewKind
from codenib.planner.plan import Request, make_plan
from codenib.serving.search.paths import path_filter
from codenib.serving.snapshots.status import coverage_of

if TYPE_CHECKING:  # numpy comes with the first query, not with `import codenib`
    from codenib.compiler.compiler import IndexCompiler
    from codenib.core.embedding import Embedder
    from codenib.core.protocols import Reranker
    from codenib.serving.search.costs import Costs
    from codenib.serving.snapshots.pinned import Pinned
    from codenib.serving.snapshots.pool import Pins, Refresh

RERANKER_PACKAGES = ("codenib_reranker", "onnxruntime", "tokenizers")


class Searching(ABC):
    """What a workspace answers by rank, from the snapshots that it pinned."""

    _pins: Pins
    _compiler: IndexCompiler
    _costing: Costs | None = None
    _rerankers: dict[str, Reranker]

    def search(
        self,
        query: str,
        *,
        k: int = 10,
        route: str = "auto",
        budget: str = "balanced",
        level: Literal["unit", "file"] = "unit",
        paths: Sequence[str] = (),
        tests: Literal["include", "exclude", "lower"] | None = None,
        fusion: str = "auto",
        reranker: str | None = None,
        cut: int | None = None,
        expand: bool = False,
        at: str | None = None,
        refresh: Refresh = "auto",
    ) -> Answer:
        """Units (or files) ranked by how well they match `query`, best first.

        `budget` is `fast`, `balanced`, `thorough` or a number of milliseconds. `reranker` names one to use
        (`none` for none), which reads the first `cut` candidates. `expand` adds the graph's neighbours to a
        semantic route. Tests, examples and vendored code rank lower unless `tests` says otherwise or the
        question is about tests.
        """
        from codenib.serving.search.execute import Run, run_plan

        started = time.perf_counter()
        request = self._request(query, k, route, budget, fusion, reranker, cut, expand)
        pinned, refreshed = self._pin_for(request, at, refresh)
        plan = make_plan(request, self._capabilities(pinned), self._costs.medians())
        opened = self._reranker(plan.reranker) if plan.reranker else None
        lowered = tests or ("include" if request.signals.about_tests else "lower")
        ranked, items = run_plan(
            Run(
                pinned,
                query,
                request.signals,
                plan,
                level,
                lowered,
                path_filter(paths),
                self._costs,
                self._embedder(pinned, plan),
                opened,
                self._has(pinned, ViewKind.HISTORY),
            )
        )
        return Answer(
            items,
            pinned.ref,
            plan,
            ranked.total,
            ranked.total > len(items),
            coverage_of(pinned.manifest, self._first_view(request)),
            time.perf_counter() - started,
            refreshed,
        )

    def plan(
        self,
        query: str,
        *,
        k: int = 10,
        route: str = "auto",
        budget: str = "balanced",
        fusion: str = "auto",
        reranker: str | None = None,
        cut: int | None = None,
        expand: bool = False,
        at: str | None = None,
        refresh: Refresh = "auto",
    ) -> Plan:
        """What `search` would do for a query, and why."""
        request = self._request(query, k, route, budget, fusion, reranker, cut, expand)
        pinned, _ = self._pin_for(request, at, refresh)
        return make_plan(request, self._capabilities(pinned), self._costs.medians())

    def costs(self) -> dict[str, float]:
        """The usual milliseconds of each operator on this repository, as measured while serving."""
        return self._costs.medians()

    def _request(
        self,
        query: str,
        k: int,
        route: str,
        budget: str,
        fusion: str,
        reranker: str | None,
        cut: int | None,
        expand: bool,
    ) -> Request:
        if not query.strip():
            raise InputError("the query is empty", hint="codenib search 'what to look for'")
        if reranker is not None:
            from codenib.serving.search.rerankers.choose import parse_reranker

            parse_reranker(reranker)  # a wrong name fails before any work
        from codenib.planner.signals import read_signals

        return Request(read_signals(query), k, route, budget, fusion, reranker, cut, expand)

    def _first_view(self, request: Request) -> ViewKind:
        """The view that must be fresh before anything else is asked."""
        dense = request.route in (Route.SEMANTIC, Route.HYBRID)
        return ViewKind.DENSE if dense else ViewKind.LEXICAL

    def _pin_for(self, request: Request, at: str | None, refresh: Refresh) -> tuple[Pinned, str]:
        kind = self._first_view(request)
        if kind is ViewKind.DENSE and refresh == "auto":
            self._compiler.dense.open_now()  # a wrong embedder fails before any work
        pinned, refreshed = self._pins.pin(kind, at, refresh)
        if request.route == Route.STRUCTURAL or request.expand:
            pinned, also = self._pins.pin(ViewKind.GRAPH, at, refresh)
            refreshed = refreshed or also
        return pinned, refreshed

    def _capabilities(self, pinned: Pinned) -> set[str]:
        """What the manifest can do, and whether our own reranker is installed."""
        found = set(pinned.manifest.capabilities)
        if all(importlib.util.find_spec(name) is not None for name in RERANKER_PACKAGES):
            found.add("rerank:embedded")
        return found

    def _embedder(self, pinned: Pinned, plan: Plan) -> Embedder | None:
        if plan.route not in (Route.SEMANTIC, Route.HYBRID):
            return None
        return self._compiler.dense.embedder_of(pinned.manifest.views[ViewKind.DENSE].fields)

    def _reranker(self, spec: str) -> Reranker | None:
        if spec not in self._rerankers:
            from codenib.serving.search.rerankers.choose import open_reranker

            opened = open_reranker(spec)
            if opened is None:
                return None
            self._rerankers[spec] = opened
        return self._rerankers[spec]

    @staticmethod
    def _has(pinned: Pinned, kind: ViewKind) -> bool:
        record = pinned.manifest.views.get(kind)
        return record is not None and record.status is Status.FRESH

    @property
    def _costs(self) -> Costs:
        if self._costing is None:
            from codenib.serving.search.costs import Costs

            self._costing = Costs(self._compiler.store.folder)
        return self._costing

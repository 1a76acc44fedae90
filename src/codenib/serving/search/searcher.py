"""A search request in, its plan and ranked answer out: pins the snapshot, plans, opens, executes."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

from codenib.core.answers import Answer, Plan, PlanStep, Route, SnapshotRef
from codenib.core.errors import InputError, StateError
from codenib.core.requests import RegexRequest, SearchRequest, SnapshotRequest
from codenib.core.text.globs import path_filter
from codenib.core.views import Status, ViewKind, ViewRecord
from codenib.serving.snapshots.background import is_allowed
from codenib.serving.snapshots.reader import link_source

if TYPE_CHECKING:  # numpy comes with the first query, not with `import codenib`
    from codenib.compiler.compiler import IndexCompiler
    from codenib.core.answers import RegexAnswer
    from codenib.core.embedding import Embedder
    from codenib.core.protocols import OpenReranker, Reranker
    from codenib.planner.model import DecisionModel, ModelKind
    from codenib.planner.signals import Signals
    from codenib.serving.search.costs import Costs
    from codenib.serving.search.learned.repository import RepositoryOrder
    from codenib.serving.search.policy import ActiveModel
    from codenib.serving.snapshots.pinned import PinnedSnapshot
    from codenib.serving.snapshots.pool import Snapshots

_log = logging.getLogger("codenib")

#: What an answer by words gains from: vectors always, the history where the order is learned.
_HELPFUL = (ViewKind.DENSE, ViewKind.HISTORY)


@dataclass(frozen=True, slots=True)
class PlanExplanation:
    """A plan with what it was made from: the query's signals, and milliseconds as measured here.

    `steps` are its operators in order, `words` the whole as a sentence.
    """

    plan: Plan
    signals: Signals
    costs_ms: Mapping[str, float]
    steps: tuple[PlanStep, ...]
    words: str
    snapshot: SnapshotRef
    refreshed: str = ""


class Searcher:
    """Answers search requests from the snapshots of one repository."""

    def __init__(self, compiler: IndexCompiler, snapshots: Snapshots) -> None:
        self._compiler = compiler
        self._snapshots = snapshots
        self._rerankers: dict[str, Reranker] = {}
        #: Opens a reranker by its spec; a server's workspaces share theirs.
        self.open_reranker: OpenReranker | None = None
        self._policies: dict[ModelKind, ActiveModel] = {}
        #: Whether what was learnt of this repository orders answers, where the request leaves it open.
        self.uses_learned = True

    def search(self, request: SearchRequest) -> Answer:
        """Units (or files) ranked by how well they match the query, or the place that they are `like`."""
        from codenib.serving.search.evidence import Retrieval
        from codenib.serving.search.execute import Execution, execute
        from codenib.serving.search.explain import explain_items

        if request.like:
            from codenib.serving.search.similar import search_similar

            return search_similar(self, self._snapshots, request)
        started, watch = time.perf_counter(), self.costs.watch()
        with watch.step("snapshot"):
            pinned, refreshed = self._pin(request)
        with watch.step("plan"):
            signals, plan, learnt = self._plan(request, pinned)
        _log.debug("snapshot %s; %s", pinned.ref.id, refreshed or "nothing changed since it was indexed")
        _log.debug("route %s, because %s; views: %s", plan.route, plan.reason, _states(pinned))
        tests = request.tests or ("include" if signals.about_tests else "lower")
        accepts = path_filter(request.paths)
        wanted = Retrieval(
            query=request.query,
            k=request.k,
            level=request.level,
            tests=tests,
            accepts=accepts,
            spread=signals.is_question,
        )
        execution = Execution(
            pinned=pinned,
            wanted=wanted,
            signals=signals,
            plan=plan,
            costs=watch,
            embedder=self._embedder(pinned, plan),
            reranker=self._reranker(plan.reranker) if plan.reranker else None,
            learnt=learnt,
        )
        ranked = execute(execution)
        link_source(ranked.items, self._snapshots, pinned.ref.id)
        without = self._missing_views(request, plan, pinned)
        reasons = () if ranked.items else _why_nothing(request, accepts, pinned)
        return Answer(
            items=ranked.items,
            snapshot=pinned.ref,
            plan=plan,
            total=ranked.total,
            truncated=ranked.total > len(ranked.items),
            coverage=pinned.coverage(_first_view(request)),
            seconds=time.perf_counter() - started,
            refreshed=refreshed,
            note="; ".join([*reasons, *without.values()]),
            without=tuple(without),
            steps=watch.steps,
            explained=explain_items(execution, ranked.items) if request.explain else (),
        )

    def explain(self, request: SearchRequest) -> PlanExplanation:
        """What `search` would do for a request, and why."""
        from codenib.planner.words import sentence, steps_of

        pinned, refreshed = self._pin(request)
        signals, plan, _ = self._plan(request, pinned)
        costs = self.costs.medians()
        steps = steps_of(plan, costs)
        return PlanExplanation(
            plan=plan,
            signals=signals,
            costs_ms=costs,
            steps=steps,
            words=sentence(plan, steps),
            snapshot=pinned.ref,
            refreshed=refreshed,
        )

    def regex(self, request: RegexRequest) -> RegexAnswer:
        """Lines that match a pattern, in path order."""
        from codenib.serving.search.regex import search_regex

        return search_regex(self._snapshots, request)

    @cached_property
    def costs(self) -> Costs:
        """What operators cost on this repository, as measured while serving."""
        from codenib.serving.search.costs import Costs

        return Costs(self._compiler.store.folder)

    def policy(self, kind: ModelKind) -> DecisionModel | None:
        """The policy that the user activated for this repository, if any."""
        if kind not in self._policies:
            from codenib.serving.search.policy import ActiveModel

            self._policies[kind] = ActiveModel(self._compiler.store.folder, kind)
        return self._policies[kind].read()

    def close(self) -> None:
        """Save the measured costs."""
        if "costs" in self.__dict__:
            self.costs.save()

    def _pin(self, request: SearchRequest) -> tuple[PinnedSnapshot, str]:
        _check(request)
        kind = _first_view(request)
        if kind is ViewKind.DENSE and request.snapshot.refresh == "auto":
            self._compiler.dense.open_now()  # a wrong embedder fails before any work
        helpful = _HELPFUL if request.route == "auto" else ()
        pinned, refreshed = self._snapshots.pin(kind, request.snapshot, helpful)
        if request.route == Route.STRUCTURAL or request.expand:
            pinned, also = self._snapshots.pin(ViewKind.GRAPH, request.snapshot)
            refreshed = refreshed or also
        return pinned, refreshed

    def _plan(
        self, request: SearchRequest, pinned: PinnedSnapshot
    ) -> tuple[Signals, Plan, RepositoryOrder | None]:
        """The signals of a request, its plan, and what was learnt where the plan orders an issue."""
        from codenib.planner.plan import make_plan
        from codenib.planner.signals import read_signals

        signals = read_signals(request.query)
        capabilities, costs = pinned.manifest.capabilities, self.costs.medians()
        is_wanted = request.learned and self.uses_learned
        model = self.policy("router") if is_wanted else None
        plan = make_plan(request, signals, capabilities, costs, model=model)
        learnt = self.learnt_at(pinned.ref.commit) if is_wanted and plan.fusion == "learned" else None
        if learnt is None:
            return signals, plan, None
        told = f"{plan.reason}; what was learnt at {learnt.commit[:10]} counts where this order is unsure"
        return signals, replace(plan, reason=told), learnt

    def learnt_at(self, commit: str | None) -> RepositoryOrder | None:
        """What `codenib learn` made of this repository at `commit` or before it, if anything may be used."""
        if not (self._compiler.store.folder / "learned").is_dir():
            return None
        from codenib.serving.search.learned.repository import LEARNED_FOR, learned_for, open_learned
        from codenib.snapshot.history import leads_to

        path = learned_for(
            self._compiler.store, commit, partial(leads_to, self._compiler.repository, most=LEARNED_FOR)
        )
        try:
            return None if path is None else open_learned(path)
        except StateError:  # forgotten just now
            return None

    def _missing_views(
        self, request: SearchRequest, plan: Plan, pinned: PinnedSnapshot
    ) -> dict[ViewKind, str]:
        """Each view of this worktree that the plan would have used, were it fresh, and why it is not."""
        helpful = _HELPFUL if plan.fusion == "learned" else _HELPFUL[:1]
        if request.route != "auto" or plan.route is Route.STRUCTURAL:
            return {}
        if all(pinned.has_fresh(kind) for kind in helpful):
            return {}
        wanted = self._snapshots.views_of_head()
        return {
            kind: _why(kind, pinned.manifest.views.get(kind), request.snapshot)
            for kind in helpful
            if kind in wanted and not pinned.has_fresh(kind)
            and (kind is not ViewKind.DENSE or self._compiler.dense.is_instant)
        }  # fmt: skip

    def _embedder(self, pinned: PinnedSnapshot, plan: Plan) -> Embedder | None:
        if plan.route not in (Route.SEMANTIC, Route.HYBRID):
            return None
        return self._compiler.dense.embedder_of(pinned.manifest.views[ViewKind.DENSE].fields)

    def embedder_of(self, pinned: PinnedSnapshot) -> Embedder | None:
        """What embeds questions to a snapshot's vectors; None where it has none that are at hand."""
        if "ranked:semantic:instant" not in pinned.manifest.capabilities:
            return None
        return self._compiler.dense.embedder_of(pinned.manifest.views[ViewKind.DENSE].fields)

    def _reranker(self, spec: str) -> Reranker | None:
        if spec not in self._rerankers:
            from codenib.serving.search.rerankers.choose import open_reranker

            opened = (self.open_reranker or open_reranker)(spec)
            if opened is None:
                return None
            self._rerankers[spec] = opened
        return self._rerankers[spec]


def _states(pinned: PinnedSnapshot) -> str:
    return ", ".join(f"{kind} {record.status}" for kind, record in pinned.manifest.views.items())


def _check(request: SearchRequest) -> None:
    """Refuse what can never be answered, before any work."""
    from codenib.planner.plan import parse_budget

    if not request.query.strip():
        raise InputError("the query is empty", hint="codenib search 'what to look for'")
    parse_budget(request.budget)
    if request.reranker is not None:
        from codenib.serving.search.rerankers.choose import parse_reranker

        parse_reranker(request.reranker)


def _why_nothing(
    request: SearchRequest, accepts: Callable[[str], bool] | None, pinned: PinnedSnapshot
) -> Iterator[str]:
    """Why nothing can match, where that is no matter of what the files hold."""
    from codenib.units.tokens import LONGEST_WORD, words_of

    if accepts is not None and not any(map(accepts, pinned.files)):
        yield f"no file of this snapshot is among the paths {', '.join(request.paths)}"
    longest = max(map(len, words_of(request.query)), default=0)
    if longest > LONGEST_WORD:
        yield (
            f"a word of {longest:,} characters was not searched for, as indexed words have {LONGEST_WORD} "
            "at most; a pattern finds longer text"
        )


def _first_view(request: SearchRequest) -> ViewKind:
    """The view that must be fresh before anything else is asked."""
    dense = request.route in (Route.SEMANTIC, Route.HYBRID)
    return ViewKind.DENSE if dense else ViewKind.LEXICAL


def _why(kind: ViewKind, record: ViewRecord | None, asked: SnapshotRequest) -> str:
    """What an answer says of a view that it could not use, and the one command that helps."""
    less, name = ("by words alone", "vectors") if kind is ViewKind.DENSE else ("without the history", "it")
    are = "are" if name == "vectors" else "is"
    if record is not None and record.status is Status.FAILED:
        return f"{less}: the {kind} view failed ({record.error}); codenib index --views {kind}"
    if asked.at is not None:
        return f"{less}: {name} {are} not built for {asked.at}; codenib index --at {asked.at}"
    if asked.refresh == "never":
        return f"{less}: {name} {are} of an earlier snapshot; codenib update"
    if not is_allowed():
        return f"{less}: {name} {are} not built yet; codenib index builds all"
    return f"{less}: {name} {are} being built; codenib index waits for that"

"""A query's signals, a budget, what the manifest can do and what operators cost here in, a Plan out. Pure.

A plan is the paper's tuple: route, width, reranker, expansion. What the caller asks for is honoured or
refused, never changed; `auto` chooses, and says why.

>>> from codenib.planner.signals import read_signals
>>> ready = {"ranked:lexical", "ranked:semantic", "ranked:semantic:instant"}
>>> request = SearchRequest("where are cookies parsed?")
>>> make_plan(request, read_signals(request.query), ready).reason
'it is a short question'
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from codenib.core.answers import Plan, Route
from codenib.core.errors import InputError, StateError
from codenib.core.requests import SearchRequest

if TYPE_CHECKING:  # its patterns take ten milliseconds to compile, and most commands plan nothing
    from codenib.planner.model import DecisionModel
    from codenib.planner.signals import Signals

ROUTES = ("auto", *(route.value for route in Route))
BUDGETS = ("fast", "balanced")
FUSIONS = ("auto", "weighted", "rrf", "learned")

_LEXICAL, _DENSE = ("lexical", "ranked:lexical"), ("dense", "ranked:semantic")
_GRAPH = ("graph", "graph")
_NEEDS = {
    Route.LEXICAL: (_LEXICAL,),
    Route.SEMANTIC: (_DENSE,),
    Route.HYBRID: (_LEXICAL, _DENSE),
    Route.STRUCTURAL: (_LEXICAL, _GRAPH),
}
RERANK = 30  # the cut before reranking


class RouterAction(NamedTuple):
    """What a model of the router chooses: a route, how its orders become one, how many places are read."""

    route: Route
    fusion: str
    cut: int = 0  # read by the reranker; 0: none

    @property
    def name(self) -> str:
        """
        >>> RouterAction(Route.HYBRID, "learned", 30).name, RouterAction(Route.LEXICAL, "").name
        ('hybrid:learned+read30', 'lexical')
        """
        order = f"{self.route.value}:{self.fusion}" if self.fusion else self.route.value
        return f"{order}+read{self.cut}" if self.cut else order


#: By name; those with a reader are for who names one.
ROUTER_ACTIONS = {
    action.name: action
    for cut in (0, 10, RERANK)
    for action in (
        RouterAction(Route.LEXICAL, "", cut),
        *(RouterAction(Route.HYBRID, fusion, cut) for fusion in ("weighted", "rrf", "learned")),
    )
}
ONE_HOP, FUSED = "one-hop", "dense-graph"
EXPANSIONS = {Route.STRUCTURAL: ONE_HOP, Route.SEMANTIC: FUSED}
#: Milliseconds that an operator costs where none was measured yet; those of a reranker are for one document.
ASSUMED = {"lexical": 6.0, "semantic": 4.0, "learned": 25.0, "expand": 5.0, "rerank": 45.0}


def make_plan(
    request: SearchRequest,
    signals: Signals,
    capabilities: Collection[str],
    costs: Mapping[str, float] | None = None,
    *,
    model: DecisionModel | None = None,
) -> Plan:
    """Lower a request, whose query has these signals, to the plan that serves it.

    A `model` chooses the route where the caller and the structure of the question leave it open; where a
    reranker is named without a cut, also whether it reads, and how many places.
    """
    _check(request)
    known = {**ASSUMED, **(costs or {})}
    milliseconds = _milliseconds(request.budget)
    if milliseconds is None:
        return _estimated(_modelled(_choose(request, signals, capabilities), request, signals, model), known)
    plans = [_estimated(plan, known) for plan in _by_cost(request, signals, capabilities)]
    for plan in plans:
        if (plan.estimate_ms or 0.0) <= milliseconds:
            return replace(plan, reason=f"{plan.reason}; the most that fits in {milliseconds:g} ms")
    return replace(plans[-1], reason=f"{plans[-1].reason}; nothing fits in {milliseconds:g} ms: the cheapest")


def parse_budget(budget: str) -> str:
    """A budget as plans name it: `fast`, `balanced`, or milliseconds as `200` or `200ms`.

    >>> parse_budget("200 ms")
    '200ms'
    """
    _milliseconds(budget)
    return budget if budget in BUDGETS else f"{float(budget.lower().removesuffix('ms')):g}ms"


def _milliseconds(budget: str) -> float | None:
    if budget in BUDGETS:
        return None
    try:
        value = float(budget.lower().removesuffix("ms"))
    except ValueError:
        value = 0.0
    if budget == "thorough":
        raise InputError(
            "the budget thorough was removed: its reranker did not rank better than none",
            hint="codenib search --rerank SPEC QUERY (docs/reranking.md names the specs)",
        )
    if not value > 0 or value == float("inf"):
        raise InputError(
            f"unknown budget {budget!r}", hint=f"codenib search --budget {'|'.join(BUDGETS)}|200ms"
        )
    return value


def _check(request: SearchRequest) -> None:
    if request.route not in ROUTES:
        raise InputError(
            f"unknown route {request.route!r}", hint=f"codenib search --route {'|'.join(ROUTES)}"
        )
    if request.fusion not in FUSIONS:
        raise InputError(
            f"unknown fusion {request.fusion!r}", hint=f"codenib search --fusion {'|'.join(FUSIONS)}"
        )
    if request.k < 1:
        raise InputError(f"-k must be at least 1, not {request.k}", hint="codenib search -k 10 QUERY")
    if request.cut is not None and request.cut < 1:
        raise InputError(
            f"the cut before reranking must be at least 1, not {request.cut}",
            hint="codenib search --rerank onnx:FOLDER --cut 30 QUERY",
        )
    if request.expand and request.route not in ("structural", "semantic"):
        raise InputError(
            f"the {request.route} route does not expand",
            hint="codenib search --route semantic --expand QUERY",
        )


def _choose(request: SearchRequest, signals: Signals, capabilities: Collection[str]) -> Plan:
    """The plan of a named budget."""
    plan = _routed(request, signals, capabilities)
    if request.reranker in (None, "none"):
        return plan
    cut = request.cut or RERANK
    return replace(
        plan,
        k_rerank=cut,
        reranker=request.reranker,
        reason=f"{plan.reason}; the first {cut} read by the {request.reranker} reranker",
    )


def _routed(request: SearchRequest, signals: Signals, capabilities: Collection[str]) -> Plan:
    if request.route == "auto":
        return _automatic(request, signals, capabilities)
    route = Route(request.route)
    needs = (*_NEEDS[route], *((_GRAPH,) if request.expand else ()))
    for view, capability in needs:
        if capability not in capabilities:
            raise StateError(f"the {view} view is not available", hint=f"codenib index --views {view}")
    expansion = EXPANSIONS.get(route) if route is Route.STRUCTURAL or request.expand else None
    fusion = _fusion(request, signals) if route is Route.HYBRID else ""
    return Plan(
        route, request.k, "it was asked for", expansion=expansion, fusion=fusion, budget=request.budget
    )


def _automatic(request: SearchRequest, signals: Signals, capabilities: Collection[str]) -> Plan:
    """Structural questions go by the graph where it is; all else by words, and by vectors where they are."""
    if _LEXICAL[1] not in capabilities:
        raise StateError("the lexical view is not available", hint="codenib index --views lexical")
    asked = signals.structural
    if asked is not None and _GRAPH[1] in capabilities and request.budget != "fast":
        reason = f"it asks for {asked.verb} of {asked.subject}"
        return Plan(Route.STRUCTURAL, request.k, reason, expansion=ONE_HOP, budget=request.budget)
    if not {_DENSE[1], f"{_DENSE[1]}:instant"} <= set(capabilities):
        if _fusion(request, signals) != "learned":
            return Plan(Route.LEXICAL, request.k, "no other ranked view is there", budget=request.budget)
        reason = "it is an issue's text and no other ranked view is there"
        return Plan(Route.LEXICAL, request.k, reason, fusion="learned", budget=request.budget)
    fusion = _fusion(request, signals)
    kind = "a short question" if signals.is_question else "an issue's text"
    reason = f"it is {kind}"
    return Plan(Route.HYBRID, request.k, reason, fusion=fusion, budget=request.budget)


def _modelled(plan: Plan, request: SearchRequest, signals: Signals, model: DecisionModel | None) -> Plan:
    """The plan as the model chooses it, where the caller leaves the route open and vectors are there."""
    default = action_of(plan)
    asked = (request.route, request.fusion, request.cut) != ("auto", "auto", None)
    if model is None or asked or plan.route is not Route.HYBRID:
        return plan
    from codenib.planner.model import query_features

    choice = model.choose(query_features(signals), router_actions(reads=bool(plan.reranker)), default)
    action = ROUTER_ACTIONS[choice.action]
    return replace(
        plan,
        route=action.route,
        fusion=action.fusion,
        k_rerank=action.cut,
        reranker=plan.reranker if action.cut else None,
        reason=plan.reason if choice.action == default else choice.words,
        model=choice.model,
        decided_by=choice.signals,
    )


def router_actions(*, reads: bool) -> tuple[str, ...]:
    """What a router chooses among, where a reader is named or not."""
    return tuple(name for name, action in ROUTER_ACTIONS.items() if reads or not action.cut)


def action_of(plan: Plan) -> str:
    """How a router's model names what a plan does.

    >>> action_of(Plan(Route.HYBRID, 10, "", fusion="learned")), action_of(Plan(Route.LEXICAL, 10, ""))
    ('hybrid:learned', 'lexical')
    """
    return RouterAction(plan.route, plan.fusion, plan.k_rerank if plan.reranker else 0).name


def _fusion(request: SearchRequest, signals: Signals) -> str:
    if request.fusion != "auto":
        return request.fusion
    return "weighted" if signals.is_question else "learned"


def _by_cost(request: SearchRequest, signals: Signals, capabilities: Collection[str]) -> Iterator[Plan]:
    """The plans that a millisecond budget chooses among, the costliest first."""
    full = _choose(request, signals, capabilities)
    yield full
    if request.route == "auto" and (full.route is not Route.LEXICAL or full.fusion):
        if full.fusion == "learned" and full.route is Route.HYBRID and request.fusion == "auto":
            yield replace(full, fusion="weighted", reason="a learned order costs more")
        yield Plan(Route.LEXICAL, request.k, "all else costs more", budget=request.budget)


def _estimated(plan: Plan, costs: Mapping[str, float]) -> Plan:
    """What a plan costs: the sum of its operators."""
    total = costs["semantic"] if plan.route is Route.SEMANTIC else costs["lexical"]
    if plan.fusion == "learned":
        total = costs["learned"]  # it asks the views itself
    elif plan.route is Route.HYBRID:
        total += costs["semantic"]
    if plan.expansion:
        total += costs["expand"]
    if plan.reranker:
        total += plan.k_rerank * costs.get(f"rerank:{plan.reranker}", costs["rerank"])
    return replace(plan, estimate_ms=round(total, 1))

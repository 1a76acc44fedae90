"""Choose a route for a query: what the caller asks and what the manifest can do in, a Plan out. Pure."""

from __future__ import annotations

from collections.abc import Collection

from codenib.core.answers import Plan, Route
from codenib.core.errors import InputError, StateError

ROUTES = ("auto", *(route.value for route in Route))
_LEXICAL, _DENSE = ("lexical", "ranked:lexical"), ("dense", "ranked:semantic")
_NEEDS = {Route.LEXICAL: (_LEXICAL,), Route.SEMANTIC: (_DENSE,), Route.HYBRID: (_LEXICAL, _DENSE)}


def plan(route: str, capabilities: Collection[str], k: int) -> Plan:
    """Lower a request to the plan that serves it; an explicit route is honoured or refused, never changed.

    >>> plan("auto", {"ranked:lexical"}, 10).reason
    'the only ranked view'
    """
    if route not in ROUTES:
        raise InputError(f"unknown route {route!r}", hint=f"codenib search --route {'|'.join(ROUTES)}")
    if k < 1:
        raise InputError(f"-k must be at least 1, not {k}", hint="codenib search -k 10 QUERY")
    if route == "auto":
        return _choose(capabilities, k)
    chosen = Route(route)
    for view, capability in _NEEDS[chosen]:
        if capability not in capabilities:
            raise StateError(f"the {view} view is not available", hint=f"codenib index --views {view}")
    return Plan(chosen, k, "asked for")


def _choose(capabilities: Collection[str], k: int) -> Plan:
    """Both ranked views when both are fresh and the embedder is at hand, else the lexical one."""
    if "ranked:lexical" not in capabilities:
        raise StateError("the lexical view is not available", hint="codenib index --views lexical")
    if "ranked:semantic:instant" in capabilities:
        return Plan(Route.HYBRID, k, "both ranked views are fresh")
    return Plan(Route.LEXICAL, k, "the only ranked view")

"""Choose a route for a query: what the caller asks and what the manifest can do in, a Plan out. Pure."""

from __future__ import annotations

from collections.abc import Collection

from codenib.core.answers import Plan, Route
from codenib.core.errors import InputError, StateError

ROUTES = ("auto", *(route.value for route in Route))
_VIEWS = {Route.LEXICAL: "lexical", Route.SEMANTIC: "dense"}


def plan(route: str, capabilities: Collection[str], k: int) -> Plan:
    """Lower a request to the plan that serves it; an explicit route is honoured or refused, never changed.

    >>> plan("auto", {"ranked:lexical"}, 10).reason
    'the only ranked view'
    """
    if route not in ROUTES:
        raise InputError(f"unknown route {route!r}", hint=f"codenib search --route {'|'.join(ROUTES)}")
    if k < 1:
        raise InputError(f"-k must be at least 1, not {k}", hint="codenib search -k 10 QUERY")
    chosen = Route.SEMANTIC if route == Route.SEMANTIC else Route.LEXICAL
    if f"ranked:{chosen}" not in capabilities:
        view = _VIEWS[chosen]
        raise StateError(f"the {view} view is not available", hint=f"codenib index --views {view}")
    if route != "auto":
        return Plan(chosen, k, "asked for")
    only = f"ranked:{Route.SEMANTIC}" not in capabilities
    return Plan(chosen, k, "the only ranked view" if only else "the default")

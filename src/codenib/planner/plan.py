"""Choose a route for a query: what the caller asks and what the manifest can do in, a Plan out. Pure."""

from __future__ import annotations

from collections.abc import Collection

from codenib.core.answers import Plan, Route
from codenib.core.errors import InputError, StateError

ROUTES = ("auto", *(route.value for route in Route))


def plan(route: str, capabilities: Collection[str], k: int) -> Plan:
    """Lower a request to the plan that serves it; an explicit route is honoured or refused, never changed.

    >>> plan("auto", {"ranked:lexical"}, 10).reason
    'the only ranked view'
    """
    if route not in ROUTES:
        raise InputError(f"unknown route {route!r}", hint=f"codenib search --route {'|'.join(ROUTES)}")
    if k < 1:
        raise InputError(f"-k must be at least 1, not {k}", hint="codenib search -k 10 QUERY")
    if "ranked:lexical" not in capabilities:
        raise StateError("the lexical view is not available", hint="codenib index --views lexical")
    reason = "the only ranked view" if route == "auto" else "asked for"
    return Plan(Route.LEXICAL, k, reason)

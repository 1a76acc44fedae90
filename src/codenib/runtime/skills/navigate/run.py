"""`definition` and `references`: a name, or a name at a line, in; places with their lines out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from codenib.core.errors import InputError
from codenib.core.requests import CURRENT, PUBLISHED, NavigationRequest, SnapshotRequest
from codenib.core.symbols import NavigationAnswer
from codenib.runtime.tools.ordinary import relative
from codenib.runtime.tools.registry import ToolResult
from codenib.runtime.views import Contexts

# The paper's limits on what a provider returns to an agent.
_DEFINITIONS, _REFERENCES = 8, 40


def definition(contexts: Contexts, arguments: Mapping[str, Any]) -> ToolResult:
    """Where a name is declared."""
    where, name = _asked(contexts, arguments)
    request = NavigationRequest(
        where, name, contexts.navigation, limit=_DEFINITIONS, snapshot=_snapshot(contexts)
    )
    return _shown(contexts, contexts.workspace.navigator.definition(request))


def references(contexts: Contexts, arguments: Mapping[str, Any]) -> ToolResult:
    """Where a name is used, its declaration included."""
    where, name = _asked(contexts, arguments)
    request = NavigationRequest(
        where, name, contexts.navigation, limit=_REFERENCES, snapshot=_snapshot(contexts)
    )
    return _shown(contexts, contexts.workspace.navigator.references(request))


def _snapshot(contexts: Contexts) -> SnapshotRequest:
    """The graph must be the snapshot's own; a live server is asked whether there is one or not."""
    return PUBLISHED if contexts.navigation == "static" else CURRENT


def _asked(contexts: Contexts, arguments: Mapping[str, Any]) -> tuple[str, str]:
    path, line = arguments.get("path"), arguments.get("line")
    if path is None and line is None:
        return arguments["symbol"], ""
    if path is None or line is None:
        raise InputError("a place needs both a path and a line", hint="give path and line, or neither")
    return f"{relative(contexts, path)}:{line}", arguments["symbol"]


def _shown(contexts: Contexts, answer: NavigationAnswer) -> ToolResult:
    lines = contexts.workspace.lines(answer)
    rows = [
        f"{place.path}:{place.line}: {line.strip()}"
        for place, line in zip(answer.locations, lines, strict=True)
    ]
    more = answer.total - len(answer.locations)
    if more:
        rows.append(f"[{more} more]")
    if answer.outside:
        rows.append(f"[{answer.outside} outside the repository]")
    text = "\n".join(rows) or "No place is known."
    return ToolResult(text, f"{answer.provider} {answer.backend}", answer.total, more > 0)

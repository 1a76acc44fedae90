"""`dependencies` and `route`: symbols in, their neighbourhood or the chain between them out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from codenib.core.requests import PUBLISHED, NeighboursRequest
from codenib.core.symbols import GraphAnswer
from codenib.runtime.tools.registry import ToolResult
from codenib.runtime.views import Contexts

_SYMBOLS = 40


def dependencies(contexts: Contexts, arguments: Mapping[str, Any]) -> ToolResult:
    """Neighbours with their places and distance."""
    request = NeighboursRequest(
        arguments["symbol"],
        arguments.get("which", "dependencies"),
        depth=arguments.get("depth", 1),
        k=_SYMBOLS,
        snapshot=PUBLISHED,
    )
    answer = contexts.workspace.navigator.neighbours(request)
    return _shown(answer, f"{answer.asked} has none.")


def route(contexts: Contexts, arguments: Mapping[str, Any]) -> ToolResult:
    """The symbols of a chain, in order."""
    answer = contexts.workspace.navigator.path(arguments["start"], arguments["goal"], PUBLISHED)
    return _shown(answer, "No chain of uses leads from one to the other.")


def _shown(answer: GraphAnswer, nothing: str) -> ToolResult:
    rows = [
        f"{'  ' * symbol.depth}{symbol.path}:{symbol.line} {symbol.qualified} ({symbol.kind})"
        for symbol in answer.symbols
    ]
    if answer.truncated:
        rows.append(f"[{answer.total} in all]")
    text = "\n".join(rows) if len(rows) > 1 else nothing
    backends = ", ".join(f"{group} {backend}" for group, backend in sorted(answer.backends.items()))
    return ToolResult(text, f"static {backends}".strip(), answer.total, answer.truncated)

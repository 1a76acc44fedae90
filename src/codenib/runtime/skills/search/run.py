"""`search`: words in, ranked units with their first lines out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from codenib.core.requests import PUBLISHED, SearchRequest
from codenib.runtime.tools.registry import ToolResult
from codenib.runtime.views import Contexts

_LINES = 3


def search(contexts: Contexts, arguments: Mapping[str, Any]) -> ToolResult:
    """Each unit as its place, its name and how it begins."""
    request = SearchRequest(
        arguments["query"], k=arguments.get("k", 10), paths=arguments.get("paths", ()), snapshot=PUBLISHED
    )
    answer = contexts.workspace.searcher.search(request)
    texts = contexts.workspace.texts(answer.items, at_snapshot=answer.snapshot.id)
    rows = []
    for item, text in zip(answer.items, texts, strict=True):
        first = [line for line in text.split("\n") if line.strip()][:_LINES]
        head = f"{item.path}:{item.start_line}-{item.end_line} {item.symbol or item.kind}"
        rows.append("\n".join([head, *(f"    {line}" for line in first)]))
    text = "\n".join(rows) or "Nothing matches."
    return ToolResult(text, answer.plan.route, answer.total, answer.truncated)

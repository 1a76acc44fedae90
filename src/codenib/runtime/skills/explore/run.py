"""`explore`: a question in, a token-bounded pack of evidence out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from codenib.runtime.tools.registry import ToolResult
from codenib.runtime.views import Contexts


def explore(contexts: Contexts, arguments: Mapping[str, Any]) -> ToolResult:
    """The pack as every adapter prints it."""
    pack = contexts.workspace.explore(
        arguments["query"], max_tokens=arguments.get("max_tokens", 4000), refresh="never"
    )
    return ToolResult(pack.text, pack.plan.route, pack.total, pack.omitted > 0)

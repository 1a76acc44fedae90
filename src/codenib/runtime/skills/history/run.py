"""`history`: a file or lines of it in, the commits that changed them out."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from codenib.runtime.tools.ordinary import relative
from codenib.runtime.tools.registry import ToolResult
from codenib.runtime.views import Contexts


def history(contexts: Contexts, arguments: Mapping[str, Any]) -> ToolResult:
    """A line for each commit, newest first."""
    answer = contexts.workspace.history(
        relative(contexts, arguments["path"]),
        arguments.get("start_line"),
        arguments.get("end_line"),
        k=arguments.get("k", 10),
        refresh="never",
    )
    rows = [
        f"{touch.commit[:10]} {datetime.fromtimestamp(touch.committed, UTC):%Y-%m-%d} {touch.subject}"
        for touch in answer.items
    ]
    if answer.truncated:
        rows.append(f"[{answer.total} commits in all]")
    if answer.note:
        rows.append(f"[{answer.note}]")
    return ToolResult("\n".join(rows) or "No commit is known.", "history", answer.total, answer.truncated)

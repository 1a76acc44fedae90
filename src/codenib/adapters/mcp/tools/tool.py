"""What a tool is: what a model is told of it, its parameters and the function that answers a call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from codenib.adapters.mcp.sent_lines import SentLines
from codenib.adapters.mcp.server_context import ServerContext
from codenib.adapters.mcp.tools.arguments import Parameter, schema_of
from codenib.adapters.mcp.tools.replies import FACTS_SHARE, ToolReply
from codenib.core.views import ViewKind
from codenib.serving.workspace import Workspace

#: With whom a call takes turns: those that search by a pattern of the client, or all others.
Lane = Literal["calls", "scans"]


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call: its checked arguments, and the workspace that it may use."""

    context: ServerContext
    workspace: Workspace
    arguments: dict[str, Any]
    sent: SentLines | None = None  # what this client has; None where clients are not told apart
    cheaper: bool = False  # whether the server is too busy for the plan that it would make
    structured: bool = False  # whether the facts take a share of the tokens

    def __getitem__(self, name: str) -> Any:
        return self.arguments[name]

    def text_tokens(self, head: int) -> int:
        """How many tokens a text may have that is made to measure, below a head of so many."""
        share = 1.0 - FACTS_SHARE if self.structured else 1.0
        return max(int(self["max_tokens"] * share) - head, 1)


@dataclass(frozen=True, slots=True)
class McpTool:
    """A tool: what a model is told of it, and what it does.

    `waits` says that it needs the first index; `navigates` that it may ask a language server; `needs` names
    the view without which it is an error. `scans` says whether a call with these arguments searches by a
    pattern of the client, which may take all of its time limit; `ranks`, whether it has a cheaper plan.
    """

    name: str
    about: str
    parameters: tuple[Parameter, ...]
    run: Callable[[Call], ToolReply]
    waits: bool = True
    navigates: bool = False
    needs: ViewKind | None = None
    scans: Callable[[Mapping[str, Any]], bool] = lambda arguments: False
    ranks: Callable[[Mapping[str, Any]], bool] = lambda arguments: False

    def lane(self, arguments: Mapping[str, Any]) -> Lane:
        """With which other calls a call takes turns."""
        return "scans" if self.scans(arguments) else "calls"

    @property
    def schema(self) -> dict[str, Any]:
        return schema_of(self.parameters)

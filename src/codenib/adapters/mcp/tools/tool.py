"""What a tool is: what a model is told of it, its parameters and the function that answers a call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from codenib.adapters.mcp.server_context import ServerContext
from codenib.adapters.mcp.tools.arguments import Parameter, schema_of
from codenib.adapters.mcp.tools.replies import ToolReply
from codenib.core.views import ViewKind
from codenib.serving.workspace import Workspace

#: What a call uses, and so with whom it takes turns: files alone, the views, what resolves names, a scan.
Lane = Literal["files", "views", "names", "scan"]


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call: its checked arguments, and the workspace that it may use."""

    context: ServerContext
    workspace: Workspace
    arguments: dict[str, Any]

    def __getitem__(self, name: str) -> Any:
        return self.arguments[name]


@dataclass(frozen=True, slots=True)
class McpTool:
    """A tool: what a model is told of it, and what it does.

    `waits` says that it needs the first index; `navigates` that it may ask a language server; `needs` names
    the view without which it is an error. `scans` says whether a call with these arguments searches by a
    pattern of the client, which may take all of its time limit.
    """

    name: str
    about: str
    parameters: tuple[Parameter, ...]
    run: Callable[[Call], ToolReply]
    waits: bool = True
    navigates: bool = False
    needs: ViewKind | None = None
    scans: Callable[[Mapping[str, Any]], bool] = lambda arguments: False

    def lane(self, arguments: Mapping[str, Any]) -> Lane:
        """With which other calls a call takes turns."""
        if self.scans(arguments):
            return "scan"
        return "names" if self.navigates else "views" if self.waits else "files"

    @property
    def schema(self) -> dict[str, Any]:
        return schema_of(self.parameters)

"""MCP clients in; where each keeps its servers, and what ours looks like there, out."""

from __future__ import annotations

import json
import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from codenib.core.errors import InputError

Scope = Literal["user", "project"]
SERVER = "codenib"
_HERE = ("mcp",)
_FOLDER = ("mcp", "-C", "${workspaceFolder}")


@dataclass(frozen=True, slots=True)
class McpClient:
    """A client: its files by scope, the key of its servers, and how it writes one.

    `folder` says that it does not start servers in the project's folder but fills in its path.
    """

    name: str
    user: str
    project: str = ""
    key: str = "mcpServers"
    form: Literal["json", "toml"] = "json"
    folder: bool = False
    typed: bool = False
    listed: bool = False  # the command and its arguments are one list

    def file(self, scope: Scope, root: Path) -> Path:
        """The configuration file."""
        if scope == "project":
            if not self.project:
                what = f"{self.name} has no configuration per project"
                raise InputError(what, hint=f"codenib install --client {self.name}")
            return root / self.project
        return Path(_code_folder(self.user)).expanduser()

    @property
    def is_here(self) -> bool:
        """Whether the client has a configuration on this machine."""
        file = self.file("user", Path())
        # Claude Code's file is in the home folder itself, which is always there.
        return file.exists() if self.name == "claude-code" else file.parent.is_dir()

    def entry(self, command: str, more: tuple[str, ...]) -> dict[str, Any]:
        """Our server, as this client writes it."""
        arguments = [*(_FOLDER if self.folder else _HERE), *more]
        if self.listed:
            return {"type": "local", "command": [command, *arguments], "enabled": True}
        typed = {"type": "stdio"} if self.typed else {}
        return {**typed, "command": command, "args": arguments}

    def toml(self, command: str, more: tuple[str, ...]) -> str:
        """The same as a table."""
        rows = [f"{name} = {json.dumps(value)}" for name, value in self.entry(command, more).items()]
        return "\n".join([f"[{self.key}.{SERVER}]", *rows, ""])


CLIENTS = {
    client.name: client
    for client in (
        McpClient("claude-code", "~/.claude.json", ".mcp.json", typed=True),
        McpClient("codex", "~/.codex/config.toml", ".codex/config.toml", "mcp_servers", "toml"),
        McpClient("cursor", "~/.cursor/mcp.json", ".cursor/mcp.json", folder=True),
        McpClient("vscode", "CODE/User/mcp.json", ".vscode/mcp.json", "servers", folder=True, typed=True),
        McpClient("gemini", "~/.gemini/settings.json", ".gemini/settings.json"),
        McpClient("windsurf", "~/.codeium/windsurf/mcp_config.json"),
        McpClient("opencode", "~/.config/opencode/opencode.json", "opencode.json", "mcp", listed=True),
    )
}


def command_for(scope: Scope) -> str:
    """How a client starts us: by name in a file that others share, by path in one's own.

    Clients with a window often have another PATH than the terminal has.
    """
    if scope == "project":
        return "codenib"
    beside = Path(sys.executable).parent / "codenib"
    return str(beside) if beside.exists() else shutil.which("codenib") or "codenib"


def _code_folder(path: str) -> str:
    """VS Code's folder, which depends on the system."""
    if not path.startswith("CODE"):
        return path
    if sys.platform == "darwin":
        base = "~/Library/Application Support/Code"
    else:
        base = os.environ.get("XDG_CONFIG_HOME", "~/.config") + "/Code"
    return path.replace("CODE", base, 1)

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
class ServerEntry:
    """How our server is started: its command, further arguments, where its state is, and for whom.

    `home` is empty where the default one is meant. `folder` is the repository for clients that name none.
    """

    command: str
    more: tuple[str, ...] = ()
    home: str = ""
    folder: str = ""

    @classmethod
    def of(cls, scope: Scope, repository: Path, more: tuple[str, ...]) -> ServerEntry:
        """As an entry of this scope needs it. A file that others share has nothing of this machine."""
        if scope == "project":
            return cls("codenib", more)
        home = os.environ.get("CODENIB_HOME", "")
        return cls(
            _own_command(), more, str(Path(home).absolute()) if home else "", str(repository.resolve())
        )


@dataclass(frozen=True, slots=True)
class McpClient:
    """A client: its files by scope, the key of its servers, and how it writes one.

    `folder` says that it does not start servers in the project's folder but fills in its path; `nowhere` that
    it does neither, so that the entry names one repository.
    """

    name: str
    user: str
    project: str = ""
    key: str = "mcpServers"
    form: Literal["json", "toml"] = "json"
    folder: bool = False
    nowhere: bool = False
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

    def entry(self, launch: ServerEntry) -> dict[str, Any]:
        """Our server, as this client writes it."""
        here = ("mcp", "-C", launch.folder) if self.nowhere and launch.folder else _HERE
        arguments = [*(_FOLDER if self.folder else here), *launch.more]
        variables = {"CODENIB_HOME": launch.home} if launch.home else {}
        if self.listed:
            entry = {"type": "local", "command": [launch.command, *arguments], "enabled": True}
            return entry | ({"environment": variables} if variables else {})
        typed = {"type": "stdio"} if self.typed else {}
        entry = {**typed, "command": launch.command, "args": arguments}
        return entry | ({"env": variables} if variables else {})

    def toml(self, launch: ServerEntry) -> str:
        """The same as a table."""
        rows = [f"{name} = {_toml_value(value)}" for name, value in self.entry(launch).items()]
        return "\n".join([f"[{self.key}.{SERVER}]", *rows, ""])


CLIENTS = {
    client.name: client
    for client in (
        McpClient("claude-code", "~/.claude.json", ".mcp.json", typed=True),
        McpClient("codex", "~/.codex/config.toml", ".codex/config.toml", "mcp_servers", "toml"),
        McpClient("cursor", "~/.cursor/mcp.json", ".cursor/mcp.json", folder=True),
        McpClient("vscode", "CODE/User/mcp.json", ".vscode/mcp.json", "servers", folder=True, typed=True),
        McpClient("gemini", "~/.gemini/settings.json", ".gemini/settings.json"),
        McpClient("windsurf", "~/.codeium/windsurf/mcp_config.json", nowhere=True),
        McpClient("opencode", "~/.config/opencode/opencode.json", "opencode.json", "mcp", listed=True),
    )
}


def _toml_value(value: Any) -> str:
    """A text, a list of texts or a table of them, on one line."""
    if not isinstance(value, dict):
        return json.dumps(value)
    return f"{{ {', '.join(f'{name} = {json.dumps(each)}' for name, each in value.items())} }}"


def _own_command() -> str:
    """Us by path: clients with a window often have another PATH than the terminal has."""
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

"""Real clients of a real server process, for tests: the SDK's, and a bare one that sends what it is told."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import anyio
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp_types import CallToolResult, ResourceLink, TextContent

#: What the SDK's client does not hand on by itself.
_PASSED = ("CODENIB_HOME", "CODENIB_TOOLBOX", "PATH", "HOME")


def command(*args: str) -> list[str]:
    """The command line in this interpreter."""
    return [sys.executable, "-m", "codenib", *args]


def environment() -> dict[str, str]:
    return {name: os.environ[name] for name in os.environ if name in _PASSED or name.startswith("GIT_")}


@asynccontextmanager
async def connected(root: Path, *args: str, mode: str = "auto") -> AsyncIterator[Client]:
    """The SDK's client of `codenib mcp` over pipes."""
    words = command("mcp", "-C", str(root), *args)
    parameters = StdioServerParameters(command=words[0], args=words[1:], env=environment())
    with open(os.devnull, "w") as log:  # noqa: PTH123
        async with Client(stdio_client(parameters, errlog=log), mode=mode) as client:
            yield client


def talk(
    root: Path, ask: Callable[[Client], Awaitable[None]], *args: str, mode: str = "auto", limit_s: float = 60
) -> None:
    """Run `ask` with a connected client."""

    async def main() -> None:
        with anyio.fail_after(limit_s):
            async with connected(root, *args, mode=mode) as client:
                await ask(client)

    anyio.run(main)


def within(
    root: Path, ask: Callable[[Client], Awaitable[None]], *, all_tools: bool = False, mode: str = "auto"
) -> None:
    """Run `ask` with a client of a server in this process, on a repository that is indexed."""
    from codenib.adapters.mcp.server import build_server
    from codenib.adapters.mcp.server_context import ServerContext
    from codenib.serving.workspace import Workspace

    with Workspace(root) as workspace:
        workspace.index()
    context = ServerContext(root)

    async def main() -> None:
        with anyio.fail_after(60):
            context.start()
            async with Client(build_server(context, all_tools=all_tools), mode=mode) as client:
                await ask(client)

    try:
        anyio.run(main)
    finally:
        context.close()


def text_of(result: CallToolResult) -> str:
    assert isinstance(result.content[0], TextContent)
    assert all(isinstance(each, ResourceLink) for each in result.content[1:])
    return result.content[0].text


def facts_of(result: CallToolResult) -> dict[str, Any]:
    """The facts of a reply, wherever they are."""
    if result.structured_content is not None:
        return dict(result.structured_content)
    assert result.meta is not None
    return dict(result.meta["codenib/reply"])


class Bare:
    """A client that writes lines and reads lines."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process

    def send(self, message: bytes | dict[str, Any]) -> None:
        assert self.process.stdin is not None
        data = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.process.stdin.write(data + b"\n")
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, "the server is gone"
        return dict(json.loads(line))

    def ask(self, method: str, params: dict[str, Any] | None = None, number: int = 1) -> dict[str, Any]:
        message: dict[str, Any] = {"jsonrpc": "2.0", "id": number, "method": method}
        self.send(message if params is None else {**message, "params": params})
        while (answer := self.receive()).get("id") != number:
            pass
        return answer

    def begin(self, version: str = "2025-11-25") -> dict[str, Any]:
        info = {"name": "bare", "version": "1"}
        params = {"protocolVersion": version, "capabilities": {}, "clientInfo": info}
        answer = self.ask("initialize", params, number=0)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer


@contextmanager
def bare(root: Path, *args: str) -> Iterator[Bare]:
    """A bare client of `codenib mcp`."""
    with subprocess.Popen(
        command("mcp", "-C", str(root), *args),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment(),
    ) as process:
        try:
            yield Bare(process)
        finally:
            assert process.stdin is not None
            process.stdin.close()
            process.wait(20)

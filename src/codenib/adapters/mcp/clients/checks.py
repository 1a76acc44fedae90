"""The installation in, checks of the way from a client to an answer out: for `codenib doctor`."""

from __future__ import annotations

import shutil
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal

import msgspec

from codenib.adapters.mcp.clients.configure import has_server
from codenib.adapters.mcp.clients.known import CLIENTS, SERVER, McpClient
from codenib.core.errors import UNDECODABLE, CodenibError, InputError
from codenib.serving.doctor import Check
from codenib.serving.place import check_place

_HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "doctor", "version": "1"},
    },
}
_LIST = {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}}
_READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}
_PING = {"jsonrpc": "2.0", "id": 3, "method": "ping"}


def examine_mcp(repository: str) -> list[Check]:
    """Whether the server starts and answers here, and which clients are set up."""
    return [_server(repository), *(_client(client) for client in CLIENTS.values() if client.is_here)]


def _server(repository: str) -> Check:
    """Start the server as a client would, and ask for its tools; the last question is the SDK's to answer."""
    try:
        sdk = f"mcp {version('mcp')}"
    except PackageNotFoundError:
        return Check("mcp", "broken", "the package mcp is missing", "pip install mcp")
    try:
        check_place(repository, named=True)
    except InputError as error:
        state: Literal["missing", "broken"] = "missing" if Path(repository).is_dir() else "broken"
        return Check(
            "mcp", state, f"the server was not started: {error.message}", "codenib -C PROJECT doctor"
        )
    lines = b"".join(msgspec.json.encode(each) + b"\n" for each in (_HELLO, _READY, _LIST, _PING))
    with subprocess.Popen(
        [sys.executable, "-P", "-m", "codenib", "-C", repository, "mcp"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        assert child.stderr is not None
        try:
            child.stdin.write(lines)
            child.stdin.flush()
            answers = [msgspec.json.decode(child.stdout.readline(), type=_Answer) for _ in range(3)]
        except (OSError, *UNDECODABLE):
            said = child.stderr.read().decode("utf-8", "replace").strip() or "it ended without an answer"
            return Check("mcp", "broken", f"the server does not answer: {said[:200]}", "codenib mcp")
        child.stdin.close()
    return Check("mcp", "ok", f"{sdk}; the server answers with {len(answers[1].result.tools)} tools")


class _Result(msgspec.Struct):
    tools: list[dict[str, object]] = []


class _Answer(msgspec.Struct):
    id: int
    result: _Result


def _client(client: McpClient) -> Check:
    """Whether a client that is on this machine knows us, and can start us."""
    name, file = f"mcp {client.name}", client.file("user", Path())
    install = f"codenib install --client {client.name}"
    try:
        text = file.read_text(encoding="utf-8") if file.exists() else ""
        known = has_server(text, client)
    except (CodenibError, OSError, UnicodeDecodeError) as error:
        return Check(name, "missing", f"{file} cannot be read: {error}", f"{install} --print")
    if not known:
        return Check(name, "missing", f"optional: {file} has no {SERVER}", install)
    commands = [Path(sys.executable).parent / "codenib", shutil.which("codenib")]
    started = [str(command) for command in commands if command and str(command) in text] or (
        ["codenib"] if shutil.which("codenib") else []
    )
    if not started:
        again = f"codenib uninstall --client {client.name} && {install}"
        return Check(name, "missing", f"{file} starts another codenib than this one", again)
    return Check(name, "ok", f"{file} starts {started[0]}")

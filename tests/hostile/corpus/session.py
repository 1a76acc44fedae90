"""A repository in, what an MCP session about it answered out: a real `codenib mcp`, by lines of JSON."""

from __future__ import annotations

import json
import select
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

Call = tuple[str, dict[str, Any]]
_FIRST = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "corpus", "version": "1"},
}


def hold_session(
    folder: Path, environment: Mapping[str, str], calls: Sequence[Call], limit_s: float
) -> list[dict[str, Any]]:
    """Each call with its seconds and reply; a call that takes longer than `limit_s` is the last."""
    command = [sys.executable, "-P", "-m", "codenib", "-C", str(folder), "mcp", "--tools", "all"]
    with subprocess.Popen(
        command, cwd=folder, env=dict(environment), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, bufsize=0,
    ) as server:  # fmt: skip
        assert server.stdin is not None and server.stdout is not None
        try:
            answers = list(_converse(server.stdin, server.stdout, calls, limit_s))
            _, err = server.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            server.kill()
            err = b"the server did not end with its input"
        answers.append({"question": ["mcp", "stderr"], "seconds": 0.0, "out": "", "code": 0,
                        "err": err.decode(errors="replace"), "terminal": False})  # fmt: skip
        return answers


def _converse(stdin: IO[bytes], stdout: IO[bytes], calls: Sequence[Call], limit_s: float) -> Any:
    requests: list[tuple[str, dict[str, Any]]] = [("initialize", _FIRST), ("tools/list", {})]
    requests += [("tools/call", {"name": name, "arguments": arguments}) for name, arguments in calls]
    for number, (method, params) in enumerate(requests):
        started = time.monotonic()
        row = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        stdin.write(json.dumps(row).encode() + b"\n")
        if method == "initialize":
            stdin.write(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
        stdin.flush()
        reply = _reply(stdout, number, started + limit_s)
        answer = {
            "question": ["mcp", method, *map(str, params.values())],
            "code": 0 if reply else 1,
            "err": "",
        }
        yield {**answer, "seconds": time.monotonic() - started, "out": reply, "terminal": False}
        if not reply:
            return


def _reply(stdout: IO[bytes], number: int, deadline: float) -> str:
    """The line that answers request `number`; empty when it does not come in time."""
    while (left := deadline - time.monotonic()) > 0 and select.select([stdout], [], [], left)[0]:
        line = stdout.readline()
        if not line:
            return ""
        if json.loads(line).get("id") == number:
            return line.decode()
    return ""

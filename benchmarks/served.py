"""A repository in, a running `codenib serve` out: tokens, connections, and what it uses of the machine."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from codenib.adapters.mcp.transport.tokens import AccessTokens
from codenib.fleet.tenants.grant import Grant

ALL = Grant(repositories=("*",))
_HEADERS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back: the status, the JSON-RPC answer or the refusal, and how long it took."""

    status: int
    body: dict[str, Any]
    seconds: float
    retry_after: str | None = None

    @property
    def text(self) -> str:
        """The text of a tool's reply, or what went wrong."""
        result = self.body.get("result")
        return result["content"][0]["text"] if result and "content" in result else json.dumps(self.body)

    @property
    def facts(self) -> dict[str, Any]:
        found: dict[str, Any] = self.body.get("result", {}).get("_meta", {}).get("codenib/reply", {})
        return found

    @property
    def answered(self) -> bool:
        """Whether it is an answer, and no error or refusal."""
        return self.status == 200 and "result" in self.body and not self.body["result"].get("isError")


class Connection:
    """One client: a connection that stays open, and a token."""

    def __init__(self, port: int, token: str, timeout_s: float = 180.0) -> None:
        self._http = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout_s)
        self._headers = {**_HEADERS, "Authorization": f"Bearer {token}"}

    def ask(self, method: str, params: dict[str, Any] | None = None) -> Reply:
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}})
        return self.post(body.encode())

    def call(self, tool: str, arguments: dict[str, Any]) -> Reply:
        return self.ask("tools/call", {"name": tool, "arguments": arguments})

    def post(self, body: bytes) -> Reply:
        """Send these very bytes; once more where the server had closed the idle connection."""
        started = time.perf_counter()
        try:
            self._http.request("POST", "/mcp", body, self._headers)
            answer = self._http.getresponse()
        except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
            self._http.close()
            self._http.request("POST", "/mcp", body, self._headers)
            answer = self._http.getresponse()
        data = answer.read()
        seconds = time.perf_counter() - started
        return Reply(answer.status, _decoded(data), seconds, answer.getheader("Retry-After"))

    def close(self) -> None:
        self._http.close()


def _decoded(data: bytes) -> dict[str, Any]:
    """The answer of a JSON body, or the last event of a stream."""
    for line in reversed(data.split(b"\n")):
        if line.startswith(b"data:"):
            data = line[5:]
            break
    try:
        found = json.loads(data)
    except ValueError:
        return {"undecodable": data[:200].decode("utf-8", "replace")}
    return found if isinstance(found, dict) else {"list": found}


@dataclass
class Served:
    """A server process that listens, and the tokens that it knows."""

    process: subprocess.Popen[str]
    port: int
    tokens: list[str] = field(default_factory=list)

    def connect(self, client: int, timeout_s: float = 180.0) -> Connection:
        return Connection(self.port, self.tokens[client % len(self.tokens)], timeout_s)

    def resident_mb(self) -> tuple[float, float]:
        """Memory of the server alone: all that is resident, and the part that is not a mapped file."""
        rows = dict(
            line.split(":", 1)
            for line in Path(f"/proc/{self.process.pid}/status").read_text().split("\n")
            if ":" in line
        )
        return int(rows["VmRSS"].split()[0]) / 1024, int(rows["RssAnon"].split()[0]) / 1024

    def descriptors(self) -> int:
        return len(list(Path(f"/proc/{self.process.pid}/fd").iterdir()))

    def threads(self) -> int:
        return len(list(Path(f"/proc/{self.process.pid}/task").iterdir()))

    def cpu_s(self) -> float:
        """Processor time of the server so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def serving(root: Path, clients: int, *options: str, grants: Sequence[Grant] = (ALL,)) -> Iterator[Served]:
    """Index `root` if needed, make a token a client, and serve until the end of the block.

    Clients have the `grants` in turn.
    """
    known = AccessTokens()
    tokens = [
        known.create(f"benchmark {os.getpid()}-{number}", grant=grants[number % len(grants)])
        for number in range(clients)
    ]
    command = [sys.executable, "-P", "-m", "codenib", "-C", str(root), "serve", "--http", "127.0.0.1:0"]
    process = subprocess.Popen(
        [*command, *options], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        assert process.stdout is not None
        address = process.stdout.readline().split()[0]
        served = Served(process, int(address.split(":")[2].split("/")[0]), [text for _, text in tokens])
        for client in range(len(grants)):
            _await_ready(served, client)
        yield served
    finally:
        process.terminate()
        process.wait(30)
        for row, _ in tokens:
            known.revoke(row.id)


def _await_ready(served: Served, number: int) -> None:
    client = served.connect(number)
    while not client.call("search", {"query": "ready", "k": 1}).answered:
        time.sleep(0.2)
    client.close()


def percentile(values: list[float], share: float) -> float:
    """
    >>> percentile([3.0, 1.0, 2.0], 0.5), percentile([], 0.5)
    (2.0, 0.0)
    """
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else 0.0

"""`codenib serve` over real sockets: the SDK's client, and 300 requests that must not get far."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from tests.adapters.mcp.clients import text_of
from tests.gitrepo import GitRepo

from codenib.adapters.mcp.server_context import ServerContext, names_of
from codenib.adapters.mcp.transport.guard import Limits
from codenib.adapters.mcp.transport.http import HttpServer, Settings
from codenib.adapters.mcp.transport.listener import parse_address
from codenib.adapters.mcp.transport.tokens import AccessTokens
from codenib.adapters.ui.access import PageAccess
from codenib.adapters.ui.app import Pages
from codenib.core.errors import InputError
from codenib.serving.workspace import Workspace

GENEROUS = Limits(requests_per_s=10_000, burst=10_000, refused_per_s=10_000, refused_burst=10_000)


@dataclass
class Running:
    """A server in a thread, and a token for it."""

    port: int
    token: str

    def url(self, path: str = "/mcp") -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    def headers(self, token: str | None = None) -> dict[str, str]:
        return {
            "Authorization": f"Bearer {token or self.token}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }

    def post(self, body: bytes, path: str = "/mcp", **headers: str) -> tuple[int, bytes]:
        """One request; the status and the body of its answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            connection.request("POST", path, body, {**self.headers(), **headers})
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def call(self, tool: str, arguments: dict[str, Any]) -> str:
        """The text that a tool call gives, without the SDK."""
        params = {"name": tool, "arguments": arguments}
        status, body = self.post(request("tools/call", params))
        assert status == 200, body
        return body.decode()

    def raw(self, data: bytes) -> bytes:
        """What comes back for these very bytes."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=20) as client:
            client.sendall(data)
            client.shutdown(socket.SHUT_WR)
            found = b""
            while part := client.recv(65536):
                found += part
            return found


def request(method: str, params: dict[str, Any] | None = None) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}}).encode()


@contextmanager
def running(
    *roots: Path, limits: Limits = GENEROUS, auth: bool = True, pages: bool = False, **more: Any
) -> Iterator[Running]:
    for root in roots:
        with Workspace(root) as workspace:
            workspace.index()
    tokens = AccessTokens()
    _, text = tokens.create("all", ["*"])
    contexts = [ServerContext(root) for root in roots]
    shown = Pages(names_of(contexts), PageAccess(tokens)) if pages else None
    server = HttpServer(contexts, tokens if auth else None, Settings(limits=limits, **more), shown)
    _, port = server.bind()
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        yield Running(port, text)
    finally:
        server.stop()
        thread.join(20)
        assert not thread.is_alive()


@pytest.fixture
def secretive(shop: GitRepo, tmp_path: Path) -> GitRepo:
    """A repository with a secrets file, and links that lead out of it."""
    (tmp_path / "outside.txt").write_text("TOP-SECRET outside")
    shop.write(".env", "TOP-SECRET=1")
    shop.write("keys/id_rsa", "TOP-SECRET key")
    (shop.path / "link.txt").symlink_to(tmp_path / "outside.txt")
    (shop.path / "up").symlink_to(tmp_path)
    shop.commit()
    return shop


def test_the_sdk_client_talks_over_a_socket(shop: GitRepo) -> None:
    with running(shop.path) as server:

        async def main(mode: str) -> None:
            async with httpx2.AsyncClient(headers=server.headers(), timeout=30) as transport:
                stream = streamable_http_client(server.url(), http_client=transport)
                async with Client(stream, mode=mode) as client:
                    assert len((await client.list_tools()).tools) == 9
                    found = await client.call_tool("definition", {"name": "convert"})
                    assert "shop/currency.py:6" in text_of(found)

        anyio.run(main, "2026-07-28")
        anyio.run(main, "legacy")


def test_a_token_is_for_its_repositories_alone_and_dies_when_revoked(
    shop: GitRepo, git_repo: Callable[..., GitRepo]
) -> None:
    other = git_repo("other")
    other.commit({"a.py": "def other():\n    pass\n"})
    with running(shop.path, other.path) as server:
        row, text = AccessTokens().create("one", [str(shop.path.resolve())])
        asked = request("tools/call", {"name": "read", "arguments": {"path": "a.py"}})
        bearer = {"Authorization": f"Bearer {text}"}
        assert server.post(asked, "/other/mcp")[0] == 200
        status, body = server.post(asked, "/other/mcp", **bearer)
        assert (status, b"def other" in body) == (404, False)
        assert server.post(request("tools/list"), "/shop/mcp", **bearer)[0] == 200
        assert server.post(asked, "/mcp")[0] == 404  # two repositories: each by its name
        AccessTokens().revoke(row.id)
        assert server.post(request("tools/list"), "/shop/mcp", **bearer)[0] == 401


def test_tokens_are_hashed_at_rest(own_home: Path) -> None:
    row, text = AccessTokens().create("laptop", ["*"])
    file = own_home / "v1" / "tokens.json"
    assert text not in file.read_text()
    assert text.rpartition("_")[2] not in file.read_text()
    assert file.stat().st_mode & 0o077 == 0
    assert AccessTokens().find(text) == row
    assert AccessTokens().find(text + "x") is None
    with pytest.raises(InputError):
        AccessTokens().revoke("nobody")


def test_without_tokens_only_this_machine_is_served(shop: GitRepo) -> None:
    with pytest.raises(InputError, match="tokens are needed"):
        HttpServer([ServerContext(shop.path)], None, Settings(host="0.0.0.0"))
    with running(shop.path, auth=False) as server:
        assert "def convert" in server.call("read", {"path": "shop/currency.py"})


def test_addresses() -> None:
    assert parse_address("0.0.0.0:80") == ("0.0.0.0", 80)
    assert parse_address(":9000") == ("127.0.0.1", 9000)
    for wrong in ("host", "host:port", "host:99999", ""):
        with pytest.raises(InputError):
            parse_address(wrong)


def test_too_many_requests_are_told_to_wait(shop: GitRepo) -> None:
    slow = replace(GENEROUS, requests_per_s=0.01, burst=3)
    with running(shop.path, limits=slow) as server:
        found = [server.post(request("tools/list"))[0] for _ in range(5)]
        assert found == [200, 200, 200, 429, 429]


def test_the_list_of_tools_is_the_sdks_also_where_it_is_answered_sooner(shop: GitRepo) -> None:
    with running(shop.path, all_tools=True) as server:
        soon = json.loads(server.post(request("tools/list"))[1])
        usual = server.post(request("tools/list", {"cursor": None}))[1]
        assert soon == json.loads(usual.partition(b"data: ")[2])


@pytest.mark.parametrize(("limit", "status"), [("in_flight", b"503"), ("in_flight_each", b"429")])
def test_requests_beyond_capacity_are_told_when_to_come_back(
    shop: GitRepo, limit: str, status: bytes
) -> None:
    with running(shop.path, limits=replace(GENEROUS, **{limit: 1})) as server:
        head = f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nConnection: close\r\n"
        head += "".join(f"{name}: {value}\r\n" for name, value in server.headers().items())
        asked = request("tools/list")
        whole = f"{head}Content-Length: {len(asked)}\r\n\r\n".encode() + asked
        with socket.create_connection(("127.0.0.1", server.port), timeout=20) as slow:
            slow.sendall(whole[:-1])  # its last byte is missing: the request is under way
            answer = server.raw(whole)
            while answer.startswith(b"HTTP/1.1 200"):  # the slow one was not read yet
                answer = server.raw(whole)
            assert answer.startswith(b"HTTP/1.1 " + status)
            assert b"retry-after: 1\r\n" in answer.lower()
            slow.sendall(whole[-1:])
            assert slow.recv(65536).startswith(b"HTTP/1.1 200")
        assert any(server.post(asked)[0] == 200 for _ in range(100))


def test_guesses_at_tokens_are_slowed_down(shop: GitRepo) -> None:
    few = replace(GENEROUS, refused_per_s=0.01, refused_burst=3)
    with running(shop.path, limits=few) as server:
        guesses = [server.post(b"{}", Authorization=f"Bearer {n}")[0] for n in range(5)]
        assert guesses == [401, 401, 401, 429, 429]
        assert server.post(request("tools/list"))[0] == 200  # who has a token is not kept out


PATHS = [
    "../outside.txt", "../../../../etc/passwd", "/etc/passwd", "link.txt", "up/outside.txt", ".env",
    "./.env", "keys/id_rsa", "shop/../.env", "shop/../../outside.txt", "%2e%2e/outside.txt", "..\\outside",
    "~/.ssh/id_rsa", "file:///etc/passwd", ".git/config", ".git/HEAD", "\u0000/etc/passwd", "link.txt/",
    "//etc/passwd", "shop/cart.py/../../../outside.txt", "keys", "", ".", "..", "up", "C:\\x", "\u202e.env",
    "/proc/self/environ", "/dev/zero", "a" * 30_000,
]  # fmt: skip


def bodies() -> list[bytes]:
    """Requests that are allowed to be sent and must not be believed: every tool gets every path."""
    found = []
    for path in PATHS:
        for tool in ("read", "definition", "references", "history"):
            name = {"name": "TOP"} if tool in ("definition", "references") else {}
            found.append(request("tools/call", {"name": tool, "arguments": {"path": path, **name}}))
        found.append(request("resources/read", {"uri": path}))
        globs = {"query": "TOP-SECRET", "paths": [path]}
        found.append(request("tools/call", {"name": "search", "arguments": globs}))
        found.append(
            request("tools/call", {"name": "grep", "arguments": {"pattern": "x", "paths": globs["paths"]}})
        )
        found.append(request("tools/call", {"name": "explore", "arguments": globs}))
    return found


MALFORMED = [
    b"", b"{", b"[]", b"null", b'"x"', b"1", b"\xff\xfe\x00", b"[" * 100_000, b'{"a":' * 50_000, b"{}" * 1000,
    b'{"jsonrpc":"1.0","id":1,"method":"tools/list"}', b'{"jsonrpc":"2.0","id":1}',
    b'{"jsonrpc":"2.0","id":{},"method":"tools/list"}', b'{"jsonrpc":"2.0","id":1,"method":5}',
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call"}',
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}',
    request("tools/call", {"name": 5}), request("tools/call", {"name": "x" * 100_000}),
    request("tools/call", {"name": "search", "arguments": []}),
    request("tools/call", {"name": "search", "arguments": {"query": "x" * 500_000}}),
    request("tools/call", {"name": "grep", "arguments": {"pattern": "(a+)+$" + "a" * 5000}}),
    request("tools/call", {"name": "grep", "arguments": {"pattern": "[" * 10_000}}),
    request("tools/call", {"name": "search", "arguments": {"query": "x", "k": 10**400}}),
    request("tools/call", {"name": "search", "arguments": {"query": "x", "k": -1}}),
    request("tools/call", {"name": "search", "arguments": {"query": "x", "paths": ["["] * 99}}),
    request("tools/call", {"name": "read", "arguments": {"path": "shop/cart.py", "start": 10**30}}),
    request("tools/call", {"name": "explore", "arguments": {"query": "x", "max_tokens": 10**9}}),
    request("tools/call", {"name": "status", "arguments": {"__proto__": {}}}),
    request("tools/call", {"name": "search", "arguments": {"query": "\ud800 cart"}}),
    request("tools/call", {"name": "search", "arguments": {f"a{number}": number for number in range(9000)}}),
    b"[" + b",".join([request("tools/list")] * 2000) + b"]", b'{"jsonrpc":"2.0","id":' + b"9" * 90_000 + b"}",
    request("no/such/method"), request("initialize", {"protocolVersion": 5}),
    request("prompts/get", {"name": "x"}),
]  # fmt: skip


def test_hostile_requests_are_answered_and_read_nothing_outside(secretive: GitRepo) -> None:
    """No request reads a secret or a file outside, and after all of them the server answers as before."""
    with running(secretive.path, all_tools=True) as server:
        hostile = [*bodies(), *MALFORMED]
        assert len(hostile) > 250
        for body in hostile:
            status, answer = server.post(body)
            assert status in (200, 202, 400, 413, 404), (status, body[:100])
            assert answer or status == 202
            assert b"TOP-SECRET o" not in answer, body[:200]
            assert b"TOP-SECRET=1" not in answer, body[:200]
            assert b"TOP-SECRET k" not in answer, body[:200]
            assert b"root:x:0" not in answer
            assert b"Traceback" not in answer
        assert "def convert" in server.call("read", {"path": "shop/currency.py"})


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Authorization": ""}, 401),
        ({"Authorization": "Bearer"}, 401),
        ({"Authorization": "Bearer cnb_00000000_x"}, 401),
        ({"Authorization": "Basic YTpi"}, 401),
        ({"Authorization": "Bearer " + "x" * 10_000}, 401),
        ({"Host": "evil.example"}, 421),
        ({"Host": "127.0.0.1.evil.example"}, 421),
        ({"Host": "127.0.0.1"}, 421),
        ({"Host": ""}, 421),
        ({"Host": "localhost:1"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://127.0.0.1.evil.example"}, 403),
        ({"Content-Length": "99999999"}, 413),
        ({"Content-Type": "text/plain"}, 400),
    ],
)
def test_wrong_headers_are_refused(shop: GitRepo, headers: dict[str, str], status: int) -> None:
    with running(shop.path) as server:
        found, body = server.post(request("tools/list"), **headers)
        assert found == status
        assert b"error" in body or b"Invalid" in body
        assert server.post(request("tools/list"))[0] == 200


def test_wrong_paths_methods_and_bytes_are_refused(shop: GitRepo) -> None:
    with running(shop.path) as server:
        for path in (
            "/",
            "/mcp/",
            "/mcp/../mcp",
            "/other/mcp",
            "/shop/mcp/..",
            "/%2e%2e/etc/passwd",
            "//mcp",
        ):
            assert server.post(request("tools/list"), path)[0] == 404
        assert server.post(request("tools/list"), "/shop/mcp")[0] == 200
        ours = f"Host: 127.0.0.1:{server.port}\r\nAuthorization: Bearer {server.token}\r\n".encode()
        for data in (
            b"\r\n\r\n", b"GET\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 20,
            b"POST /mcp HTTP/9.9\r\n\r\n", b"POST /mcp HTTP/1.1\r\nContent-Length: x\r\n\r\n",
            b"GET /mcp HTTP/1.1\r\n" + b"X: y\r\n" * 20_000 + b"\r\n",
        ):  # fmt: skip
            answer = server.raw(data)
            assert answer.startswith(b"HTTP/1.1 4") or not answer
        for method in (b"GET", b"DELETE", b"PUT", b"PATCH", b"TRACE", b"OPTIONS", b"HEAD"):
            answer = server.raw(method + b" /mcp HTTP/1.1\r\n" + ours + b"Connection: close\r\n\r\n")
            assert answer.startswith(b"HTTP/1.1 405")
        assert server.post(request("tools/list"))[0] == 200


def test_bodies_that_are_too_large_or_never_end_are_cut_off(shop: GitRepo) -> None:
    hasty = replace(GENEROUS, body_bytes=10_000, receive_s=0.2, send_s=0.5)
    with running(shop.path, limits=hasty) as server:
        assert server.post(b" " * 10_001)[0] == 413
        head = f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
        head += "".join(f"{name}: {value}\r\n" for name, value in server.headers().items())
        chunked = (
            f"{head}Transfer-Encoding: chunked\r\n\r\n".encode() + (b"2000\r\n" + b" " * 8192 + b"\r\n") * 3
        )
        assert server.raw(chunked).startswith(b"HTTP/1.1 413")
        # Sent whole before anything is read, more than the sockets' buffers hold: the answer is still there.
        assert server.post(b" " * 12_000_000)[0] == 413
        with socket.create_connection(("127.0.0.1", server.port), timeout=20) as client:
            client.sendall(f"{head}Content-Length: 500\r\n\r\n{{".encode())  # and then nothing
            assert client.recv(65536).startswith(b"HTTP/1.1 408")
        assert server.post(request("tools/list"))[0] == 200


def test_slow_readers_and_idle_connections_hold_nobody_up(shop: GitRepo) -> None:
    hasty = replace(GENEROUS, send_s=0.2)
    with running(shop.path, limits=hasty) as server:
        waiting = [socket.create_connection(("127.0.0.1", server.port), timeout=30) for _ in range(50)]
        head = f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
        head += "".join(f"{name}: {value}\r\n" for name, value in server.headers().items())
        body = request(
            "tools/call", {"name": "explore", "arguments": {"query": "cart price", "max_tokens": 90_000}}
        )
        for number, client in enumerate(waiting):
            whole = f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body
            client.sendall(whole if number % 2 else head.encode()[:30])  # asks and never reads, or never asks
        assert "def convert" in server.call("read", {"path": "shop/currency.py"})
        for client in waiting:
            client.close()
        assert "def convert" in server.call("read", {"path": "shop/currency.py"})


def test_connections_that_never_ask_leave_room_for_those_that_do(shop: GitRepo) -> None:
    with running(shop.path) as server:
        idle = []
        try:
            for _ in range(450):  # more than the server takes at once
                idle.append(socket.create_connection(("127.0.0.1", server.port), timeout=20))
                idle[-1].sendall(b"POST /mcp HTTP/1.1\r\nHost: ")
            for _ in range(3):
                assert server.post(request("tools/list"))[0] == 200
        finally:
            for connection in idle:
                connection.close()

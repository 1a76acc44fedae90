"""`codenib mcp` over real pipes, with the SDK's own client and with a bare one."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest
from mcp.client.client import Client
from tests.adapters.mcp.clients import bare, talk, text_of
from tests.gitrepo import GitRepo

DEFAULT = [
    "explore", "search", "grep", "outline", "definition", "references", "impact", "read", "status",
]  # fmt: skip


@pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])
def test_the_current_and_the_previous_protocol_give_the_same_answers(shop: GitRepo, mode: str) -> None:
    async def ask(client: Client) -> None:
        assert client.protocol_version == ("2025-11-25" if mode == "legacy" else mode)
        assert [tool.name for tool in (await client.list_tools()).tools] == DEFAULT
        found = await client.call_tool("search", {"query": "total price", "k": 2})
        assert not found.is_error
        assert "shop/cart.py:7-8 Cart · def total_price(self, currency)" in text_of(found)

    talk(shop.path, ask, mode=mode)


@pytest.mark.parametrize("version", ["2024-11-05", "2025-06-18"])
def test_older_versions_are_agreed_on(shop: GitRepo, version: str) -> None:
    with bare(shop.path) as client:
        assert client.begin(version)["result"]["protocolVersion"] == version
        called = client.ask("tools/call", {"name": "read", "arguments": {"path": "docs/cart.md"}}, 2)
        assert "1 # Cart" in called["result"]["content"][0]["text"]


def test_early_answers_equal_those_of_the_sdk(shop: GitRepo) -> None:
    """What is answered before the SDK is loaded must be what the SDK says, or clients see two servers."""
    from codenib.adapters.mcp.transport.handshake import HANDSHAKE, EarlyAnswers

    info = {"name": "bare", "version": "1"}
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": info,
        "io.modelcontextprotocol/clientCapabilities": {},
    }

    def started(version: str) -> list[dict[str, Any]]:
        asked = {"protocolVersion": version, "capabilities": {}, "clientInfo": info}
        return [
            {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": asked},
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            {"jsonrpc": "2.0", "id": "x", "method": "tools/list"},
        ]

    talks = [started(version) for version in (*HANDSHAKE, "1999-01-01")]
    modern = [("server/discover", 3), ("tools/list", 4)]
    talks.append([{"jsonrpc": "2.0", "id": n, "method": m, "params": {"_meta": meta}} for m, n in modern])
    for messages in talks:
        early = EarlyAnswers(all_tools=True)
        told = [early.answer(json.dumps(message).encode()) for message in messages if "id" in message]
        assert [json.loads(line or b"null") for line in told] == answers_of_the_sdk(shop.path, messages)


def answers_of_the_sdk(root: Path, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What the SDK writes for these messages, one after the other."""
    from mcp.server.stdio import stdio_server

    from codenib.adapters.mcp.server import build_server
    from codenib.adapters.mcp.server_context import ServerContext

    reading, writing = os.pipe()
    back, out = os.pipe()
    found = []

    async def main() -> None:
        server = build_server(ServerContext(root), all_tools=True)
        lines, written = anyio.wrap_file(os.fdopen(reading)), anyio.wrap_file(os.fdopen(out, "w"))
        with os.fdopen(writing, "w") as client, os.fdopen(back) as answers:
            async with stdio_server(lines, written) as (reader, writer), anyio.create_task_group() as group:
                group.start_soon(server.run, reader, writer, server.create_initialization_options())
                for message in messages:
                    client.write(json.dumps(message) + "\n")
                    client.flush()
                    if "id" in message:
                        found.append(json.loads(await anyio.to_thread.run_sync(answers.readline)))
                client.close()
            await lines.aclose()
            await written.aclose()

    anyio.run(main)
    return found


def test_while_it_indexes_the_server_answers_and_reports_progress(shop: GitRepo) -> None:
    """A held writer lock stands for a long index."""
    from codenib.manifest.store import Store
    from codenib.snapshot.repository import locate

    told: list[float] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        assert message
        assert total is None or total >= progress
        told.append(progress)
        held.__exit__(None, None, None)

    async def ask(client: Client) -> None:
        status = await client.call_tool("status")
        assert "lexical: not built" in text_of(status)
        passage = await client.call_tool("read", {"path": "shop/currency.py", "start": 6, "end": 6})
        assert "6 def convert" in text_of(passage)
        found = await client.call_tool("search", {"query": "convert"}, progress_callback=hear)
        assert "shop/currency.py:6-7" in text_of(found)
        assert told
        assert told == sorted(set(told)), "the protocol wants progress that grows"

    held = Store(locate(shop.path).key).writing()
    held.__enter__()
    talk(shop.path, ask)


def test_bad_lines_do_not_end_the_server(shop: GitRepo) -> None:
    with bare(shop.path) as client:
        client.begin()
        for line in (b"{", b"[]", b'"x"', b"null", b'{"jsonrpc":"1.0"}', b"\xff\xfe", b"[" * 5000, b""):
            client.send(line)
        answer = client.ask("tools/call", {"name": "read", "arguments": {"path": "docs/cart.md"}}, 9)
        assert not answer["result"]["isError"]


def test_the_server_ends_with_its_client(shop: GitRepo) -> None:
    with bare(shop.path) as client:
        client.begin()
    assert client.process.returncode == 0


def test_a_wrong_folder_is_an_error_of_the_command(tmp_path: Path) -> None:
    with bare(tmp_path / "nothing") as client:
        pass
    assert client.process.returncode == 2

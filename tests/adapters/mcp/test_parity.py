"""The same question through Python, the command line, MCP and HTTP gives the same evidence (invariant 9)."""

from __future__ import annotations

import json
import subprocess
from typing import Any

from mcp.client.client import Client
from tests.adapters.mcp.clients import command, environment, facts_of, text_of, within
from tests.adapters.mcp.transport.test_http import request, running
from tests.gitrepo import GitRepo

from codenib.serving.workspace import Workspace

Place = tuple[str, int, int]


def by_command(shop: GitRepo, *args: str) -> dict[str, Any]:
    words = command("-C", str(shop.path), *args, "--json")
    return dict(json.loads(subprocess.run(words, capture_output=True, check=True, env=environment()).stdout))


def places(rows: list[dict[str, Any]], first: str = "start_line", last: str = "end_line") -> list[Place]:
    return [(row["path"], row[first], row[last]) for row in rows]


def reached_by(rows: list[dict[str, Any]]) -> list[tuple[str, str, int, str]]:
    return [(row["relation"], row["path"], row["line"], row["why"]) for row in rows]


def test_search_explore_definition_impact_and_grep_agree(shop: GitRepo) -> None:
    query = "total price in a currency"
    with Workspace(shop.path) as workspace:
        answer = workspace.search(query, k=5)
        expected = [(item.path, item.start_line, item.end_line) for item in answer.items]
        blocks = workspace.explore(query, max_tokens=2000).blocks
        packed = [(block.path, block.start_line, block.end_line) for block in blocks]
        where = [(place.path, place.line) for place in workspace.definition("convert").locations]
        reached = [(item.relation, item.path, item.line, item.why) for item in workspace.impact("convert")]
        lines = [(match.path, match.line) for match in workspace.regex("convert")]
    assert len(expected) > 1
    assert len(packed) > 1
    assert places(by_command(shop, "search", query, "-k", "5")["items"]) == expected
    found = by_command(shop, "explore", query, "--max-tokens", "2000")
    assert places(found["items"]) == packed
    defined = by_command(shop, "def", "convert")["items"]
    assert [(row["path"], row["line"]) for row in defined] == where
    assert reached_by(by_command(shop, "impact", "convert")["items"]) == reached
    assert [(row["path"], row["line"]) for row in by_command(shop, "regex", "convert")["items"]] == lines
    texts = {}

    async def ask(client: Client) -> None:
        searched = await client.call_tool("search", {"query": query, "k": 5})
        assert places(facts_of(searched)["items"], "line") == expected
        explored = await client.call_tool("explore", {"query": query, "max_tokens": 2000})
        assert places(facts_of(explored)["items"], "line") == packed
        seen = await client.call_tool("definition", {"name": "convert"})
        assert [(row["path"], row["line"]) for row in facts_of(seen)["items"]] == where
        asked = await client.call_tool("impact", {"name": "convert"})
        assert reached_by(facts_of(asked)["items"]) == reached
        matched = await client.call_tool("grep", {"pattern": "convert"})
        assert [(row["path"], row["line"]) for row in facts_of(matched)["items"]] == lines
        texts["search"] = text_of(searched)

    within(shop.path, ask)
    with running(shop.path) as server:
        params = {"name": "search", "arguments": {"query": query, "k": 5}}
        _, body = server.post(request("tools/call", params))
        data = next(line for line in body.decode().split("\n") if line.startswith("data: {"))
        result = json.loads(data.removeprefix("data: "))["result"]
        assert result["content"][0]["text"] == texts["search"]
        assert places(result["_meta"]["codenib/reply"]["items"], "line") == expected

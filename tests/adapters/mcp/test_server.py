"""The server's tools, resources and prompts, with the SDK's client in the same process."""

from __future__ import annotations

import json
from typing import Any, cast

import msgspec
import pytest
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError
from tests.adapters.mcp.clients import facts_of, text_of, within
from tests.gitrepo import GitRepo

from codenib.adapters.envelopes.envelope import Envelope
from codenib.core.views import ViewKind
from codenib.serving.context.tokens import count
from codenib.serving.workspace import Workspace

DEFAULT = [
    "explore", "search", "grep", "outline", "definition", "references", "impact", "read", "status",
]  # fmt: skip
REST = [
    "search_semantic", "search_bm25", "search_regex", "search_zoekt", "dependencies", "callers", "callees",
    "route", "history", "map", "get_manifest",
]  # fmt: skip


def test_the_tool_list_is_small() -> None:
    from codenib.adapters.mcp.descriptions import INSTRUCTIONS
    from codenib.adapters.mcp.transport.handshake import EarlyAnswers

    def cost(early: EarlyAnswers) -> int:
        meta = {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}}
        return count((early.answer(json.dumps(message).encode()) or b"").decode())

    assert 300 < cost(EarlyAnswers(all_tools=False)) + count(INSTRUCTIONS) <= 1100
    assert cost(EarlyAnswers(all_tools=True)) < 2500


def test_all_tools_are_there_when_asked_for(shop: GitRepo) -> None:
    async def ask(client: Client) -> None:
        assert [tool.name for tool in (await client.list_tools()).tools] == DEFAULT + REST
        found = await client.call_tool("search_regex", {"pattern": r"def \w+_price"})
        assert "shop/cart.py:7 def total_price(self, currency):" in text_of(found)
        drawn = await client.call_tool("map", {"max_tokens": 200})
        assert "class Cart" in text_of(drawn)
        routed = await client.call_tool("route", {"query": "convert currency", "k": 3})
        assert "shop/currency.py:6 convert (matches" in text_of(routed)
        manifest = await client.call_tool("get_manifest")
        assert '"lexical"' in text_of(manifest)

    within(shop.path, ask, all_tools=True)


def test_a_missing_view_is_an_error_that_names_a_tool_and_no_shell_line(shop: GitRepo) -> None:
    async def ask(client: Client) -> None:
        answer = await client.call_tool("search_zoekt", {"pattern": "money"})
        assert answer.is_error
        assert "try: grep" in text_of(answer)
        assert "codenib " not in text_of(answer)

    within(shop.path, ask, all_tools=True)


def test_without_a_graph_callers_are_by_name_and_none_is_unknown(shop: GitRepo) -> None:
    async def ask(client: Client) -> None:
        answer = await client.call_tool("callers", {"name": "convert"})
        assert "shop/cart.py:7 Cart.total_price method (call at shop/cart.py:8" in text_of(answer)
        assert "by name alone" in text_of(answer)
        answer = await client.call_tool("callees", {"name": "convert"})
        assert "not known" in text_of(answer)
        assert facts_of(answer)["completeness"] == "unknown"

    within(shop.path, ask, all_tools=True)


def test_dependencies_of_a_file_are_asked_for_by_its_path_alone(shop: GitRepo) -> None:
    with Workspace(shop.path) as workspace:
        workspace.index([ViewKind.LEXICAL, ViewKind.TRIGRAM, ViewKind.GRAPH])

    async def ask(client: Client) -> None:
        answer = await client.call_tool("dependencies", {"path": "shop/cart.py"})
        assert not answer.is_error, text_of(answer)
        assert "shop/cart.py" in text_of(answer)

    within(shop.path, ask, all_tools=True)


def test_a_reply_says_its_snapshot_totals_provider_and_freshness_once(shop: GitRepo) -> None:
    async def ask(client: Client) -> None:
        found = await client.call_tool("search", {"query": "price currency", "k": 1})
        facts = facts_of(found)
        assert facts["snapshot"]["commit"] == shop.head()
        assert facts["snapshot"]["dirty"] is False
        assert (facts["provider"], facts["note"]) == ("hybrid", "")
        assert facts["freshness"]["state"] == "fresh"
        assert facts["total"] > len(facts["items"]) == 1
        assert facts["truncated"] is True
        assert text_of(found).startswith(f"[1 of {facts['total']} units · hybrid · {shop.head()[:7]}]")

    within(shop.path, ask)


def test_a_reply_without_results_names_the_files_that_were_not_searched(shop: GitRepo) -> None:
    async def ask(client: Client) -> None:
        for tool, arguments in (("search", {"query": "zzyzx"}), ("grep", {"pattern": "zzyzx"})):
            empty = await client.call_tool(tool, arguments)
            assert "not searched: 1 binary file" in text_of(empty)
            assert facts_of(empty)["coverage"]["skipped"] == {"binary": 1}
        found = await client.call_tool("search", {"query": "price currency"})
        assert "not searched" not in text_of(found)

    within(shop.path, ask)


def test_every_tool_has_the_keys_of_the_envelope(shop: GitRepo) -> None:
    calls: dict[str, dict[str, Any]] = {
        "explore": {"query": "price"},
        "search": {"query": "price"},
        "grep": {"pattern": "def"},
        "outline": {"path": "shop"},
        "impact": {"name": "convert"},
        "search_regex": {"pattern": "def"},
        "search_bm25": {"query": "price"},
        "definition": {"name": "convert"},
        "references": {"name": "convert"},
        "read": {"path": "shop/cart.py"},
        "status": {},
        "dependencies": {"path": "shop/cart.py"},
        "callers": {"name": "convert"},
        "callees": {"name": "convert"},
        "route": {"query": "price"},
        "history": {"path": "shop/cart.py"},
        "map": {},
        "get_manifest": {},
    }

    async def ask(client: Client) -> None:
        for tool, arguments in calls.items():
            answer = await client.call_tool(tool, arguments)
            assert not answer.is_error, text_of(answer)
            facts = facts_of(answer)
            envelope = {field.name: facts[field.name] for field in msgspec.structs.fields(Envelope)}
            msgspec.convert(envelope, Envelope[Any])
            assert facts["total"] >= len(facts["items"]), tool

    with Workspace(shop.path) as workspace:
        workspace.index([ViewKind.LEXICAL, ViewKind.TRIGRAM, ViewKind.GRAPH, ViewKind.HISTORY])
    within(shop.path, ask, all_tools=True)


def test_structured_content_comes_when_asked_for_and_carries_no_source_text(shop: GitRepo) -> None:
    async def ask(client: Client) -> None:
        question = {"query": "total price", "again": True}
        plain = await client.call_tool("explore", question)
        assert plain.structured_content is None
        asked = await client.call_tool(
            "explore",
            question,
            meta=cast("Any", {"codenib/structured": True}),
        )
        assert text_of(asked) == text_of(plain)
        assert facts_of(asked)["items"][0]["path"].startswith("shop/")
        assert "sum(convert(" in text_of(asked)
        assert "sum(convert(" not in json.dumps(asked.structured_content)

    within(shop.path, ask)


def test_a_structured_reply_has_source_and_places_within_its_tokens(shop: GitRepo) -> None:
    shop.commit(
        {f"shop/price_{at}.py": f"def price_{at}(cart):\n    return cart.price * {at}\n" for at in range(60)}
    )

    async def ask(client: Client) -> None:
        for budget in (900, 2000):
            asked = await client.call_tool(
                "explore",
                {"query": "price of a cart", "max_tokens": budget, "again": True},
                meta=cast("Any", {"codenib/structured": True}),
            )
            facts = facts_of(asked)
            assert "return cart.price" in text_of(asked)
            assert facts["items"]
            assert facts["truncated"] is True
            written = json.dumps(asked.structured_content, separators=(",", ":"))
            assert count(text_of(asked) + written) <= budget

    within(shop.path, ask)


def test_a_position_may_be_a_path_a_line_nearby_and_a_name(shop: GitRepo) -> None:
    async def ask(client: Client) -> None:
        for arguments in (
            {"name": "convert"},
            {"name": "convert", "path": "shop/cart.py", "line": 8},
            {"name": "convert", "path": "shop/cart.py", "line": 3},
            {"name": "convert", "path": "shop/cart.py"},
            {"name": "shop.currency.convert", "path": "shop/cart.py", "line": "8"},
        ):
            answer = await client.call_tool("definition", arguments)
            assert not answer.is_error, text_of(answer)
            assert (
                "shop/currency.py:6 convert function\n6 def convert(amount, currency):\n7     return"
                in text_of(answer)
            )
        used = await client.call_tool("references", {"name": "convert"})
        assert facts_of(used)["total"] == 2
        assert facts_of(used)["provider"] == "syntactic"
        assert "by name alone" in text_of(used)

    within(shop.path, ask)


def test_wrong_arguments_are_tool_errors_that_say_what_is_right(shop: GitRepo) -> None:
    async def ask(client: Client) -> None:
        for tool, arguments, said in (
            ("explore", {}, "needs query"),
            ("search", {"query": "x", "limit": 3}, "no argument limit"),
            ("search", {"query": "x", "k": "many"}, "k must be a whole number"),
            ("search", {"query": "x", "k": 0}, "k is 1 to 200"),
            ("search", {"query": "x", "like": "shop/cart.py:1"}, "query, or like"),
            ("grep", {"pattern": "("}, "pattern"),
            ("grep", {"pattern": r"a\nb"}, "grep multiline=true"),
            ("impact", {"diff": "no diff"}, "unified diff"),
            ("read", {"path": "no/such.py"}, "is not a file"),
            ("read", {"path": "shop/cart.py", "start": 999}, "outside"),
            ("definition", {}, "no name"),
            ("definition", {"name": "nobody"}, "nothing is called"),
            ("explore", {"query": "x", "max_tokens": 3}, "max_tokens is 50"),
        ):
            answer = await client.call_tool(tool, arguments)
            assert answer.is_error, (tool, arguments)
            assert said in text_of(answer)
        with pytest.raises(MCPError, match="no tool is called 'nothing'"):
            await client.call_tool("nothing", {})

    within(shop.path, ask)


def test_resources_and_prompts(shop: GitRepo) -> None:
    async def ask(client: Client) -> None:
        await client.call_tool("search", {"query": "cart"})  # the index is there after it
        assert {str(row.uri) for row in (await client.list_resources()).resources} == {
            "codenib://status",
            "codenib://manifest",
        }
        status = (await client.read_resource("codenib://status")).contents[0]
        assert json.loads(status.text)["views"]["lexical"] == "fresh"  # type: ignore[union-attr]
        manifest = (await client.read_resource("codenib://manifest")).contents[0]
        assert json.loads(manifest.text)["files"] == 5  # type: ignore[union-attr]
        with pytest.raises(MCPError, match="no resource"):
            await client.read_resource("file:///etc/passwd")
        names = [prompt.name for prompt in (await client.list_prompts()).prompts]
        assert names == ["locate", "explain", "impact"]
        prompt = await client.get_prompt("locate", {"issue": "prices {topic} are wrong"})
        assert "prices {topic} are wrong" in prompt.messages[0].content.text  # type: ignore[union-attr]
        with pytest.raises(MCPError, match="needs issue"):
            await client.get_prompt("locate", {})

    within(shop.path, ask)


def test_grep_has_context_files_counts_and_matches_over_lines(shop: GitRepo) -> None:
    async def ask(client: Client) -> None:
        async def grep(**arguments: Any) -> str:
            return text_of(await client.call_tool("grep", {"paths": ["shop/**"], **arguments}))

        around = await grep(pattern="def total_price", context=1)
        assert "shop/cart.py:\n6" in around
        assert "\n7     def total_price(self, currency):\n8 " in around
        assert (await grep(pattern="CONVERT", mode="files")).startswith("[0 lines in 0 files · trigram")
        files = await grep(pattern="CONVERT", mode="files", ignore_case=True)
        assert files.splitlines()[1:] == ["shop/cart.py", "shop/currency.py"]
        counts = await grep(pattern="convert", mode="count")
        assert counts.splitlines()[1:] == ["shop/cart.py: 1", "shop/currency.py: 1"]
        spanning = await grep(pattern=r"def total_price.*\n\s+return", multiline=True)
        assert "\n7     def total_price(self, currency):\n8         return" in spanning

    within(shop.path, ask)


def test_outline_is_of_a_file_or_of_a_folder(shop: GitRepo) -> None:
    async def ask(client: Client) -> None:
        file = text_of(await client.call_tool("outline", {"path": "shop/cart.py"}))
        assert "\n  7-8 def total_price(self, currency)" in file
        folder = text_of(await client.call_tool("outline", {"path": "shop/"}))
        assert "shop/currency.py\n  6 convert" in folder
        root = text_of(await client.call_tool("outline", {}))
        assert "shop/ (" in root

    within(shop.path, ask)


def test_lines_that_a_session_has_are_named_and_sent_again_when_asked_for(shop: GitRepo) -> None:
    source = "return sum(convert("

    async def ask(client: Client) -> None:
        asked = {"query": "total price of a cart"}
        first = text_of(await client.call_tool("explore", asked))
        assert source in first
        second = text_of(await client.call_tool("explore", asked))
        assert source not in second
        assert "(lines already sent)" in second
        assert "again=true" in second.splitlines()[0]
        assert source in text_of(await client.call_tool("explore", {**asked, "again": True}))
        shop.write("shop/cart.py", "# edited\n" + (shop.path / "shop/cart.py").read_text())
        assert source in text_of(await client.call_tool("explore", asked)), "an edited file is new"

    within(shop.path, ask)


def test_lines_that_were_read_are_not_sent_by_explore(shop: GitRepo) -> None:
    async def ask(client: Client) -> None:
        await client.call_tool("read", {"path": "shop/cart.py"})
        explored = text_of(await client.call_tool("explore", {"query": "total price of a cart"}))
        assert "return sum(convert(" not in explored

    within(shop.path, ask)


def test_a_place_is_linked_and_the_link_can_be_read(shop: GitRepo) -> None:
    async def ask(client: Client) -> None:
        answer = await client.call_tool("definition", {"name": "convert"})
        (link,) = answer.content[1:]
        assert link.uri == "codenib://file/shop/currency.py#L6-6"  # type: ignore[union-attr]
        assert link.annotations.audience == ["user"]  # type: ignore[union-attr]
        (text,) = (await client.read_resource("codenib://file/shop/currency.py#L6-7")).contents
        assert text.text.startswith("def convert(")  # type: ignore[union-attr]
        (template,) = (await client.list_resource_templates()).resource_templates
        assert template.uri_template == "codenib://file/{path}"
        with pytest.raises(MCPError, match="not a file"):
            await client.read_resource("codenib://file/../../etc/passwd")

    within(shop.path, ask)


def test_places_resemble_a_place_and_functions_call_a_name(shop: GitRepo) -> None:
    async def ask(client: Client) -> None:
        alike = facts_of(await client.call_tool("search", {"like": "shop/cart.py:7"}))
        assert alike["items"]
        assert ("shop/cart.py", 7) not in {(item["path"], item["line"]) for item in alike["items"]}
        called = text_of(await client.call_tool("references", {"name": "convert", "callers": True}))
        assert "shop/cart.py:7 Cart.total_price method (call at shop/cart.py:8" in called

    within(shop.path, ask)


def test_impact_labels_each_part_and_unknown_is_not_none(shop: GitRepo) -> None:
    async def ask(client: Client) -> None:
        answer = await client.call_tool("impact", {"name": "convert"})
        text = text_of(answer)
        assert "changed: shop/currency.py:6 convert function" in text
        assert "depends on it: 1 (syntactic, completeness unknown" in text
        assert "shop/cart.py:7 Cart.total_price (call at 8)" in text
        assert "tests that reach it: not known (" in text
        parts = {part["relation"]: part["completeness"] for part in facts_of(answer)["parts"]}
        assert parts == {"dependent": "unknown", "test": "unknown", "companion": "all"}

    within(shop.path, ask)

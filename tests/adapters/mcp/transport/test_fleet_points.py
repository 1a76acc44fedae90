"""A fleet over HTTP for two tenants, by MCP and JSON: each has its own repositories, as if no others were."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import anyio
import httpx2
import pytest
from click.testing import CliRunner
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from tests.adapters.mcp.clients import text_of
from tests.adapters.mcp.transport.test_http import Running, request, running
from tests.gitrepo import GitRepo

from codenib.adapters.cli.main import cli
from codenib.adapters.mcp.transport.tokens import AccessTokens
from codenib.fleet import Fleet
from codenib.fleet.tenants.audit import read_audit
from codenib.fleet.tenants.grant import Grant

SHOP = {
    "pyproject.toml": '[project]\nname = "shop"\nversion = "1.2"\n',
    "shop/__init__.py": "class Cart:\n    def total(self, prices):\n        return sum(prices)\n",
}
MAILER = {"mailer/send.py": "from shop import Cart\n\n\ndef send(cart):\n    return cart.total([1])\n"}
#: The other tenant's: the same words in other proportions, a package of the same name, a name of its own.
ZEBRA = {
    "pyproject.toml": '[project]\nname = "shop"\nversion = "6.6"\n',
    "shop/__init__.py": "class Cart:\n    pass\n\n\ndef zebra_secret(prices):\n    return prices, 6.6\n",
    "cart.py": "cart = prices = total = cart\n" * 40,
}
_TIMES = re.compile(rb'\\?"(seconds|[a-z_]*ms)\\?":[0-9.e-]+')
#: Every question, about one's own code and about names that only the other tenant has.
_QUESTIONS: list[tuple[str, dict[str, Any]]] = [
    ("search", {"query": "total of prices in a cart"}),
    ("search", {"query": "zebra_secret"}),
    ("search", {"query": "cart", "repos": ["hidden/*"]}),
    ("search", {"query": "cart", "repos": ["nobody/*"]}),
    ("regex", {"pattern": "Cart|zebra_secret"}),
    ("regex", {"pattern": "("}),
    ("symbols", {"name": "Cart"}),
    ("symbols", {"name": "zebra_secret"}),
    ("definition", {"name": "shop.Cart"}),
    ("definition", {"name": "shop.zebra_secret"}),
    ("read", {"repo": "hidden/zebra", "path": "cart.py"}),
    ("read", {"repo": "nobody/zebra", "path": "cart.py"}),
    ("read", {"repo": "shop", "path": "../zebra/cart.py"}),
    ("read", {"repo": "shop", "path": "shop/__init__.py"}),
    ("repositories", {}),
]
_TOOLS: list[tuple[str, dict[str, Any]]] = [
    ("search", {"query": "total of prices in a cart"}),
    ("search", {"query": "zebra_secret", "repo": "hidden/zebra"}),
    ("grep", {"pattern": "Cart|zebra_secret"}),
    ("definition", {"name": "shop.Cart"}),
    ("read", {"repo": "hidden/zebra", "path": "cart.py"}),
]


def _fleet(*arguments: str) -> None:
    done = CliRunner().invoke(cli, ["fleet", *arguments])
    assert done.exit_code == 0, done.output


@pytest.fixture
def repositories(git_repo: Callable[..., GitRepo]) -> dict[str, GitRepo]:
    rows = {}
    for name, files in {"shop": SHOP, "mailer": MAILER, "zebra": ZEBRA}.items():
        rows[name] = git_repo(name)
        rows[name].commit(files)
    return rows


def _token(tenant: str, **limits: Any) -> str:
    return AccessTokens().create(tenant, grant=Grant(tenant=tenant, repositories=("*",), **limits))[1]


def _ask(server: Running, token: str, name: str, given: dict[str, Any]) -> tuple[int, bytes]:
    body = json.dumps(given).encode()
    return server.post(body, f"/v1/{name}", Authorization=f"Bearer {token}")


def _answers(server: Running, token: str) -> dict[str, tuple[int, bytes]]:
    """All that a token gets of a server, without times."""
    bearer = {"Authorization": f"Bearer {token}"}
    got = {f"{name} {given}": _ask(server, token, name, given) for name, given in _QUESTIONS}
    for tool, given in _TOOLS:
        body = request("tools/call", {"name": tool, "arguments": given})
        got[f"mcp {tool} {given}"] = server.post(body, "/mcp", **bearer)
    for path in ("/v1/search/", "/v1/nobody", "/v1/zebra", "/hidden/zebra/mcp", "/zebra/mcp", "/metrics"):
        got[path] = server.post(b"{}", path, **bearer)
    return {name: (status, _TIMES.sub(b"", body)) for name, (status, body) in got.items()}


def test_answers_are_equal_with_and_without_another_tenants_repositories(
    repositories: dict[str, GitRepo],
) -> None:
    for name in ("shop", "mailer"):
        _fleet("add", str(repositories[name].path), "--name", name)
    _fleet("index", "--views", "lexical,trigram")
    mine, theirs = _token("red"), _token("blue")
    with running(fleet=True) as server:
        alone = _answers(server, mine)
    _fleet("add", str(repositories["zebra"].path), "--name", "hidden/zebra", "--tenant", "blue")
    _fleet("index", "--views", "lexical,trigram")
    with running(fleet=True, audit="text") as server:
        status, body = _ask(server, theirs, "search", {"query": "zebra_secret"})
        assert (status, b"hidden/zebra" in body) == (200, True)  # it is there
        beside = _answers(server, mine)

    assert {name: got for name, got in beside.items() if got != alone[name]} == {}
    assert not any(b"6.6" in body for _, body in beside.values())
    # What is another's and what nobody has is the same answer.
    for name, given in _QUESTIONS:
        if "hidden" in str(given) and name != "repositories":
            absent = beside[f"{name} {json.loads(json.dumps(given).replace('hidden', 'nobody'))}"]
            assert beside[f"{name} {given}"] == (absent[0], absent[1].replace(b"nobody", b"hidden"))
    assert b'"items":[{"name":"mailer"},{"name":"shop"}],"total":2' in beside["repositories {}"][1]
    rows = [row for row in read_audit() if row.tenant == "red" and row.tool == "search"]
    assert {row.outcome for row in rows} == {"answered", "failed"} and max(row.tokens for row in rows) > 50


def test_a_token_is_for_a_repository_of_the_fleet_by_name(repositories: dict[str, GitRepo]) -> None:
    _fleet("add", str(repositories["shop"].path), "--name", "team/shop")
    _fleet("add", str(repositories["mailer"].path), "--name", "team/mailer")
    done = CliRunner().invoke(cli, ["token", "create", "one", "--repo", "team/shop", "--json"])
    assert json.loads(done.output)["items"][0]["repositories"] == ["team/shop"]
    token = json.loads(done.output)["items"][0]["token"]
    in_place = AccessTokens().create("two", [str(repositories["mailer"].path.resolve())])[1]
    with running(fleet=True) as server:
        assert b'[{"name":"team/shop"}]' in _ask(server, token, "repositories", {})[1]
        assert b'[{"name":"team/mailer"}]' in _ask(server, in_place, "repositories", {})[1]


def test_http_mcp_and_python_give_the_same_places(repositories: dict[str, GitRepo]) -> None:
    for name in ("shop", "mailer"):
        _fleet("add", str(repositories[name].path), "--name", name)
    _fleet("index", "--views", "lexical,trigram")
    with Fleet() as fleet:
        answer = fleet.search("total of prices in a cart", allowed={"shop", "mailer"})
        places = [(item.repository, item.path, item.place.start_line) for item in answer]
    token, blind = _token("red"), _token("green", views=("lexical",))
    with running(fleet=True) as server:
        status, body = _ask(server, token, "search", {"query": "total of prices in a cart"})
        items = json.loads(body)["items"]
        assert status == 200
        assert [(item["repository"], item["path"], item["start_line"]) for item in items] == places

        async def main() -> None:
            async with httpx2.AsyncClient(headers=server.headers(token), timeout=30) as transport:
                stream = streamable_http_client(server.url(), http_client=transport)
                async with Client(stream) as client:
                    assert len((await client.list_tools()).tools) == 4
                    said = await client.call_tool("search", {"query": "total of prices in a cart"})
                    lines = text_of(said).splitlines()[1:]
                    assert [line.split()[:2] for line in lines if line] == [
                        [repository, f"{path}:{line}"] for repository, path, line in places
                    ]
                    one = await client.call_tool("grep", {"pattern": "Cart", "repo": "mailer"})
                    assert "asked 1 of 1 repositories" in text_of(one)

        anyio.run(main)
        # A token that is not for a view gets no answer from it.
        assert _ask(server, blind, "regex", {"pattern": "Cart"})[0] == 409
        assert _ask(server, blind, "search", {"query": "cart"})[0] == 200
        wrong = _ask(server, token, "search", {"wanted": 1})
        assert wrong[0] == 400 and b"no argument wanted" in wrong[1]
        assert _ask(server, token, "search", json.loads('{"query": " "}'))[0] == 400
        assert server.post(b"[1]", "/v1/search")[0] == 400

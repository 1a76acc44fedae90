"""`codenib fleet mcp` over real pipes: one server, many repositories, `repo` when the client wants one."""

from __future__ import annotations

import os
from collections.abc import Callable

import anyio
from click.testing import CliRunner
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from tests.adapters.mcp.clients import command, environment, text_of
from tests.gitrepo import GitRepo

from codenib.adapters.cli.main import cli
from codenib.core.errors import InputError

CART = "class Cart:\n    def total(self, prices):\n        return sum(prices)\n"
MAIL = "from shop import Cart\n\n\ndef send(cart):\n    return cart.total([1])\n"


def test_one_server_answers_for_all_repositories_and_for_one(git_repo: Callable[..., GitRepo]) -> None:
    shop, mailer = git_repo("shop"), git_repo("mailer")
    shop.commit({"pyproject.toml": '[project]\nname = "shop"\nversion = "1.2"\n', "shop/__init__.py": CART})
    mailer.commit({"mailer/send.py": MAIL})
    run = CliRunner().invoke
    assert run(cli, ["fleet", "add", str(shop.path), str(mailer.path)]).exit_code == 0
    done = run(cli, ["fleet", "index", "--views", "lexical,trigram"])
    assert done.exit_code == 0, done.output

    async def main() -> None:
        words = command("fleet", "mcp")
        parameters = StdioServerParameters(command=words[0], args=words[1:], env=environment())
        with anyio.fail_after(60), open(os.devnull, "w") as log:  # noqa: PTH123
            async with Client(stdio_client(parameters, errlog=log)) as client:
                names = [tool.name for tool in (await client.list_tools()).tools]
                assert names == ["search", "grep", "definition", "read"]
                both = text_of(await client.call_tool("grep", {"pattern": "Cart"}))
                assert "shop shop/__init__.py:1 class Cart:" in both
                assert "mailer mailer/send.py:1 from shop import Cart" in both
                assert "complete" in both and "asked 2 of 2 repositories" in both
                one = text_of(await client.call_tool("grep", {"pattern": "Cart", "repo": "mailer"}))
                assert "asked 1 of 1 repositories" in one and "class Cart" not in one
                found = text_of(await client.call_tool("search", {"query": "total of prices in a cart"}))
                assert "shop shop/__init__.py:2 Cart.total" in found
                declared = text_of(await client.call_tool("definition", {"name": "shop.Cart"}))
                assert "shop shop/__init__.py:1 class Cart (shop 1.2)" in declared
                lines = await client.call_tool("read", {"repo": "mailer", "path": "mailer/send.py", "end": 1})
                assert "1 from shop import Cart" in text_of(lines)
                wrong = await client.call_tool("read", {"repo": "nobody", "path": "a.py"})
                assert wrong.is_error and "no repository of the fleet is called nobody" in text_of(wrong)

    anyio.run(main)


def test_a_fleet_without_repositories_is_an_error_at_once() -> None:
    done = CliRunner().invoke(cli, ["fleet", "mcp"])
    assert isinstance(done.exception, InputError)

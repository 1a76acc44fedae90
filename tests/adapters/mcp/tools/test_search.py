"""Ranked answers of a busy server: by a cheaper plan, and they say so."""

from __future__ import annotations

from contextlib import closing
from functools import partial

from tests.gitrepo import GitRepo

from codenib.adapters.mcp.server_context import ServerContext
from codenib.adapters.mcp.tools.search import explore, search
from codenib.adapters.mcp.tools.tool import Call


def test_a_cheaper_plan_is_labelled_in_text_and_facts(shop: GitRepo) -> None:
    with closing(ServerContext(shop.path)) as context, context.workspace() as workspace:
        workspace.index()
        asked = {"query": "convert currency", "like": None, "k": 5, "paths": None, "max_tokens": 1000}
        asked["again"] = False
        call = partial(Call, context, workspace, asked)
        for tool in (search, explore):
            busy, calm = tool(call(cheaper=True)), tool(call())
            assert "the server is busy" in busy.head and "the server is busy" in busy.facts["note"]
            assert "busy" not in calm.head and "busy" not in calm.facts["note"]
            assert (busy.facts["provider"], calm.facts["provider"]) == ("lexical", "hybrid")
            assert busy.entries

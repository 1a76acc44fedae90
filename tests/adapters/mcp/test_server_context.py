"""Workspaces are lent to calls: who can use only the first one has it before those who can use any."""

from __future__ import annotations

import threading
from contextlib import ExitStack

from tests.gitrepo import GitRepo

from codenib.adapters.mcp.server_context import ServerContext


def test_who_needs_the_first_workspace_is_not_starved_by_those_who_can_use_any(shop: GitRepo) -> None:
    context = ServerContext(shop.path)
    asked, served = threading.Event(), threading.Event()

    def navigate() -> None:
        asked.set()
        with context.workspace(first=True):
            served.set()

    waiting = threading.Thread(target=navigate)
    try:
        with ExitStack() as lent:
            first = lent.enter_context(context.workspace())
            waiting.start()
            assert asked.wait(20)
            while not context.wants_first:
                pass
            other = ExitStack()
            other.enter_context(context.workspace())
            lent.pop_all().close()  # the first one is free again, and somebody waits for it
            with context.workspace() as third:
                assert third is not first
            other.close()
        assert served.wait(20)
    finally:
        waiting.join(20)
        context.close()

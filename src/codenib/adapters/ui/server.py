"""Repositories in, a page on the loopback interface out: `codenib ui`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from codenib.adapters.mcp.server_context import ServerContext, names_of
from codenib.adapters.mcp.transport.accounts import Accounts
from codenib.adapters.mcp.transport.guard import Guard, Limits
from codenib.adapters.mcp.transport.listener import Listener
from codenib.adapters.ui.access import PageAccess
from codenib.adapters.ui.app import Pages

# One person's browser, which asks while they type.
_LIMITS = Limits(requests_per_s=100.0, burst=500)


class PageServer:
    """Serves the page of some repositories to this machine alone. `bind` says where."""

    def __init__(self, contexts: Sequence[ServerContext], port: int = 0, runs: Sequence[Path] = ()) -> None:
        self._contexts = contexts
        self._listener = Listener("127.0.0.1", port, command="codenib ui --port 0")
        self._access = PageAccess()
        self._pages = Pages(names_of(contexts), self._access, runs)
        self._pages.ending = lambda: self._listener.ending

    def bind(self) -> str:
        """Take the port; the address to open, which works once."""
        host, port = self._listener.bind()
        # Cookies know no ports: each server has its own name for them.
        self._pages.cookie = f"codenib-{port}"
        return f"http://{host}:{port}/ui/enter?token={self._access.one_time_token()}"

    def run(self) -> None:
        """Serve until stopped or interrupted."""
        try:
            asyncio.run(self._serve())
        finally:
            for context in self._contexts:
                context.close()

    def stop(self) -> None:
        """End `run`."""
        self._listener.stop()

    async def _serve(self) -> None:
        guard = Guard(
            (),
            None,
            names=self._listener.names(),
            limits=_LIMITS,
            accounts=Accounts(),
            pages=self._pages,
        )
        for context in self._contexts:
            context.start()
        await self._listener.serve(guard)

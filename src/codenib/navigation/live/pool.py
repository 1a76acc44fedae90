"""A root and a group in, its one running server out, shared by everybody who asks in this process."""

from __future__ import annotations

import atexit
import threading
from collections.abc import Mapping
from pathlib import Path

from codenib.core.errors import InputError, ProviderError
from codenib.navigation.live.provider import LiveProvider
from codenib.navigation.live.servers import SERVERS, Server, tool_paths
from codenib.navigation.live.session import Timeouts
from codenib.navigation.live.worktree import Changes
from codenib.navigation.tools.locate import Toolbox


class ServerPool:
    """One provider for each root, group and trust. It starts with its first request and stops when idle."""

    def __init__(
        self,
        tools: Toolbox,
        times: Timeouts | None = None,
        servers: Mapping[str, Server] = SERVERS,
        *,
        watch: bool = True,
    ) -> None:
        """Without `watch` the caller reports what changes on disk, by `changed`."""
        self._watch = watch
        self._tools = tools
        self._times = times or Timeouts()
        self._servers = servers
        self._providers: dict[tuple[Path, str, bool], LiveProvider] = {}
        self._lock = threading.Lock()
        self._closed = False
        atexit.register(self.close)

    def __enter__(self) -> ServerPool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def provider(
        self, root: Path, group: str, *, trusted: bool = False, places: Mapping[str, str] | None = None
    ) -> LiveProvider:
        """The provider of a group on a root; `places` count for the one that asks first."""
        key = (root.resolve(), group, trusted)
        with self._lock:
            if self._closed:
                raise ProviderError("the language servers were stopped", hint="codenib doctor")
            known = self._providers.get(key)
            if known is None:
                known = self._providers[key] = self._make(key[0], group, trusted, places or {})
            return known

    @property
    def started(self) -> bool:
        """Whether any server was."""
        return bool(self._providers)

    def changed(self, changes: Changes) -> None:
        """Tell every server what changed on disk."""
        with self._lock:
            providers = list(self._providers.values())
        for provider in providers:
            provider.changed(changes)

    def close(self) -> None:
        """End every server; none runs when this returns."""
        with self._lock:
            self._closed = True
            providers = list(self._providers.values())
            self._providers.clear()
        atexit.unregister(self.close)
        for provider in providers:
            provider.close()

    def _make(self, root: Path, group: str, trusted: bool, places: Mapping[str, str]) -> LiveProvider:
        server = self._servers.get(group)
        if server is None:
            raise InputError(f"no language server is known for {group!r}", hint="codenib tools")
        command = self._tools.require(server.tool).command
        every = {"toolbox": str(self._tools.root), **tool_paths(server, self._tools), **places}
        return LiveProvider(
            root, server, command, places=every, trusted=trusted, times=self._times, watch=self._watch
        )

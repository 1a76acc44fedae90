"""Contexts of repositories in, a streamable HTTP server out: loopback unless told otherwise."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

import uvicorn
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from codenib.adapters.mcp.allocator import settle_allocator
from codenib.adapters.mcp.server import Busy, build_http_server
from codenib.adapters.mcp.server_context import ServerContext
from codenib.adapters.mcp.transport.guard import Guard, Limits, Site
from codenib.adapters.mcp.transport.handshake import early_tools
from codenib.adapters.mcp.transport.tokens import AccessTokens
from codenib.core.errors import InputError

_HEADERS_S = 10.0  # from the connection to the end of the headers
_KEEP_ALIVE_S = 15
_BACKLOG = 256  # connections that the system keeps until we take them
#: Connections without a request; of more, the one that waits longest is closed. With those that the guard
#: lets have a request, they stay below the 1,024 descriptors that a process has where nobody raised it.
_WAITING = 400
#: How long a thread may keep the interpreter when another wants it. The event loop wants it some dozen times
#: a request, so that with Python's 5 ms and a few busy threads `tools/list` took seconds.
_SWITCH_S = 0.0005
_HEADER_BYTES = 32_768


@dataclass(frozen=True, slots=True)
class Settings:
    """How to serve. `hosts` and `origins` are allowed beside our own names."""

    host: str = "127.0.0.1"
    port: int = 0
    hosts: Sequence[str] = ()
    origins: Sequence[str] = ()
    all_tools: bool = False
    structured: bool = False
    limits: Limits = field(default_factory=Limits)


def parse_address(written: str) -> tuple[str, int]:
    """`HOST:PORT`, `[::1]:PORT` or a port alone.

    >>> parse_address("8765"), parse_address("[::1]:8765")
    (('127.0.0.1', 8765), ('::1', 8765))
    """
    host, _, port = written.rpartition(":")
    host = host.strip("[]") or "127.0.0.1"
    if not port.isdigit() or not 0 <= int(port) < 65536:
        raise InputError(f"{written!r} is not HOST:PORT", hint="codenib serve --http 127.0.0.1:8765")
    return host, int(port)


def is_loopback(host: str) -> bool:
    """Whether only this machine can connect."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def paths_of(contexts: Sequence[ServerContext]) -> dict[str, ServerContext]:
    """The path of each repository: by name, and `/mcp` when there is one alone."""
    found: dict[str, ServerContext] = {}
    for context in contexts:
        name, often = context.name, 2
        while f"/{name}/mcp" in found:
            name, often = f"{context.name}-{often}", often + 1
        found[f"/{name}/mcp"] = context
    if len(contexts) == 1:
        found["/mcp"] = contexts[0]
    return found


class HttpServer:
    """A server of repositories. `bind` says where it listens; `run` serves until `stop`."""

    def __init__(
        self, contexts: Sequence[ServerContext], tokens: AccessTokens | None, settings: Settings
    ) -> None:
        if tokens is None and not is_loopback(settings.host):
            hint = "codenib token create NAME --repo PATH"
            raise InputError(f"{settings.host} can be reached by others: tokens are needed there", hint=hint)
        self._contexts = contexts
        self._tokens = tokens
        self._settings = settings
        self._socket: socket.socket | None = None
        self._server = uvicorn.Server(self._config())

    def bind(self) -> tuple[str, int]:
        """Take the port."""
        settings = self._settings
        family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((settings.host, settings.port))
            listener.listen(_BACKLOG)  # who connects from now on is answered once `run` is
        except OSError as error:
            listener.close()
            what = f"cannot listen on {settings.host}:{settings.port}: {error.strerror}"
            raise InputError(what, hint="codenib serve --http 127.0.0.1:0") from error
        self._socket = listener
        return settings.host, int(listener.getsockname()[1])

    def run(self) -> None:
        """Serve until stopped or interrupted."""
        if self._socket is None:
            self.bind()
        sys.setswitchinterval(_SWITCH_S)
        settle_allocator()
        try:
            asyncio.run(self._serve())
        finally:
            for context in self._contexts:
                context.close()

    def _config(self) -> uvicorn.Config:
        return uvicorn.Config(
            self._app,
            interface="asgi3",
            http=_Impatient,
            ws="none",
            lifespan="off",
            log_level="warning",
            access_log=False,
            server_header=False,
            timeout_keep_alive=_KEEP_ALIVE_S,
            timeout_graceful_shutdown=3,
            h11_max_incomplete_event_size=_HEADER_BYTES,
        )

    def stop(self) -> None:
        """End `run`."""
        self._server.should_exit = True

    async def _serve(self) -> None:
        async with self._guarded() as guard:
            self._guard = guard
            for context in self._contexts:
                context.start()
            assert self._socket is not None
            await self._server.serve([self._socket])

    async def _app(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._guard(scope, receive, send)

    @asynccontextmanager
    async def _guarded(self) -> AsyncIterator[Guard]:
        settings = self._settings
        async with AsyncExitStack() as stack:
            managers: dict[int, tuple[StreamableHTTPSessionManager, Busy]] = {}
            for context in self._contexts:
                server, busy = build_http_server(
                    context, all_tools=settings.all_tools, structured=settings.structured
                )
                # Stateless: no session outlives its request, so there is none to steal or to fill memory.
                manager = StreamableHTTPSessionManager(server, stateless=True)
                await stack.enter_async_context(manager.run())
                managers[id(context)] = manager, busy
            early = partial(early_tools, all_tools=settings.all_tools)
            sites: dict[str, Site] = {}
            for path, context in paths_of(self._contexts).items():
                manager, busy = managers[id(context)]
                sites[path] = Site(context.root, manager.asgi_app, early, busy)
            yield Guard(sites, self._tokens, **self._names(), limits=settings.limits)

    def _names(self) -> Mapping[str, Any]:
        """The hosts and origins that are ours, with the port."""
        assert self._socket is not None
        port = int(self._socket.getsockname()[1])
        names = {self._settings.host} | ({"127.0.0.1", "localhost", "::1"} if self._is_local else set())
        ours = {f"[{name}]:{port}" if ":" in name else f"{name}:{port}" for name in names}
        allowed = {name.lower() for name in self._settings.hosts}
        origins = {f"http://{name}" for name in ours} | {each.lower() for each in self._settings.origins}
        return {"hosts": frozenset(ours | allowed), "origins": frozenset(origins)}

    @property
    def _is_local(self) -> bool:
        return is_loopback(self._settings.host) or self._settings.host in ("0.0.0.0", "::")


class _Impatient(H11Protocol):
    """Closes connections whose headers do not come, and drops those that do not read.

    Connections without a request never use up those that the server takes: beyond some the oldest is closed.
    """

    _deadline: asyncio.TimerHandle | None = None
    #: Those of every server of this process that wait for a request, the oldest first.
    _waiting: ClassVar[dict[_Impatient, None]] = {}

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._deadline = self.loop.call_later(_HEADERS_S, self._too_slow)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._forget()
        self._waiting.pop(self, None)
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if not self.transport.is_closing():
            self._wait()

    def _wait(self) -> None:
        self._waiting[self] = None
        if len(self._waiting) > _WAITING:
            oldest = next(iter(self._waiting))
            del self._waiting[oldest]
            oldest.transport.abort()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._forget()
            self._waiting.pop(self, None)
        elif self._deadline is None:
            self._deadline = self.loop.call_later(_HEADERS_S, self._too_slow)

    def timeout_keep_alive_handler(self) -> None:
        if self.transport.get_write_buffer_size():
            self.transport.abort()
        else:
            super().timeout_keep_alive_handler()

    def _forget(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _too_slow(self) -> None:
        self._deadline = None
        if not self.transport.is_closing():
            self.transport.abort()

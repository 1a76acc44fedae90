"""A host and a port in, a socket that one application answers out: names, deadlines, idle connections."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from codenib.adapters.mcp.allocator import settle_allocator
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
class Names:
    """The Host and Origin headers that a request may have."""

    hosts: frozenset[str]
    origins: frozenset[str]


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


class Listener:
    """A port of this machine. `bind` takes it; `serve` answers until `stop`."""

    def __init__(self, host: str, port: int, *, command: str) -> None:
        """`command` is what an error tells to run with another port."""
        self._host = host
        self._port = port
        self._command = command
        self._socket: socket.socket | None = None
        self._server: uvicorn.Server | None = None
        self._ending = False

    def bind(self) -> tuple[str, int]:
        """Take the port."""
        if self._socket is None:
            family = socket.AF_INET6 if ":" in self._host else socket.AF_INET
            # asyncio turns Nagle's algorithm off for sockets that say that they are TCP: without, each small
            # answer over a connection that stays open waited 40 ms for the client's acknowledgement.
            listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                listener.bind((self._host, self._port))
                listener.listen(_BACKLOG)  # who connects from now on is answered once `serve` runs
            except OSError as error:
                listener.close()
                what = f"cannot listen on {self._host}:{self._port}: {error.strerror}"
                raise InputError(what, hint=self._command) from error
            self._socket = listener
        return self._host, int(self._socket.getsockname()[1])

    def names(self, hosts: Sequence[str] = (), origins: Sequence[str] = ()) -> Names:
        """The hosts and origins that are ours, with the port, and those that are allowed beside them."""
        _, port = self.bind()
        local = is_loopback(self._host) or self._host in ("0.0.0.0", "::")
        names = {self._host} | ({"127.0.0.1", "localhost", "::1"} if local else set())
        ours = {f"[{name}]:{port}" if ":" in name else f"{name}:{port}" for name in names}
        allowed = {name.lower() for name in hosts}
        pages = {f"http://{name}" for name in ours} | {each.lower() for each in origins}
        return Names(frozenset(ours | allowed), frozenset(pages))

    async def serve(self, app: ASGIApp) -> None:
        """Answer requests with `app` until stopped or interrupted."""
        self.bind()
        assert self._socket is not None
        sys.setswitchinterval(_SWITCH_S)
        settle_allocator()
        self._server = uvicorn.Server(
            uvicorn.Config(
                app,
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
        )
        if not self._ending:
            await self._server.serve([self._socket])

    @property
    def ending(self) -> bool:
        """Whether it stops: what streams without end should end now."""
        return self._ending or (self._server is not None and self._server.should_exit)

    def stop(self) -> None:
        """End `serve`."""
        self._ending = True
        if self._server is not None:
            self._server.should_exit = True


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

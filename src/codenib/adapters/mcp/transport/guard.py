"""HTTP requests in, those that may pass out: host, origin, token, scope, rate, size and pace are checked.

Every refusal is a short JSON body that says what is wrong. No body is read before its sender is allowed. A
token has addresses of its own repositories alone, named as if there were no others.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from secrets import token_hex

import anyio
import msgspec
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from codenib.adapters.logs import CLIENT_KEY, RECORD_KEY, REQUEST_KEY, log_event
from codenib.adapters.mcp.record import ANYBODY, CallRecord
from codenib.adapters.mcp.server_context import paths_of
from codenib.adapters.mcp.transport.accounts import Accounts
from codenib.adapters.mcp.transport.listener import Names
from codenib.adapters.mcp.transport.points import ServicePoint
from codenib.adapters.mcp.transport.tokens import AccessTokens, TokenRow
from codenib.adapters.mcp.turns import Requester
from codenib.core.errors import UNDECODABLE, CodenibError
from codenib.fleet.tenants.quota import Bucket, spend

#: There are no sessions, so none to listen to (GET) or to end (DELETE): clients know what 405 means.
_METHODS = ("POST",)
#: Where the addresses of pages begin.
PAGES = "/ui"
#: A header that says `background` for what nobody waits for: it comes behind what somebody does.
PRIORITY = "x-codenib-priority"
_KEPT_BUCKETS = 10_000
_KEPT_ADDRESSES = 1000
_BURST_S = 5.0  # of a token's own rate that may come at once
_SOON = {"retry-after": "1"}
#: How long, and how many bytes, of a body that is too large are read after its refusal. Whoever sends all
#: of it before reading would get a reset in place of the answer if the connection were closed before.
_LINGER_S = 2.0
_LINGER_BYTES = 16_000_000


@dataclass(frozen=True, slots=True)
class Limits:
    """What one client may take."""

    body_bytes: int = 250_000  # the longest query takes 120,000; reading 1 MB of keys holds others up
    requests_per_s: float = 20.0
    burst: int = 100
    refused_per_s: float = 1.0
    refused_burst: int = 20
    receive_s: float = 10.0
    send_s: float = 20.0
    in_flight: int = 256  # requests that the server works on or that wait, of all clients
    in_flight_each: int = 64


@dataclass(frozen=True, slots=True)
class Site:
    """A repository behind a path: where it is, what serves it, what answers sooner, and how busy that is."""

    root: Path
    app: ASGIApp
    name: str = ""
    early: Callable[[bytes], bytes | None] = lambda body: None
    body_bytes: int | None = None  # at most; None: as many as others
    busy_s: Callable[[bytes, Requester], float] = lambda body, asker: 0.0


class Refusal(Exception):
    """A request that may not pass."""

    def __init__(self, status: int, what: str, **headers: str) -> None:
        super().__init__(what)
        self.status = status
        self.what = what
        self.headers = headers


class _Called(msgspec.Struct):
    method: str = ""


class Guard:
    """The outermost application. Without `tokens` everyone who gets here may ask.

    `pages` get what is below `PAGES`, and know by their own cookie who asks. `common` sites have an address
    for every token, and answer each for what it is for.
    """

    def __init__(
        self,
        sites: Sequence[Site],
        tokens: AccessTokens | None,
        *,
        names: Names,
        limits: Limits,
        accounts: Accounts,
        pages: ASGIApp | None = None,
        points: Mapping[str, ServicePoint] | None = None,
        common: Mapping[str, Site] | None = None,
    ) -> None:
        self._sites = sites
        self._common = common or {}
        self._points = points or {}
        self._addresses: dict[tuple[str, ...], dict[str, Site]] = {}  # by what a token is for
        self._tokens = tokens
        self._names = names
        self._pages = pages
        self._limits = limits
        self._accounts = accounts
        self._buckets: dict[str, Bucket] = {}
        self._in_flight: Counter[str] = Counter()  # by client

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        started = False
        scope[REQUEST_KEY] = name = token_hex(4)
        scope[RECORD_KEY] = record = CallRecord(request=name)

        async def timely(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started, record.status = True, message["status"]
                message = {**message, "headers": [*message["headers"], (b"x-request-id", name.encode())]}
            with anyio.fail_after(self._limits.send_s):  # a client that does not read
                await send(message)

        try:
            site = self._admit(scope, record)
            with self._counted(scope[CLIENT_KEY], record.grant.concurrent):
                body = await self._body(scope, receive, site.body_bytes)
                record.method = _method(body)
                answer = site.early(body) if _takes_json(scope) else None
                asker = Requester(scope[CLIENT_KEY], record.grant.tenant, record.urgency)
                if busy_s := site.busy_s(body, asker):
                    wait = str(ceil(busy_s))
                    raise Refusal(
                        503, f"too many calls of this kind wait; wait {wait} s", **{"retry-after": wait}
                    )
                if answer is not None:
                    await _respond(200, answer, {}, timely)
                else:
                    await site.app(scope, _given(body, receive), timely)
        except Refusal as refusal:
            record.outcome = "refused"
            await _refuse(refusal, timely, receive if refusal.status == 413 else None)
        except TimeoutError:
            if not started:
                raise  # the server closes the connection
        except CodenibError as error:
            record.outcome = "refused"
            await _refuse(Refusal(503, error.message, **_SOON), timely)
        finally:
            self._accounts.close(record)
            where, took = f"{scope['method']} {scope['path'][:100]!r}", round(record.seconds * 1000)
            log_event(where, request=name, status=record.status, ms=took)

    def _admit(self, scope: Scope, record: CallRecord) -> Site:
        headers = Headers(scope=scope)
        address = (scope.get("client") or ("unknown", 0))[0]
        point = self._points.get(scope["path"])
        if point is not None and point.method == scope["method"]:
            return self._point(point, scope, headers, address)
        self._check_names(headers)
        if self._pages is not None and _is_page(scope):
            scope[CLIENT_KEY] = address
            self._spend(address, self._limits.requests_per_s, self._limits.burst)
            return Site(Path(), self._pages)
        if scope["method"] not in _METHODS:
            raise Refusal(405, f"use one of {', '.join(_METHODS)}", allow=", ".join(_METHODS))
        row = self._token(headers, address)
        limits, grant = self._limits, row or ANYBODY
        scope[CLIENT_KEY] = client = row.id if row else address
        record.grant, record.token = grant, row.id if row else ""
        rate = grant.requests_per_s or limits.requests_per_s
        burst = limits.burst if grant.requests_per_s is None else max(rate * _BURST_S, 1.0)
        self._spend(client, rate, burst)
        if row is not None and (wait_s := self._accounts.wait_s(row)):
            what = f"the {row.tokens_per_day:,} tokens of this day are used; wait {ceil(wait_s)} s"
            raise Refusal(429, what, **{"retry-after": str(ceil(wait_s))})
        site = self._sites_of(grant.repositories, grant.allows).get(scope["path"])
        site = site or self._common.get(scope["path"])
        if site is None:
            # The same answer, found the same way, for what is not there and for what is another's.
            raise Refusal(404, f"no repository at {scope['path'][:100]!r} for this token")
        record.repository = str(site.root)
        if headers.get(PRIORITY, "").lower() == "background":
            record.urgency = "background"
        return site

    def _point(self, point: ServicePoint, scope: Scope, headers: Headers, address: str) -> Site:
        """An address of the server itself. Probes ask by whatever name: health says nothing of code."""
        scope[CLIENT_KEY] = client = f"point {address}"
        self._spend(client, self._limits.requests_per_s, self._limits.burst)
        if point.access != "anyone":
            self._check_names(headers)
        if point.access == "metrics":
            row = self._token(headers, address)
            if row is not None and not row.metrics:
                raise Refusal(404, f"nothing at {scope['path']!r} for this token")
        return Site(Path(), point.app, body_bytes=point.body_bytes)

    def _sites_of(self, repositories: tuple[str, ...], allows: Callable[[Path], bool]) -> Mapping[str, Site]:
        """The addresses of a token's repositories. No name among them depends on those of others."""
        known = self._addresses.get(repositories)
        if known is None:
            if len(self._addresses) >= _KEPT_ADDRESSES:
                self._addresses.clear()
            known = paths_of([site for site in self._sites if allows(site.root)])
            self._addresses[repositories] = known
        return known

    @contextmanager
    def _counted(self, client: str, own: int | None) -> Iterator[None]:
        """Count a request while it is worked on: what would wait without bound is refused at once."""
        most = self._limits.in_flight_each if own is None else own
        if self._in_flight[client] >= most:
            raise Refusal(429, f"{most} requests of yours are under way", **_SOON)
        if self._in_flight.total() >= self._limits.in_flight:
            raise Refusal(503, "the server has as many requests as it can answer soon", **_SOON)
        self._in_flight[client] += 1
        try:
            yield
        finally:
            self._in_flight[client] -= 1
            if not self._in_flight[client]:
                del self._in_flight[client]

    def _check_names(self, headers: Headers) -> None:
        """Host and Origin must be ours: a web page must not reach us through a name that it owns."""
        if len(headers.getlist("host")) != 1 or headers["host"].lower() not in self._names.hosts:
            raise Refusal(421, "this host name is not served here; see codenib serve --allow-host")
        for origin in headers.getlist("origin"):
            if origin.lower() not in self._names.origins:
                raise Refusal(403, "this origin may not ask; see codenib serve --allow-origin")

    def _token(self, headers: Headers, address: str) -> TokenRow | None:
        if self._tokens is None:
            return None
        kind, _, text = headers.get("authorization", "").partition(" ")
        row = self._tokens.find(text.strip()) if kind.lower() == "bearer" else None
        if row is None:
            key = f"refused {address}"
            self._spend(key, self._limits.refused_per_s, self._limits.refused_burst)
            challenge = {"www-authenticate": 'Bearer realm="codenib"'}
            raise Refusal(401, "a bearer token is needed: codenib token create", **challenge)
        return row

    def _spend(self, key: str, rate: float, burst: float) -> None:
        """One request of a bucket that fills with `rate`."""
        if len(self._buckets) > _KEPT_BUCKETS:
            self._buckets.clear()
        self._buckets[key], wait_s = spend(self._buckets.get(key), time.monotonic(), rate, burst)
        if wait_s:
            wait = str(ceil(wait_s))
            raise Refusal(429, f"too many requests; wait {wait} s", **{"retry-after": wait})

    async def _body(self, scope: Scope, receive: Receive, most: int | None) -> bytes:
        """All of the body, within size and time."""
        limit = self._limits.body_bytes if most is None else most
        declared = Headers(scope=scope).get("content-length", "0")
        if declared.isascii() and declared.isdigit() and int(declared[:20]) > limit:
            raise Refusal(413, f"a request has at most {limit:,} bytes", connection="close")
        if scope["method"] != "POST":
            return b""
        parts = bytearray()
        try:
            with anyio.fail_after(self._limits.receive_s):
                while True:
                    message = await receive()
                    if message["type"] != "http.request":
                        raise Refusal(400, "the request ended early", connection="close")
                    parts += message.get("body", b"")
                    if len(parts) > limit:
                        raise Refusal(413, f"a request has at most {limit:,} bytes", connection="close")
                    if not message.get("more_body", False):
                        return bytes(parts)
        except TimeoutError:
            what = f"the request took more than {self._limits.receive_s:g} s"
            raise Refusal(408, what, connection="close") from None


def _is_page(scope: Scope) -> bool:
    """Whether it is for the pages; a repository that is called `ui` is asked by POST."""
    path: str = scope["path"]
    inside = path == PAGES or path.startswith(f"{PAGES}/")
    return inside and not (scope["method"] == "POST" and path.endswith("/mcp"))


def _method(body: bytes) -> str:
    """The method of a JSON-RPC request; empty where it is none."""
    try:
        return msgspec.json.decode(body, type=_Called).method[:100] if body else ""
    except UNDECODABLE:
        return ""


def _given(body: bytes, receive: Receive) -> Callable[[], Awaitable[Message]]:
    """A receiver that hands out the body, then whatever comes."""
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


def _takes_json(scope: Scope) -> bool:
    """Whether a request is one that the SDK would take, and its sender takes plain JSON for an answer."""
    headers = Headers(scope=scope)
    accepted = headers.get("accept", "")
    return (
        headers.get("content-type", "").split(";")[0].strip() == "application/json"
        and "application/json" in accepted
        and "text/event-stream" in accepted
    )


async def _refuse(refusal: Refusal, send: Send, unread: Receive | None = None) -> None:
    """Answer with the refusal; then take what is still coming of a body that is `unread`, within bounds."""
    body = msgspec.json.encode({"error": refusal.what})
    if unread is None:
        await _respond(refusal.status, body, refusal.headers, send)
        return
    await _begin(refusal.status, body, refusal.headers, send)
    taken = 0
    with anyio.move_on_after(_LINGER_S):
        while taken <= _LINGER_BYTES:
            message = await unread()
            taken += len(message.get("body", b""))
            if not message.get("more_body", False):
                break
    await send({"type": "http.response.body", "body": b""})


async def _respond(status: int, body: bytes, more: Mapping[str, str], send: Send) -> None:
    await _begin(status, body, more, send)
    await send({"type": "http.response.body", "body": b""})


async def _begin(status: int, body: bytes, more: Mapping[str, str], send: Send) -> None:
    """Send all of an answer, and leave its end to the caller."""
    headers = {"content-type": "application/json", "content-length": str(len(body)), **more}
    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": raw})
    await send({"type": "http.response.body", "body": body, "more_body": True})

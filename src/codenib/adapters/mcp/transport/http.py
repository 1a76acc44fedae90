"""Contexts of repositories in, a streamable HTTP server out: loopback unless told otherwise."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.types import Receive, Scope, Send

from codenib.adapters.mcp.admission import BuildAdmission
from codenib.adapters.mcp.budgets import ServerBudgets
from codenib.adapters.mcp.fleet_calls import FleetCalls
from codenib.adapters.mcp.fleet_server import build_fleet_server
from codenib.adapters.mcp.open_repositories import OpenRepositories
from codenib.adapters.mcp.record import CallRecord
from codenib.adapters.mcp.server import build_http_server, open_lanes
from codenib.adapters.mcp.server_context import ServerContext
from codenib.adapters.mcp.transport.accounts import Accounts
from codenib.adapters.mcp.transport.fleet_points import FLEET, question_sites
from codenib.adapters.mcp.transport.guard import Guard, Limits, Site
from codenib.adapters.mcp.transport.handshake import early_tools
from codenib.adapters.mcp.transport.listener import Listener, is_loopback
from codenib.adapters.mcp.transport.points import (
    ServicePoint,
    health_points,
    metrics_point,
    webhook_point,
)
from codenib.adapters.mcp.transport.tokens import AccessTokens
from codenib.adapters.mcp.turns import Requester
from codenib.adapters.observed.metrics import Metrics
from codenib.adapters.observed.spans import Spans, wants_spans
from codenib.core.errors import InputError, StateError
from codenib.fleet.catalogue.catalogue import Catalogue
from codenib.fleet.tenants.audit import AuditLog, AuditText
from codenib.fleet.tenants.fleets import GrantedFleets
from codenib.fleet.tenants.quota import DailyUsage
from codenib.learning.journal.tenants import TenantRecorders
from codenib.serving.shared_models import SharedModels


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
    metrics: bool = False  # for tokens that are for them
    webhook_secret: str = ""  # of the git server that tells of pushes; empty: nobody may
    audit: AuditText | None = None  # what the audit log has of questions; None: there is no log
    fleet: bool = False  # answer for the repositories of the catalogue, too, at /mcp and below /v1
    budgets: ServerBudgets = field(default_factory=ServerBudgets)
    reranker: str | None = None  # of `search`: the user's own choice, never a client's


class PageApp(Protocol):
    """Pages for browsers, which stream events until the server is `ending`."""

    ending: Callable[[], bool]
    cookie: str

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None: ...


class HttpServer:
    """A server of repositories, and of `pages` about them. `bind` says where; `run` serves until `stop`."""

    def __init__(
        self,
        contexts: Sequence[ServerContext],
        tokens: AccessTokens | None,
        settings: Settings,
        pages: PageApp | None = None,
    ) -> None:
        if tokens is None and not is_loopback(settings.host):
            hint = "codenib token create NAME --repo PATH"
            raise InputError(f"{settings.host} can be reached by others: tokens are needed there", hint=hint)
        self._contexts = contexts
        self._journals = [TenantRecorders(context.root) for context in contexts]
        self._tokens = tokens
        self._settings = settings
        self._pages = pages
        self._fleets = GrantedFleets(everything=tokens is None)
        audit = AuditLog(text=settings.audit) if settings.audit is not None else None
        budgets = settings.budgets
        self._lanes = open_lanes(budgets.patience_s)
        self._open = OpenRepositories(budgets.memory_bytes)
        self._builds = BuildAdmission(budgets.builds, self._calls_wait)
        self._models = SharedModels()
        for context in contexts:
            context.residency, context.admission = self._open, self._builds
            context.models, context.reranker = self._models, settings.reranker
        self._metrics = self._open_metrics() if settings.metrics else None
        self._spans = Spans() if wants_spans() else None
        observers: list[Callable[[CallRecord], None]] = []
        if self._metrics is not None:
            observers.append(self._metrics.count)
        if self._spans is not None:
            observers.append(self._spans.record)
        self._accounts = Accounts(DailyUsage() if tokens is not None else None, audit, observers)
        self._listener = Listener(settings.host, settings.port, command="codenib serve --http 127.0.0.1:0")

    def _open_metrics(self) -> Metrics:
        metrics = Metrics(self._lanes.items(), self._states)
        metrics.observe_memory(self._open)
        metrics.observe_builds(self._builds)
        metrics.observe_models(self._models)
        return metrics

    def bind(self) -> tuple[str, int]:
        """Take the port."""
        host, port = self._listener.bind()
        if self._pages is not None:
            self._pages.ending = lambda: self._listener.ending
            self._pages.cookie = f"codenib-{port}"  # cookies know no ports
        return host, port

    def run(self) -> None:
        """Serve until stopped or interrupted."""
        self.bind()
        try:
            asyncio.run(self._serve())
        finally:
            self._accounts.end()
            self._open.save()
            if self._spans is not None:
                self._spans.close()
            for journal in self._journals:
                journal.close()
            for context in self._contexts:
                context.close()
            self._fleets.close()

    def stop(self) -> None:
        """End `run`."""
        self._listener.stop()

    async def _serve(self) -> None:
        async with self._guarded() as guard:
            self._guard = guard
            for context in self._contexts:
                context.start()
            preload = asyncio.create_task(self._preload()) if self._settings.budgets.preloads else None
            try:
                await self._listener.serve(self._app)
            finally:
                if preload is not None:
                    preload.cancel()

    async def _preload(self) -> None:
        """Open what was asked often before this start, one after the other, behind the calls that come."""
        sites = {context.key: context for context in self._contexts}
        nobody = Requester("", urgency="background")
        for key in await asyncio.to_thread(self._open.preload, sites):
            with suppress(StateError):  # the server is busy: what is asked opens itself
                await self._lanes["calls"].run(nobody, sites[key].warm_up)

    def _calls_wait(self) -> bool:
        return any(turns.waiting for turns in self._lanes.values())

    async def _app(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._guard(scope, receive, send)

    @asynccontextmanager
    async def _guarded(self) -> AsyncIterator[Guard]:
        settings = self._settings
        async with AsyncExitStack() as stack:
            early = partial(early_tools, all_tools=settings.all_tools)
            sites: list[Site] = []
            for context, journals in zip(self._contexts, self._journals, strict=True):
                server, busy = build_http_server(
                    context,
                    all_tools=settings.all_tools,
                    structured=settings.structured,
                    lanes=self._lanes,
                    journals=journals,
                )
                # Stateless: no session outlives its request, so there is none to steal or to fill memory.
                manager = StreamableHTTPSessionManager(server, stateless=True)
                await stack.enter_async_context(manager.run())
                sites.append(Site(context.root, manager.asgi_app, context.name, early, busy_s=busy))
            common: dict[str, Site] = {}
            if settings.fleet:
                calls = FleetCalls(self._fleets.of, self._lanes)
                manager = StreamableHTTPSessionManager(build_fleet_server(calls), stateless=True)
                await stack.enter_async_context(manager.run())
                common = {"/mcp": Site(FLEET, manager.asgi_app, "fleet"), **question_sites(calls)}
            names = self._listener.names(settings.hosts, settings.origins)
            yield Guard(
                sites,
                self._tokens,
                names=names,
                limits=settings.limits,
                accounts=self._accounts,
                pages=self._pages,
                points=self._points(),
                common=common,
            )

    def _states(self) -> list[str]:
        return [context.state for context in self._contexts]

    def _points(self) -> dict[str, ServicePoint]:
        points = health_points(self._states)
        if self._metrics is not None:
            points |= metrics_point(self._metrics.text)
        if self._settings.webhook_secret:
            points |= webhook_point(self._settings.webhook_secret, Catalogue.open, self._builds)
        return points

"""Addresses of a server beside its repositories: health, metrics, and the webhook that brings mirrors up."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from codenib.adapters.logs import log_event
from codenib.adapters.mcp.admission import FETCH, BuildAdmission
from codenib.core.errors import CodenibError, InputError
from codenib.fleet.catalogue.catalogue import Catalogue
from codenib.fleet.catalogue.sync import sync_all
from codenib.fleet.catalogue.webhook import WebhookRefused, pushed_entries

HEALTH, READY, METRICS, WEBHOOK = "/healthz", "/readyz", "/metrics", "/hooks/push"
_log = logging.getLogger("codenib")
#: Of an event: GitHub's are 25 MB at most, those of a push some kilobytes, and nobody has been checked yet.
_EVENT_BYTES = 2_000_000


@dataclass(frozen=True, slots=True)
class ServicePoint:
    """An address: what answers, to which method, to whom. A `signed` request carries its own proof."""

    app: ASGIApp
    method: str = "GET"
    access: Literal["anyone", "metrics", "signed"] = "anyone"
    body_bytes: int = 0


def health_points(states: Callable[[], Sequence[str]]) -> dict[str, ServicePoint]:
    """Whether the process answers, and whether every repository does. Neither says which there are."""

    async def alive(scope: Scope, receive: Receive, send: Send) -> None:
        await _json({"status": "ok"}, 200)(scope, receive, send)

    async def ready(scope: Scope, receive: Receive, send: Send) -> None:
        good = all(state in ("ready", "failed") for state in states())  # a failed one says why when asked
        await _json({"status": "ready" if good else "starting"}, 200 if good else 503)(scope, receive, send)

    return {HEALTH: ServicePoint(alive), READY: ServicePoint(ready)}


def metrics_point(text: Callable[[], bytes]) -> dict[str, ServicePoint]:
    """What Prometheus reads, for tokens that are for it."""

    async def metrics(scope: Scope, receive: Receive, send: Send) -> None:
        response = Response(text(), media_type="text/plain; version=0.0.4; charset=utf-8")
        await response(scope, receive, send)

    return {METRICS: ServicePoint(metrics, access="metrics")}


def webhook_point(
    secret: str, catalogue: Callable[[], Catalogue], builds: BuildAdmission
) -> dict[str, ServicePoint]:
    """Where a git server tells of a push: its repositories are fetched beside the answer.

    The answer never says whether there was one: who knows the secret may still not know the catalogue.
    """
    fetching = threading.Lock()

    def fetch(names: Catalogue, entries: Sequence[object]) -> None:
        with fetching, builds.admitted(FETCH):  # one after the other: a burst of events is one exchange each
            try:
                for outcome in sync_all(names, entries):  # type: ignore[arg-type]
                    log_event(f"fetched {outcome.name}", state=outcome.state, moved=len(outcome.moved))
            except (CodenibError, OSError) as error:
                _log.error("a push could not be followed: %s", error)

    async def pushed(scope: Scope, receive: Receive, send: Send) -> None:
        body = await Request(scope, receive).body()
        try:
            known = catalogue()
            entries = pushed_entries(known, body, Headers(scope=scope), secret)
        except WebhookRefused as error:
            await _json({"error": error.message}, 401)(scope, receive, send)
            return
        except InputError as error:
            await _json({"error": error.message}, 400)(scope, receive, send)
            return
        if entries:
            threading.Thread(target=fetch, args=(known, entries), name="follow push", daemon=True).start()
        await _json({"status": "accepted"}, 202)(scope, receive, send)

    return {WEBHOOK: ServicePoint(pushed, "POST", "signed", _EVENT_BYTES)}


def _json(value: object, status: int) -> Response:
    return Response(msgspec.json.encode(value), status, media_type="application/json")

"""What a server learns of one request while it answers: filled in by who knows, written down at its end."""

from __future__ import annotations

import time
from collections.abc import MutableMapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from codenib.adapters.logs import CLIENT_KEY, RECORD_KEY, REQUEST_KEY
from codenib.adapters.mcp.turns import Requester
from codenib.fleet.scheduler.fair import Urgency
from codenib.fleet.tenants.grant import EVERYTHING, Grant

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

#: Who asks where nobody needs a token.
ANYBODY = Grant(repositories=(EVERYTHING,))


@dataclass(slots=True)
class CallRecord:
    """One request: who asks, of what, and what came of it."""

    request: str = ""
    grant: Grant = ANYBODY
    token: str = ""  # its id
    method: str = ""
    tool: str = ""
    repository: str = ""
    asked: str = ""
    outcome: str = ""
    plan: str = ""
    tokens: int = 0
    waited_s: float = 0.0  # for its turn
    served_s: float = 0.0  # that its turn took
    urgency: Urgency = "interactive"
    began: float = field(default_factory=time.monotonic)
    status: int = 0

    @property
    def seconds(self) -> float:
        """Since it came."""
        return time.monotonic() - self.began


def record_of(scope: MutableMapping[str, Any]) -> CallRecord:
    """The record of the request that has these values; one that nobody reads where there is none."""
    found = scope.get(RECORD_KEY)
    return found if isinstance(found, CallRecord) else CallRecord()


def scope_of(request: ServerRequestContext[Any, Any]) -> MutableMapping[str, Any]:
    """What the transport says of a request; over standard input nothing."""
    scope: MutableMapping[str, Any] = getattr(request.request, "scope", {})
    return scope


def requester_of(scope: MutableMapping[str, Any]) -> Requester:
    """Who asks, as the transport knows it; over standard input there is one client."""
    record = record_of(scope)
    return Requester(str(scope.get(CLIENT_KEY, "")), record.grant.tenant, record.urgency)


def request_name(scope: MutableMapping[str, Any], own: object = "") -> str:
    """The id that the log of HTTP has for a request, or the client's own number."""
    return str(scope.get(REQUEST_KEY) or own)


def written_arguments(arguments: dict[str, Any] | None) -> str:
    """What was asked, as the audit log has it."""
    return msgspec.json.encode(arguments or {}).decode("utf-8", "replace")

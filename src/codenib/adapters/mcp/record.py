"""What a server learns of one request while it answers: filled in by who knows, written down at its end."""

from __future__ import annotations

import time
from collections.abc import MutableMapping
from dataclasses import dataclass, field
from typing import Any

from codenib.adapters.logs import RECORD_KEY
from codenib.fleet.scheduler.fair import Urgency
from codenib.fleet.tenants.grant import EVERYTHING, Grant

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

"""Questions to many repositories in, their answers out: each in its asker's turn, from its token's fleet."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, MutableMapping
from typing import Any, TypeVar

import anyio

from codenib.adapters.logs import log_event
from codenib.adapters.mcp.record import record_of, request_name, requester_of
from codenib.adapters.mcp.server import Lanes
from codenib.adapters.mcp.tools.tool import Lane
from codenib.core.errors import CodenibError, StateError, fault_of
from codenib.core.views import ViewKind
from codenib.fleet.search.fleet import Fleet
from codenib.fleet.tenants.grant import Grant

ResultT = TypeVar("ResultT")
#: The fleet that a grant may ask.
FleetOf = Callable[[Grant], Fleet]
_CALL_S = 120.0
_log = logging.getLogger("codenib")


class FleetCalls:
    """Runs questions to fleets in the turns of a server."""

    def __init__(self, fleet_of: FleetOf, lanes: Lanes) -> None:
        self._fleet_of = fleet_of
        self.lanes = lanes

    async def run(
        self,
        scope: MutableMapping[str, Any],
        name: str,
        ask: Callable[[Fleet], ResultT],
        *,
        needs: ViewKind | None = None,
        lane: Lane = "calls",
    ) -> ResultT:
        """What `ask` answers of the asker's fleet; what goes wrong is a `CodenibError`.

        `scope` is what the transport says of the request, whose record this fills in.
        """
        record, asker, queued = record_of(scope), requester_of(scope), time.monotonic()
        record.tool = name
        views = record.grant.view_kinds
        if needs is not None and views is not None and needs not in views:
            raise StateError(f"this token is not for the {needs} view", hint="codenib token create --view")

        def work() -> ResultT:
            began = time.monotonic()
            record.waited_s = began - queued
            try:
                return ask(self._fleet_of(record.grant))
            except CodenibError:
                raise
            except OSError as error:
                raise fault_of(error) from error
            except Exception as error:
                _log.exception("%s failed", name)
                what = f"internal error: {type(error).__name__}: {error}"
                raise CodenibError(what, hint="codenib doctor") from error
            finally:
                record.served_s = time.monotonic() - began

        try:
            with anyio.move_on_after(_CALL_S):
                answer = await self.lanes[lane].run(asker, work)
                record.outcome = "answered"
                return answer
            raise StateError(f"{name} took more than {_CALL_S:.0f} s", hint="narrow the question")
        except CodenibError:
            record.outcome = "failed"
            raise
        except anyio.get_cancelled_exc_class():
            record.outcome = "cancelled"
            raise
        finally:
            took = round((time.monotonic() - queued) * 1000)
            log_event(f"fleet {name} {record.outcome}", request=request_name(scope), ms=took)

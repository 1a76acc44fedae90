"""Calls of one repository over HTTP in, the recorder of whoever asks out: each tenant has its own journal.

HTTP has no sessions here, so that the calls of one client belong together until it is silent for half an
hour. A client is a token, or an address where nobody needs one; neither is written down.
"""

from __future__ import annotations

import time
from pathlib import Path

from codenib.learning.journal.recorder import SessionRecorder, new_session
from codenib.snapshot.repository import locate

_SILENT_S = 1800.0
_MOST_CLIENTS = 10_000


class TenantRecorders:
    """The recorders of one repository of a server. Nothing is opened or written before somebody consents."""

    def __init__(self, path: Path) -> None:
        self._repository = locate(path)
        self._recorders: dict[str, SessionRecorder] = {}
        self._sessions: dict[tuple[str, str], tuple[float, str]] = {}  # by client: the last call, its session

    def of(self, tenant: str, client: str, *, now: float | None = None) -> tuple[SessionRecorder, str]:
        """What records the calls of a tenant, and the session that this client's next call is part of."""
        if tenant not in self._recorders:
            self._recorders[tenant] = SessionRecorder(self._repository, over_http=True, tenant=tenant)
        return self._recorders[tenant], self._session(
            tenant, client, time.monotonic() if now is None else now
        )

    def close(self) -> None:
        """Write what waits."""
        for recorder in self._recorders.values():
            recorder.close()

    def _session(self, tenant: str, client: str, now: float) -> str:
        last, session = self._sessions.get((tenant, client), (now, ""))
        if not session or now - last > _SILENT_S:
            session = new_session()
        if len(self._sessions) >= _MOST_CLIENTS:
            self._sessions.clear()
        self._sessions[tenant, client] = (now, session)
        return session

"""Requests that ended in, tokens of the day and lines of the audit log out."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence

from codenib.adapters.mcp.record import CallRecord
from codenib.adapters.mcp.transport.tokens import TokenRow
from codenib.fleet.tenants.audit import AuditLog, AuditRow
from codenib.fleet.tenants.quota import DailyUsage

_REFUSED_S = 1.0
_TOKENS = 10_000
_log = logging.getLogger("codenib")


class Accounts:
    """What is written down of requests. Without `audit` no log is, without `usage` no token has a day."""

    def __init__(
        self,
        usage: DailyUsage | None = None,
        audit: AuditLog | None = None,
        observers: Sequence[Callable[[CallRecord], None]] = (),
    ) -> None:
        self._observers = observers
        self._usage = usage
        self._audit = audit
        self._began = time.monotonic()
        self._failed = False
        self._refused: dict[str, tuple[float, int]] = {}  # by token: when one was written, how many since

    def wait_s(self, row: TokenRow) -> float:
        """How long until a token has tokens again; 0: it has."""
        return self._usage.wait_s(row.id, row.tokens_per_day) if self._usage is not None else 0.0

    def close(self, record: CallRecord) -> None:
        """Write a request down; it was answered or refused, or its client is gone."""
        if not record.outcome:
            record.outcome = _outcome(record.status)
        if self._usage is not None and record.token and self._usage.add(record.token, record.tokens):
            threading.Thread(target=self._save, name="save usage", daemon=True).start()
        for observe in self._observers:
            observe(record)
        if self._audit is not None and record.token:
            self._audit_row(self._audit, record)

    def end(self) -> None:
        """Write down what is not yet."""
        if self._usage is not None:
            self._save()
        if self._audit is not None:
            self._audit.close()

    def _save(self) -> None:
        assert self._usage is not None
        try:
            self._usage.save()
        except OSError as error:
            _log.warning("the tokens of the day cannot be written down: %s", error)

    def _audit_row(self, audit: AuditLog, record: CallRecord) -> None:
        """Write a row; of a token's refusals one a second, or it could push all other rows out."""
        since = 0
        if record.outcome == "refused":
            at, since = self._refused.get(record.token, (0.0, 0))
            now = time.monotonic()
            if at and now - at < _REFUSED_S:
                self._refused[record.token] = (at, since + 1)
                return
            if len(self._refused) > _TOKENS:
                self._refused.clear()
            self._refused[record.token] = (now, 0)
        self._write(audit, record, since)

    def _write(self, audit: AuditLog, record: CallRecord, more: int) -> None:
        row = AuditRow(
            time=round(time.time(), 3),
            request=record.request,
            outcome=record.outcome,
            status=record.status,
            tenant=record.grant.tenant,
            token=record.token,
            method=record.method,
            tool=record.tool,
            repository=record.repository,
            asked=record.asked,
            arrived_s=round(record.began - self._began, 6),
            waited_ms=round(record.waited_s * 1000, 3),
            served_ms=round(record.served_s * 1000, 3),
            ms=round(record.seconds * 1000, 3),
            tokens=record.tokens,
            plan=record.plan,
            more=more,
        )
        try:
            audit.write(row)
        except OSError as error:  # a full disk ends no answer; the log of the server says so once
            if not self._failed:
                _log.error("the audit log cannot be written: %s", error)
            self._failed = True
        else:
            self._failed = False


def _outcome(status: int) -> str:
    """
    >>> _outcome(200), _outcome(404), _outcome(0)
    ('answered', 'refused', 'cancelled')
    """
    return "answered" if status in (200, 202) else "refused" if status else "cancelled"

"""Events of a process that runs long in, lines with time and request out, as text or as JSON."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime
from typing import Any, Literal, TextIO

from codenib.core.text.printable import escape_controls

LogFormat = Literal["text", "json"]
#: Where an HTTP request's own values have the id that its log line has.
REQUEST_KEY = "codenib.request"
#: Where they have who asks: a token's id, or an address.
CLIENT_KEY = "codenib.client"
#: Where they have what is written down of it at its end.
RECORD_KEY = "codenib.record"
_FACTS = "codenib_facts"
_log = logging.getLogger("codenib")


def start_log(form: LogFormat, stream: TextIO) -> None:
    """Write what is logged from now on to `stream`, and to nothing else."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(_Json() if form == "json" else _Text())
    _log.handlers[:] = [handler]
    _log.propagate = False
    _log.setLevel(min(_log.level or logging.INFO, logging.INFO))  # --verbose has asked for more


def log_event(message: str, **facts: Any) -> None:
    """Log one event; facts stand behind it as `name=value`, or as keys of their own."""
    _log.info("%s", message, extra={_FACTS: facts})


def _time(record: logging.LogRecord) -> str:
    """
    >>> _time(logging.makeLogRecord({"created": 0.25}))
    '1970-01-01T00:00:00.250Z'
    """
    written = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
    return written.replace("+00:00", "Z")


def _in_line(value: object) -> str:
    """What a client or a repository wrote, without what would drive a terminal or begin another line."""
    return escape_controls(str(value)).replace("\r", "\\r").replace("\n", "\\n")


class _Text(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        facts = [f"{name}={_in_line(value)}" for name, value in getattr(record, _FACTS, {}).items()]
        level = [] if record.levelno == logging.INFO else [record.levelname.lower()]
        line = " ".join([_time(record), *level, _in_line(record.getMessage()), *facts])
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


class _Json(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        row = {"time": _time(record), "level": record.levelname.lower(), "message": record.getMessage()}
        row |= getattr(record, _FACTS, {})
        if record.exc_info:
            row["trace"] = self.formatException(record.exc_info)
        return json.dumps(row, ensure_ascii=False)

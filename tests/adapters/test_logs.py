"""Logs: events in, lines with time and request out."""

from __future__ import annotations

import io
import json
import logging
import re
from collections.abc import Iterator

import pytest

from codenib.adapters.logs import log_event, start_log


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    log = logging.getLogger("codenib")
    handlers, level, propagate = log.handlers[:], log.level, log.propagate
    yield
    log.handlers[:], log.propagate = handlers, propagate
    log.setLevel(level)


def test_a_line_has_its_time_and_its_facts() -> None:
    out = io.StringIO()
    start_log("text", out)
    log_event("search answered", request="1f", ms=12)
    logging.getLogger("codenib").debug("not asked for")

    assert re.fullmatch(
        r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z search answered request=1f ms=12\n", out.getvalue()
    )


def test_no_fact_drives_a_terminal_or_begins_a_line() -> None:
    out = io.StringIO()
    start_log("text", out)
    log_event("search answered", tool="x\x1b[2J\n2026 forged\u202e")

    assert out.getvalue().count("\n") == 1 and "\x1b" not in out.getvalue() and "\u202e" not in out.getvalue()


def test_json_lines_hold_the_same_as_keys_and_a_trace_stays_one_line() -> None:
    out = io.StringIO()
    start_log("json", out)
    log_event("search answered", request="1f", ms=12)
    try:
        raise ValueError("what")
    except ValueError:
        logging.getLogger("codenib").exception("search failed")

    first, second = map(json.loads, out.getvalue().splitlines())
    assert {"level": "info", "message": "search answered", "request": "1f", "ms": 12}.items() <= first.items()
    assert (second["level"], second["message"]) == ("error", "search failed")
    assert "ValueError: what" in second["trace"]

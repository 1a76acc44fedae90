"""Skipped tests in, a report of what was skipped and why out; where tools are required, failures instead.

A test skips itself when something that it drives is not installed. On a developer's machine that is fine, and
the end of the run lists it. CI installs every engine and sets CODENIB_TOOLS=required: there a skip is a
failure, except for the reasons in `NOT_ENGINES`.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Generator

import pytest

#: What may be missing in CI too: the pattern of a skip's reason, and why it may be.
NOT_ENGINES = {
    r"^zoekt is not installed": "an optional peer of the trigram view; the Go module proxy may refuse it",
    r"codenib-views\[models\]": "torch and sentence-transformers are gigabytes",
    r"(transformers|sentence-transformers) is installed": "tests of what is said without those libraries",
    r"needs Linux|Linux's": "another operating system",
}


def is_required() -> bool:
    """Whether a missing engine is a failure."""
    return os.environ.get("CODENIB_TOOLS") == "required"


def may_be_missing(reason: str) -> bool:
    """Whether a test may be skipped for this reason even where engines are required."""
    return any(re.search(pattern, reason) for pattern in NOT_ENGINES)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.skipped and not hasattr(report, "wasxfail"):
        reason = _reason(report)
        if is_required() and not may_be_missing(reason):
            report.outcome = "failed"
            report.longrepr = f"{reason} (CODENIB_TOOLS=required: nothing may be missing)"
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    counts = Counter(_reason(report) for report in terminalreporter.getreports("skipped"))
    if counts:
        terminalreporter.section("skipped tests, by reason")
    for reason, count in sorted(counts.items()):
        terminalreporter.line(f"{count:5d}  {reason}")


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return " ".join(text.removeprefix("Skipped: ").split())

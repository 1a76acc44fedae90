"""Progress for people."""

from __future__ import annotations

import io
import sys

import pytest

from codenib.adapters.cli.output import ProgressDisplay


class Closed(io.StringIO):
    """A pipe whose reader has gone."""

    writes = 0

    def write(self, text: str) -> int:
        self.writes += 1
        raise BrokenPipeError


def test_progress_that_nobody_reads_ends_and_the_work_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    closed = Closed()
    monkeypatch.setattr(sys, "stderr", closed)
    with ProgressDisplay() as progress:
        progress("reading", 2, 2)
        tried = closed.writes
        progress("reading", 2, 2)
    assert closed.writes == tried > 0

"""Skips of a run of its own: listed on a developer's machine, failures where engines are required."""

from __future__ import annotations

import pytest

SKIPS = """
import pytest

def test_an_engine():
    pytest.skip("go-facts is not installed")

def test_a_peer():
    pytest.skip("zoekt is not installed: make zoekt")

@pytest.mark.xfail
def test_expected():
    assert False
"""


@pytest.fixture
def run_skips(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makepyfile(SKIPS)
    return pytester


def test_skips_are_listed_by_reason(run_skips: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CODENIB_TOOLS", raising=False)
    result = run_skips.runpytest("-p", "tests.skipped")
    result.assert_outcomes(skipped=2, xfailed=1)
    result.stdout.fnmatch_lines(["    1  go-facts is not installed", "    1  zoekt is not installed: *"])


def test_a_missing_engine_fails_where_engines_are_required(
    run_skips: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODENIB_TOOLS", "required")
    result = run_skips.runpytest("-p", "tests.skipped")
    result.assert_outcomes(failed=1, skipped=1, xfailed=1)
    result.stdout.fnmatch_lines(["go-facts is not installed (CODENIB_TOOLS=required*"])

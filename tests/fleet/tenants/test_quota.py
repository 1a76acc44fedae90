"""Quotas: no interval has more requests than rate and burst allow, and a day's tokens outlive the server."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from codenib.fleet.tenants.quota import Bucket, DailyUsage, spend


@given(st.lists(st.floats(0, 10), min_size=1, max_size=60), st.floats(0.1, 50), st.integers(1, 20))
def test_no_interval_has_more_requests_than_the_rate_and_a_burst(
    gaps: list[float], rate: float, burst: int
) -> None:
    bucket: Bucket | None = None
    now, passed = 0.0, []
    for gap in gaps:
        now += gap
        bucket, wait_s = spend(bucket, now, rate, burst)
        if wait_s == 0:
            passed.append(now)
        else:  # who waits as told passes
            assert spend(bucket, now + wait_s * (1 + 1e-9) + 1e-9, rate, burst)[1] == 0
    for first in range(len(passed)):
        for last in range(first, len(passed)):
            assert last - first + 1 <= burst + (passed[last] - passed[first]) * rate + 1e-6


def test_the_tokens_of_a_day_outlive_the_server_and_end_at_midnight(tmp_path: Path) -> None:
    now = [86_400.0 * 100 + 86_000]
    usage = DailyUsage(tmp_path / "usage.json", lambda: now[0])
    usage.add("a", 700)
    assert usage.wait_s("a", 1000) == 0
    usage.add("a", 400)
    assert usage.wait_s("a", 1000) == 400  # until midnight
    assert usage.wait_s("b", 1000) == 0
    assert usage.wait_s("a", None) == 0
    usage.save()
    again = DailyUsage(tmp_path / "usage.json", lambda: now[0])
    assert (again.used("a"), again.wait_s("a", 1000)) == (1100, 400)
    now[0] += 400
    assert (again.used("a"), again.wait_s("a", 1000)) == (0, 0)


def test_a_damaged_file_takes_nothing_from_anybody(tmp_path: Path) -> None:
    (tmp_path / "usage.json").write_bytes(b"\xff{")
    assert DailyUsage(tmp_path / "usage.json").used("a") == 0

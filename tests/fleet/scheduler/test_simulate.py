"""Replays: every call is answered or refused, no slot is idle while calls wait."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from codenib.adapters.cli.main import cli
from codenib.core.errors import InputError
from codenib.fleet.scheduler.simulate import Machine, SimulatedPolicy, simulate
from codenib.fleet.scheduler.trace import (
    RecordedCall,
    RepositoryCost,
    Scale,
    Trace,
    grown,
    read_trace,
    trace_of,
    write_trace,
)
from codenib.fleet.tenants.audit import AuditRow


def _trace(rows: list[tuple[float, str, str, float]], open_s: float = 0.0) -> Trace:
    calls = tuple(
        RecordedCall(at, tenant, repository, "search", cost) for at, tenant, repository, cost in rows
    )
    return Trace(calls, {call.repository: RepositoryCost(100.0, open_s) for call in calls})


_CALLS = st.lists(
    st.tuples(st.floats(0, 20), st.sampled_from("ab"), st.sampled_from("xyz"), st.floats(0.001, 2)),
    min_size=1,
    max_size=60,
).map(sorted)


@given(_CALLS, st.sampled_from(["fair", "fifo"]), st.integers(1, 4))
def test_every_call_is_answered_and_no_slot_is_idle_while_calls_wait(
    rows: list[tuple[float, str, str, float]], order: str, slots: int
) -> None:
    policy = SimulatedPolicy(order="fair" if order == "fair" else "fifo", sheds=False)
    came = simulate(_trace(rows), policy, Machine(slots))
    other = simulate(_trace(rows), SimulatedPolicy("fifo", sheds=False), Machine(slots))
    assert came.refused == 0
    assert came == simulate(_trace(rows), policy, Machine(slots))  # deterministic
    if slots == 1:  # work-conserving: with one slot the end of all work is the same in whatever order
        assert came.busy == pytest.approx(other.busy)
    assert came.p99_s >= min(cost for _, _, _, cost in rows) - 1e-9


def test_a_greedy_tenant_does_not_make_another_wait_where_turns_are_fair() -> None:
    rows = [(0.0, "greedy", "x", 0.1)] * 200 + [(0.5 * at, "modest", "x", 0.1) for at in range(10)]
    trace = _trace(sorted(rows))
    modest = _trace([row for row in sorted(rows) if row[1] == "modest"])
    fair = simulate(trace, SimulatedPolicy(sheds=False), Machine(1))
    fifo = simulate(trace, SimulatedPolicy("fifo", sheds=False), Machine(1))
    alone = simulate(modest, SimulatedPolicy(), Machine(1))
    assert alone.p99_s == pytest.approx(0.1)
    assert fair.tenants_p99_s["modest"] < 0.35
    assert fifo.tenants_p99_s["modest"] > 10
    assert fair.busy == pytest.approx(fifo.busy)


def test_before_collapse_calls_are_refused_and_the_others_wait_no_longer_than_they_may() -> None:
    calm = [(float(at), "a", "x", 1.0) for at in range(60)]  # what a call takes is known after those
    trace = _trace([*calm, *[(100.0, "a", "x", 1.0)] * 100])
    kept = simulate(trace, SimulatedPolicy(), Machine(2, patience_s=5.0))
    whole = simulate(trace, SimulatedPolicy(sheds=False), Machine(2, patience_s=5.0))
    assert whole.p99_s > 48
    assert (kept.refused > 80, kept.p99_s < 7) == (True, True)


def test_a_repository_that_is_not_open_costs_its_opening() -> None:
    trace = _trace([(float(at), "a", "xy"[at % 2], 0.1) for at in range(20)], open_s=0.5)
    small = simulate(trace, SimulatedPolicy(), Machine(1, memory_bytes=100))
    large = simulate(trace, SimulatedPolicy(), Machine(1, memory_bytes=200))
    assert (small.hit_rate, small.most_bytes) == (0.0, 100.0)
    assert (large.hit_rate, large.most_bytes) == (0.9, 200.0)
    assert small.p50_s == pytest.approx(0.6) and large.p50_s == pytest.approx(0.1)


def test_a_grown_trace_has_so_many_calls_in_the_same_time_and_only_measured_costs() -> None:
    trace = _trace([(float(at), "a", "xyz"[at % 3], 0.1 + at / 100) for at in range(30)])
    more = grown(trace, Scale(10, 50))
    assert len(more.calls) == 300 and len(more.repositories) == 50
    assert more.seconds <= trace.seconds
    assert {call.cost_s for call in more.calls} == {call.cost_s for call in trace.calls}
    assert grown(trace, Scale(1)).calls == trace.calls


def test_costs_are_those_of_the_audit_log() -> None:
    def row(at: float, repository: str, served_ms: float, tool: str = "search") -> AuditRow:
        return AuditRow(
            time=at,
            request="",
            outcome="answered",
            tool=tool,
            repository=repository,
            served_ms=served_ms,
            ms=1.0,
        )

    rows = [row(1, "/x", 300), row(2, "/x", 100), row(3, "/x", 100), row(4, "/gone", 5), row(5, "/x", 0, "")]
    trace = trace_of(rows, {"/x": 1e6})
    assert [call.cost_s for call in trace.calls] == [0.3, 0.1, 0.1]
    assert (trace.repositories["/x"].size_bytes, round(trace.repositories["/x"].open_s, 6)) == (1e6, 0.2)
    with pytest.raises(InputError, match="no call with a cost"):
        trace_of(rows, {})


def test_the_command_replays_a_recorded_trace_without_names(tmp_path: Path) -> None:
    trace = _trace([(at / 10, "acme", f"/srv/{'xyz'[at % 3]}", 0.01) for at in range(60)], open_s=0.05)
    write_trace(trace, tmp_path / "trace.json")
    assert (
        "acme" not in (tmp_path / "trace.json").read_text()
        and "/srv" not in (tmp_path / "trace.json").read_text()
    )
    assert len(read_trace(tmp_path / "trace.json").calls) == 60
    words = ["fleet", "simulate", "--trace", str(tmp_path / "trace.json"), "--repositories", "300"]
    printed = CliRunner().invoke(cli, [*words, "--memory-mb", "0.001"], catch_exceptions=False).output
    assert "60 calls" in printed and "100x     300  fair, greedy-dual" in printed
    assert printed.count("fair, lru") == 5

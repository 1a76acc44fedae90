"""The account of a run."""

from __future__ import annotations

import pytest

from codenib.core.errors import InputError
from codenib.runtime.context.messages import Message, Reply, Usage
from codenib.runtime.traces.usage import Price, UsageTracker

SAYS = Message("assistant", "x")


def test_the_sum_is_what_was_reported_broken_attempts_included() -> None:
    tracker = UsageTracker()
    tracker.add(Reply(SAYS, "end", Usage(100, 10, 60, 5), seconds=1.5), "turn")
    tracker.add(Reply(SAYS, "end", Usage(200, 20), wasted=Usage(200, 1)), "answer-format")
    report = tracker.report()
    assert (report.prompt, report.completion, report.cached, report.written) == (500, 31, 60, 5)
    assert (report.total, report.invocations, report.answer_format, report.seconds) == (531, 2, 1, 1.5)
    assert report.cost is None


def test_a_reply_without_usage_makes_the_sum_a_lower_bound() -> None:
    tracker = UsageTracker()
    tracker.add(Reply(SAYS, "end", None), "turn")
    assert tracker.report().unreported == 1


def test_the_retained_history_example_of_the_paper() -> None:
    """An observation of 100 tokens after invocation 2 is paid for in prompts 3 to 6."""
    tracker = UsageTracker()
    for invocation in range(1, 7):
        tracker.add(Reply(SAYS, "end", Usage(1000 + (100 if invocation > 2 else 0))), "turn")
    assert tracker.report().prompt - 6 * 1000 == 400


def test_a_price_is_the_callers_and_what_the_endpoint_says_goes_first() -> None:
    price = Price.parse("3,15,0.3,3.75")
    usage = Usage(1_000_000, 100_000, 600_000, 200_000)
    assert price.of(usage) == pytest.approx(0.2 * 3 + 0.6 * 0.3 + 0.2 * 3.75 + 0.1 * 15)
    assert Price.parse("3,15").of(usage) == pytest.approx(3 + 1.5)
    tracker = UsageTracker(price)
    tracker.add(Reply(SAYS, "end", Usage(10, 1, cost=0.5)), "turn")
    assert tracker.report().cost == 0.5


@pytest.mark.parametrize("text", ["", "3", "a,b", "1,2,3,4,5", "-1,2"])
def test_what_is_no_price_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="is no price"):
        Price.parse(text)

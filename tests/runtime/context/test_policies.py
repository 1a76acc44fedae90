"""Policies decide from what was seen, and say why."""

from __future__ import annotations

import pytest

from codenib.core.errors import InputError
from codenib.runtime.context.messages import Message, ToolCall
from codenib.runtime.context.policies import (
    POLICIES,
    Adaptive,
    Compact,
    Eager,
    GrepRead,
    HistoryState,
    Start,
    policy_of,
)

START = Start("issue", ["a.py", "b.py"], 3000)


def seen(path: str | None, *, tokens: int, kept: int, turn: int = 2) -> HistoryState:
    history = [Message("system", "s"), Message("user", "q")]
    if path is not None:
        call = ToolCall("1", "read", {"path": path})
        history += [Message("assistant", "", (call,)), Message("tool", "text", call_id="1")]
    return HistoryState(history, ["a.py", "b.py"], turn, 16, tokens, kept)


def test_grep_read_never_delivers_and_never_rewrites() -> None:
    policy = GrepRead()
    assert not policy.wants_candidates
    assert not policy.begin(START).yes
    assert not policy.after_batch(seen("a.py", tokens=90_000, kept=10)).yes


def test_eager_delivers_and_never_rewrites() -> None:
    policy = Eager()
    assert policy.begin(START).yes
    assert not policy.after_batch(seen("a.py", tokens=90_000, kept=10)).yes


def test_compact_delivers_and_rewrites_with_the_first_successful_read() -> None:
    policy = Compact()
    assert policy.begin(START).yes
    assert not policy.after_batch(seen(None, tokens=90_000, kept=10)).yes
    assert policy.after_batch(seen("a.py", tokens=20, kept=10)).yes


def test_adaptive_delivers_nothing_when_nothing_was_found() -> None:
    decision = Adaptive().begin(Start("issue", [], 0))
    assert (decision.yes, decision.like) == (False, "grep_read")


@pytest.mark.parametrize(
    ("path", "tokens", "turn", "rewrites"),
    [
        (None, 90_000, 2, False),  # no read yet
        ("a.py", 6_000, 2, False),  # confirms a candidate, and the history is small
        ("a.py", 30_000, 2, True),  # so much that one more turn pays
        ("c.py", 6_000, 2, True),  # the candidates did not help, many turns are left
        ("c.py", 6_000, 15, False),  # too late to pay
        ("c.py", 1_500, 2, False),  # too small to pay
    ],
)
def test_adaptive_rewrites_when_that_is_likely_to_pay(
    path: str | None, tokens: int, turn: int, rewrites: bool
) -> None:
    decision = Adaptive().after_batch(seen(path, tokens=tokens, kept=1_000, turn=turn))
    assert decision.yes is rewrites
    assert decision.like == ("compact" if rewrites else "eager")
    assert decision.why


def test_policies_are_found_by_name() -> None:
    assert [policy_of(name).name for name in POLICIES] == list(POLICIES)
    with pytest.raises(InputError, match="unknown policy"):
        policy_of("lazy")

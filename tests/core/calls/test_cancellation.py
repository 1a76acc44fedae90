"""A call that is given up ends what it can end at once, and raises where it looks next."""

from __future__ import annotations

import pytest

from codenib.core.calls.cancellation import (
    CALL,
    CallCancelled,
    Cancellation,
    check_cancelled,
    ended_by_cancellation,
)


def test_without_a_call_nothing_is_cancelled() -> None:
    check_cancelled()
    with ended_by_cancellation(lambda: pytest.fail("nobody cancelled")):
        check_cancelled()


def test_a_call_that_is_given_up_raises_and_runs_its_actions_once() -> None:
    call, ended = Cancellation(), list[str]()
    token = CALL.set(call)
    try:
        with ended_by_cancellation(lambda: ended.append("before")):
            pass
        with ended_by_cancellation(lambda: ended.append("inside")):
            call.cancel()
            call.cancel()
            with pytest.raises(CallCancelled):
                check_cancelled()
        assert ended == ["inside"]
        with pytest.raises(CallCancelled), ended_by_cancellation(lambda: ended.append("after")):
            pytest.fail("the call is over")
    finally:
        CALL.reset(token)

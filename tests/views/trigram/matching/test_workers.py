"""Patterns that may explode are matched in processes that are killed, and answer as a search here does."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codenib.core.calls.cancellation import CALL, CallCancelled, Cancellation
from codenib.core.errors import InputError
from codenib.views.trigram.match import Matches
from codenib.views.trigram.matching.matcher import Deadline, Matcher
from codenib.views.trigram.matching.workers import PatternStopped, PatternWorkers
from codenib.views.trigram.pattern import compile_pattern
from codenib.views.trigram.search import CandidateFile, MatchLimits, verify

TEXT = "def a(b):\n    return b * 2\n\nclass Ä:\n    x = 'aaaa aaaa'\n\u2028é"
EXPLODES = compile_pattern("(a|aa)+$").task
LONG = "a" * 5000 + "b"


@pytest.fixture
def workers() -> Iterator[PatternWorkers]:
    made = PatternWorkers(most=1)
    yield made
    made.close()


def _searched(pattern: str, texts: list[str], limit: int | None, timeout_s: float = 30.0) -> Matches:
    files = [CandidateFile(f"{at}.py", partial(str, text)) for at, text in enumerate(texts)]
    compiled = compile_pattern(pattern)
    assert not compiled.cheap
    return verify(compiled, files, MatchLimits(limit, 1), timeout_s=timeout_s, scanned_all=False)


@settings(deadline=None, max_examples=40)
@given(
    st.sampled_from(
        [".*.*", r"(\w+) .*\1", "(a+)+", r"(?<=def )\w", "(?=)", "é|.*x.*", r"\w*\s*", "(?:aab){e<=1}"]
    ),
    st.lists(st.text("aé x\n\r\u2028=\U0001f600", max_size=40), max_size=6),
    st.none() | st.integers(0, 3),
)
def test_a_worker_finds_what_a_search_here_finds(pattern: str, texts: list[str], limit: int | None) -> None:
    found = _searched(pattern, [TEXT, *texts], limit)
    here: Matcher = compile_pattern(pattern).task.compiled()
    expected = [
        (f"{at}.py", text.count("\n", 0, line.start) + 1, line.spans)
        for at, text in enumerate([TEXT, *texts])
        for line in here.matched(text, None, Deadline(30))[0]
    ]
    assert [(item.path, item.line, item.spans) for item in found.items] == expected[:limit]
    assert (found.total, found.complete) == (len(expected), True)


def test_a_pattern_that_explodes_is_killed_and_the_rest_is_said_to_be_missing() -> None:
    found = _searched("(a|aa)+$", ["aaa", LONG, "aaa"], None, timeout_s=5)
    assert not found.complete
    assert [item.path for item in found.items] == ["0.py"]
    assert "1 of 3 files searched" in found.reason
    assert _searched("(a|aa)+$", ["aaa"], None).complete  # a new worker has taken its place


def test_a_worker_that_dies_is_a_search_that_stopped(workers: PatternWorkers) -> None:
    with pytest.raises(PatternStopped), workers.task(EXPLODES, 30) as worker:
        os.kill(worker.pid, signal.SIGKILL)
        list(worker.match([LONG], None))


def test_the_deadline_holds_for_a_worker_that_hangs(workers: PatternWorkers) -> None:
    with pytest.raises(PatternStopped), workers.task(EXPLODES, 0.5) as worker:
        os.kill(worker.pid, signal.SIGSTOP)  # as a loop in C that looks at no clock
        list(worker.match([LONG], None))


def test_a_worker_is_used_again(workers: PatternWorkers) -> None:
    with workers.task(compile_pattern("a+.*").task, 30) as worker:
        first = worker.pid
        assert list(worker.match(["xa", "b"], None)) == [([(0, 2, ((1, 2),))], 1), ([], 0)]
    with workers.task(compile_pattern("b.*b").task, 30) as worker:
        assert worker.pid == first
        assert list(worker.match(["b b"], 0)) == [([], 1)]


def test_a_large_pattern_is_compiled_by_a_worker_and_refused_if_it_is_wrong() -> None:
    many = "|".join(f"name_{number}_\\d+" for number in range(150))
    assert compile_pattern(many).matcher is None
    assert [item.line for item in _searched(many, ["x\nname_17_5\n"], None).items] == [2]
    with pytest.raises(InputError, match="bad pattern"):
        _searched("(a" * 200, [], None)


def test_a_cancelled_call_kills_its_worker_at_once(workers: PatternWorkers) -> None:
    call = Cancellation()
    token = CALL.set(call)
    try:
        with pytest.raises(CallCancelled), workers.task(EXPLODES, 600.0) as worker:
            threading.Timer(0.05, call.cancel).start()  # while it matches, for which it has ten minutes
            list(worker.match([LONG], None))
    finally:
        CALL.reset(token)
    with workers.task(EXPLODES, 30.0) as other:
        assert other.pid != worker.pid

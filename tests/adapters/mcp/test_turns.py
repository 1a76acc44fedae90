"""Calls take turns: a few at once, clients in rotation, and what would wait without bound is refused."""

from __future__ import annotations

import threading
from collections.abc import Callable

import anyio
import pytest

from codenib.adapters.mcp.turns import Requester, Turns
from codenib.core.calls.cancellation import CallCancelled, check_cancelled, ended_by_cancellation
from codenib.core.errors import StateError


class Gate:
    """Calls that stay in their turn until told to go on, and the order in which they began."""

    def __init__(self) -> None:
        self.open = threading.Event()
        self.begun: list[str] = []

    def call(self, name: str) -> Callable[[], str]:
        def run() -> str:
            self.begun.append(name)
            assert self.open.wait(20)
            return name

        return run


async def _until(condition: Callable[[], bool]) -> None:
    with anyio.fail_after(20):
        while not condition():
            await anyio.sleep(0.001)


def test_a_client_with_one_call_is_not_behind_all_calls_of_another() -> None:
    async def main() -> list[str]:
        turns, gate = Turns(most=1, waiting=10), Gate()
        async with anyio.create_task_group() as group:
            for number in range(4):
                group.start_soon(turns.run, Requester("greedy"), gate.call(f"greedy {number}"))
            await _until(lambda: turns.waiting == 3)
            group.start_soon(turns.run, Requester("modest"), gate.call("modest"))
            await _until(lambda: turns.waiting == 4)
            gate.open.set()
        return gate.begun

    assert anyio.run(main) == ["greedy 0", "greedy 1", "modest", "greedy 2", "greedy 3"]


def test_a_tenant_with_one_client_has_as_many_turns_as_one_with_many() -> None:
    async def main() -> list[str]:
        turns, gate = Turns(most=1, waiting=100), Gate()
        async with anyio.create_task_group() as group:
            group.start_soon(turns.run, Requester("0", "none"), gate.call("first"))
            await _until(lambda: gate.begun == ["first"])
            for number in range(6):
                group.start_soon(turns.run, Requester(f"{number}", "many"), gate.call("many"))
            for _ in range(3):
                group.start_soon(turns.run, Requester("only", "few"), gate.call("few"))
            await _until(lambda: turns.waiting == 9)
            gate.open.set()
        return gate.begun

    begun = anyio.run(main)[1:]
    assert begun[:6].count("few") == 3  # each second turn, as long as both wait
    assert begun[6:] == ["many"] * 3  # no turn stays unused


def test_what_nobody_waits_for_comes_behind_and_still_comes() -> None:
    async def main() -> list[str]:
        turns, gate = Turns(most=1, waiting=100), Gate()
        async with anyio.create_task_group() as group:
            group.start_soon(turns.run, Requester("0"), gate.call("first"))
            await _until(lambda: gate.begun == ["first"])
            for _ in range(2):
                group.start_soon(turns.run, Requester("batch", urgency="background"), gate.call("batch"))
            await _until(lambda: turns.waiting == 2)
            for number in range(15):
                group.start_soon(turns.run, Requester(f"{number}"), gate.call("asked"))
            await _until(lambda: turns.waiting == 17)
            gate.open.set()
        return gate.begun

    begun = anyio.run(main)[1:]
    assert begun.index("batch") == 9
    assert begun[-1] == "batch"


def test_no_more_calls_wait_than_there_are_places() -> None:
    async def main() -> None:
        turns, gate = Turns(most=2, waiting=3), Gate()
        async with anyio.create_task_group() as group:
            for number in range(5):
                group.start_soon(turns.run, Requester(f"client {number}"), gate.call(str(number)))
            await _until(lambda: turns.waiting == 3)
            with pytest.raises(StateError, match="busy"):
                await turns.run(Requester("late"), gate.call("late"))
            gate.open.set()
        assert sorted(gate.begun) == list("01234")
        assert await turns.run(Requester("late"), gate.call("late")) == "late"

    anyio.run(main)


def test_an_abandoned_call_has_its_turn_until_its_thread_ends() -> None:
    async def main() -> None:
        turns, gate = Turns(most=1, waiting=5), Gate()
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as group:
                group.start_soon(turns.run, Requester("gone"), gate.call("gone"))
                await _until(lambda: gate.begun == ["gone"])
                scope.cancel()
        async with anyio.create_task_group() as group:
            group.start_soon(turns.run, Requester("next"), gate.call("next"))
            await _until(lambda: turns.waiting == 1)
            assert gate.begun == ["gone"]
            gate.open.set()
        assert gate.begun == ["gone", "next"]

    anyio.run(main)


def test_a_call_that_leaves_the_queue_takes_no_turn_with_it() -> None:
    async def main() -> None:
        turns, gate = Turns(most=1, waiting=5), Gate()
        async with anyio.create_task_group() as group:
            group.start_soon(turns.run, Requester("first"), gate.call("first"))
            await _until(lambda: gate.begun == ["first"])
            with anyio.CancelScope() as scope:
                async with anyio.create_task_group() as waiting:
                    waiting.start_soon(turns.run, Requester("gone"), gate.call("gone"))
                    await _until(lambda: turns.waiting == 1)
                    scope.cancel()
            assert turns.waiting == 0
            gate.open.set()
        assert await turns.run(Requester("second"), gate.call("second")) == "second"
        assert gate.begun == ["first", "second"]

    anyio.run(main)


def test_a_call_that_would_wait_too_long_is_told_when_to_come_back() -> None:
    async def main() -> None:
        turns, gate = Turns(most=1, waiting=100, patience_s=0.0), Gate()
        assert turns.busy_s(Requester("anyone")) == 0
        # What a call takes is known from now on.
        await turns.run(Requester("first"), lambda: sum(range(100_000)))
        async with anyio.create_task_group() as group:
            group.start_soon(turns.run, Requester("first"), gate.call("first"))
            await _until(lambda: gate.begun == ["first"])
            assert turns.busy_s(Requester("anyone")) > 0
            with pytest.raises(StateError, match="busy"):
                await turns.run(Requester("late"), gate.call("late"))
            gate.open.set()
        assert turns.busy_s(Requester("anyone")) == 0

    anyio.run(main)


def test_a_call_whose_turn_does_not_come_in_time_is_refused_and_the_next_one_is_not() -> None:
    async def main() -> None:
        turns, gate = Turns(most=1, waiting=100, patience_s=0.01), Gate()
        async with anyio.create_task_group() as group:
            group.start_soon(turns.run, Requester("first"), gate.call("first"))
            await _until(lambda: gate.begun == ["first"])
            with pytest.raises(StateError, match="busy"):  # nobody knows yet what a call takes
                await turns.run(Requester("late"), gate.call("late"))
            assert turns.waiting == 0
            gate.open.set()
        assert await turns.run(Requester("second"), gate.call("second")) == "second"
        assert gate.begun == ["first", "second"]

    anyio.run(main)


def test_an_abandoned_call_is_told_so_in_its_thread() -> None:
    begun, told, ended = threading.Event(), threading.Event(), threading.Event()

    def work() -> None:
        with ended_by_cancellation(told.set):
            begun.set()
            assert told.wait(20)
        try:
            check_cancelled()
        except CallCancelled:
            ended.set()

    async def main() -> None:
        turns = Turns(most=1, waiting=5)
        async with anyio.create_task_group() as group:
            group.start_soon(turns.run, Requester("client"), work)
            await _until(begun.is_set)
            group.cancel_scope.cancel()
        await _until(ended.is_set)
        await turns.run(Requester("client"), check_cancelled)  # the next call is another one

    anyio.run(main)

"""The questions of a workspace, awaited: in threads, a few at once, given up with their task."""

from __future__ import annotations

import threading

import anyio
import anyio.to_thread
import pytest
from tests.gitrepo import GitRepo

from codenib import AsyncWorkspace, InputError, StateError
from codenib.core.calls.cancellation import CallCancelled, check_cancelled, ended_by_cancellation
from codenib.serving.workspace import Workspace


def test_questions_run_beside_each_other_and_answer_as_a_workspace_does(shop: GitRepo) -> None:
    async def main() -> None:
        async with AsyncWorkspace(shop.path) as workspace:
            await workspace.index()
            totals: list[int] = []

            async def ask(word: str) -> None:
                totals.append((await workspace.regex(word)).total)

            async with anyio.create_task_group() as group:
                for _ in range(5):
                    group.start_soon(ask, "convert")
            answer = await workspace.search("price in a currency", k=2)
            texts = await workspace.run(lambda inside: [item.text for item in inside.search("currency")])
            with Workspace(shop.path) as plain:
                assert answer.items == plain.search("price in a currency", k=2).items
                assert totals == [plain.regex("convert").total] * 5
                assert texts == [item.text for item in plain.search("currency")]
            assert (await workspace.definition("convert"))[0].path == "shop/currency.py"
            with pytest.raises(InputError):
                await workspace.read("no/such.py")

    anyio.run(main)


def test_a_cancelled_call_is_told_so_and_its_workspace_serves_the_next(shop: GitRepo) -> None:
    begun, told, ended = threading.Event(), threading.Event(), threading.Event()

    def work(workspace: Workspace) -> None:
        with ended_by_cancellation(told.set):
            begun.set()
            assert told.wait(20)
        try:
            check_cancelled()
        except CallCancelled:
            ended.set()

    async def main() -> None:
        async with AsyncWorkspace(shop.path, threads=1) as workspace:
            async with anyio.create_task_group() as group:
                group.start_soon(workspace.run, work)
                await anyio.to_thread.run_sync(begun.wait)
                group.cancel_scope.cancel()
            assert (await workspace.regex("convert")).total
            assert ended.is_set()

    anyio.run(main)


def test_a_closed_one_says_so_and_its_answers_stay(shop: GitRepo) -> None:
    async def main() -> None:
        workspace = AsyncWorkspace(shop.path)
        answer = await workspace.search("price")
        await workspace.close()
        with pytest.raises(StateError, match="closed"):
            await workspace.search("price")
        assert answer[0].text

    anyio.run(main)


def test_no_threads_are_refused(shop: GitRepo) -> None:
    with pytest.raises(InputError):
        AsyncWorkspace(shop.path, threads=0)

"""Which tasks share a batch, and what a batch asks for."""

from __future__ import annotations

from collections.abc import Mapping

from codenib.core.views import ViewKind
from codenib.fleet.catalogue.entry import RepositoryEntry
from codenib.fleet.compile.plan import BATCH_S, in_order, make_batches
from codenib.fleet.compile.records import BuildRecord, MeasuredCost
from codenib.fleet.compile.survey import PendingTask
from codenib.fleet.compile.task import CompileTask, TaskBatch

TEXT_VIEWS = (ViewKind.LEXICAL, ViewKind.TRIGRAM)


def _pending(
    name: str,
    *views: ViewKind,
    size: int = 1000,
    blobs: Mapping[str, int] | None = None,
    branch: str = "main",
) -> PendingTask:
    entry = RepositoryEntry(name=name, source=f"/{name}", in_place=True)
    task = CompileTask(entry=entry, branch=branch, commit="c", default=True, views=views or TEXT_VIEWS)
    return PendingTask(task, size, blobs=blobs or {})


def _names(batch: TaskBatch) -> set[str]:
    return {task.entry.name for task in batch.tasks}


def test_small_repositories_share_batches_and_large_ones_come_first_alone() -> None:
    small = [_pending(f"s{number}", size=1_000_000) for number in range(50)]
    batches = make_batches([*small, _pending("large", size=200_000_000)], {}, workers=2)

    assert _names(batches[0]) == {"large"}
    assert sorted(task.entry.name for batch in batches for task in batch.tasks) == sorted(
        ["large", *(each.task.entry.name for each in small)]
    )
    assert 5 <= len(batches) <= 30
    assert all(batch.estimate_s < 2 * BATCH_S for batch in batches[1:])
    assert [batch.estimate_s for batch in batches] == sorted(
        (batch.estimate_s for batch in batches), reverse=True
    )


def test_little_work_is_still_spread_over_the_workers() -> None:
    batches = make_batches([_pending(f"s{number}", size=2_000_000) for number in range(8)], {}, workers=2)
    assert len(batches) >= 2


def test_forks_and_branches_of_one_repository_are_done_one_after_the_other() -> None:
    shared = {f"blob{number}": 10_000_000 for number in range(10)}
    fork = {**shared, "own": 5_000_000}
    tasks = [
        _pending("first", size=100_000_000, blobs=shared),
        _pending("stranger", size=100_000_000, blobs={"licence": 1000, "x": 99_999_000}),
        _pending("fork", size=105_000_000, blobs=fork),
        _pending("first", size=100_000_000, branch="next"),
        _pending("other", size=100_000_000, blobs={"licence": 1000, "y": 99_999_000}),
    ]

    batches = make_batches(tasks, {}, workers=8)

    assert sorted(map(sorted, map(_names, batches))) == [["first", "fork"], ["other"], ["stranger"]]
    assert [task.entry.name for task in batches[0].tasks] == ["first", "fork", "first"]


def test_what_was_measured_decides_instead_of_the_first_guess() -> None:
    record = BuildRecord(costs={"text": MeasuredCost(150.0, 2 << 30)})
    (batch,) = make_batches([_pending("known", size=10)], {"known": record}, workers=1)

    assert batch.estimate_s > 150
    assert batch.cpus == 3
    assert batch.memory_bytes > 2 << 30


def test_views_with_a_task_of_their_own_wait_for_the_text_whose_records_they_read() -> None:
    text, dense = _pending("a"), _pending("a", ViewKind.DENSE)
    alone = _pending("b", ViewKind.DENSE)  # its text is there already
    first, later = in_order([dense, text, alone])
    assert first == [text, alone] and later == {"a": [dense]}


def test_a_graph_asks_for_a_node_with_engines_and_shares_no_batch_with_what_does_not() -> None:
    batches = make_batches([_pending("a", ViewKind.GRAPH), _pending("b")], {}, workers=1)
    assert {batch.engines for batch in batches} == {("codenib_engines",), ()}

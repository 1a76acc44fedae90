"""Pending tasks in, batches with the resources that each needs out, the largest first. Pure.

Small repositories share a batch, because starting a task costs more than their work. Repositories that share
many blobs (forks, vendored copies) share one too: the first derives a blob's records, the others find them.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence

from codenib.core.views import ViewKind
from codenib.fleet.compile.records import BuildRecord, estimate_s, memory_of
from codenib.fleet.compile.survey import PendingTask
from codenib.fleet.compile.task import OWN_TASK, TaskBatch

#: CPU seconds of a batch: long against a task's start (Ray: about 5 ms, 1 s with a new worker), short against
#: what a lost worker repeats.
BATCH_S = 10.0
#: Repositories with this share of the smaller one's bytes in common are compiled one after the other.
KIN_SHARE = 0.1
_CPU_EACH_S = 60.0  # a repository with so much work gets another process
_MOST_CPUS = 4

Records = Mapping[str, BuildRecord]


def make_batches(pending: Sequence[PendingTask], records: Records, workers: int) -> list[TaskBatch]:
    """Batches of tasks that do not wait for each other; enough of them for all `workers`."""
    estimates = {id(each): _estimate(each, records) for each in pending}
    total = sum(estimates.values())
    most = min(BATCH_S, max(1.0, total / (4 * max(1, workers))))
    batches, filling = [], defaultdict[tuple[str, ...], list[PendingTask]](list)
    for kin in _kin(pending):
        size = sum(estimates[id(each)] for each in kin)
        if size >= most or len(kin) > 1:
            batches.append(_batch(kin, records))
            continue
        waiting = filling[_engines(kin)]
        waiting += kin
        if sum(estimates[id(each)] for each in waiting) >= most:
            batches.append(_batch(waiting, records))
            waiting.clear()
    batches += [_batch(waiting, records) for waiting in filling.values() if waiting]
    return sorted(batches, key=lambda batch: -batch.estimate_s)


def in_order(pending: Sequence[PendingTask]) -> tuple[list[PendingTask], dict[str, list[PendingTask]]]:
    """The tasks that can begin, and by repository those that wait for its text: they read its records."""
    first = [each for each in pending if not _waits(each)]
    names = {each.task.entry.name for each in first}
    later = defaultdict[str, list[PendingTask]](list)
    for each in pending:
        if _waits(each):
            name = each.task.entry.name
            (later[name] if name in names else first).append(each)
    return first, dict(later)


def _waits(pending: PendingTask) -> bool:
    return pending.task.views[0] in OWN_TASK


def _estimate(pending: PendingTask, records: Records) -> float:
    record = records.get(pending.task.entry.name, BuildRecord())
    return estimate_s(record, pending.task.group, pending.source_bytes, pending.changed)


def _batch(pending: Sequence[PendingTask], records: Records) -> TaskBatch:
    total = sum(_estimate(each, records) for each in pending)
    memory = [
        memory_of(records.get(each.task.entry.name, BuildRecord()), each.task.group, each.source_bytes)
        for each in pending
    ]
    longest = max(_estimate(each, records) for each in pending)
    return TaskBatch(
        tasks=tuple(each.task for each in pending),
        estimate_s=total,
        cpus=min(_MOST_CPUS, max(1, math.ceil(longest / _CPU_EACH_S))),
        memory_bytes=max(memory),
        engines=_engines(pending),
    )


def _engines(pending: Sequence[PendingTask]) -> tuple[str, ...]:
    """The custom resources of nodes that have language engines."""
    return ("codenib_engines",) if any(ViewKind.GRAPH in each.task.views for each in pending) else ()


def _kin(pending: Sequence[PendingTask]) -> list[list[PendingTask]]:
    """The tasks, those together whose files are largely the same."""
    owner: dict[str, int] = {}
    common: dict[tuple[int, int], int] = defaultdict(int)
    for at, each in enumerate(pending):
        repository = owner.setdefault(f"repository {each.task.entry.name}", at)
        if repository != at:  # they would wait for each other's lock
            common[repository, at] += max(1, each.source_bytes)
        for blob, size in each.blobs.items():
            first = owner.setdefault(blob, at)
            if first != at:
                common[first, at] += size
    leader = list(range(len(pending)))
    for (first, second), size in common.items():
        smaller = min(pending[first].source_bytes, pending[second].source_bytes)
        if size >= KIN_SHARE * max(1, smaller):
            _join(leader, first, second)
    groups = defaultdict[int, list[PendingTask]](list)
    for at, each in enumerate(pending):
        groups[_top(leader, at)].append(each)
    return list(groups.values())


def _top(leader: list[int], at: int) -> int:
    while leader[at] != at:
        leader[at] = leader[leader[at]]
        at = leader[at]
    return at


def _join(leader: list[int], first: int, second: int) -> None:
    one, other = sorted((_top(leader, first), _top(leader, second)))
    leader[other] = one

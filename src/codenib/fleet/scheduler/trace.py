"""Rows of an audit log in, a trace of calls and what each costs out: what simulations replay.

Nothing here is invented: a call's cost is the time that its turn took when it was recorded, that of its
cheaper plan what such answers of its kind took. What opening a repository costs is what the server measured,
or the time that its first recorded call took beyond the median of its kind there.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from random import Random
from statistics import median

import msgspec

from codenib.core.errors import UNDECODABLE, InputError
from codenib.fleet.tenants.audit import AuditRow


class RecordedCall(msgspec.Struct, frozen=True, array_like=True):
    """One call: when it came, whose it is, of which repository, and how long its turn took.

    `cheaper_s` is what the plan of a busy server takes instead; 0: it has none, or none was measured.
    """

    at_s: float
    tenant: str
    repository: str
    tool: str
    cost_s: float
    cheaper_s: float = 0.0


class RepositoryCost(msgspec.Struct, frozen=True):
    """What is measured of a repository: bytes of what is open of it, and what opening that cost."""

    size_bytes: float
    open_s: float


class Trace(msgspec.Struct, frozen=True):
    """Calls in the order of their coming, and what each repository costs."""

    calls: tuple[RecordedCall, ...]
    repositories: dict[str, RepositoryCost]

    @property
    def seconds(self) -> float:
        """From the first call to the last."""
        return self.calls[-1].at_s - self.calls[0].at_s if self.calls else 0.0


def trace_of(
    rows: Iterable[AuditRow],
    sizes: Mapping[str, float],
    opened: Mapping[str, RepositoryCost] | None = None,
) -> Trace:
    """The trace of recorded requests.

    `opened` has what servers measured of repositories, `sizes` the bytes of the artifacts of the others.
    """
    opened = opened or {}
    served = [row for row in rows if row.tool and row.served_ms > 0 and row.repository in {*sizes, *opened}]
    served.sort(key=lambda row: row.time - row.ms / 1000)
    if not served:
        hint = "codenib serve writes the audit log; ask it something first"
        raise InputError("no call with a cost is recorded", hint=hint)
    begin = served[0].time - served[0].ms / 1000
    calls = tuple(_calls(served, begin))
    return Trace(calls, {**_costs(calls, sizes), **opened})


def _calls(served: Sequence[AuditRow], begin: float) -> Iterator[RecordedCall]:
    """Calls with the costs of both plans: the one that was not served has the median of its kind."""
    took: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for row in served:
        took[row.repository, row.tool, row.plan].append(row.served_ms / 1000)
    medians = {kind: median(values) for kind, values in took.items()}
    for row in served:
        own_s, kind = row.served_ms / 1000, (row.repository, row.tool)
        cheaper_s = own_s if row.plan else medians.get((*kind, "cheaper"), 0.0)
        cost_s = medians.get((*kind, ""), own_s) if row.plan else own_s
        at_s = row.time - row.ms / 1000 - begin
        costs = round(cost_s, 6), round(min(cheaper_s, cost_s), 6)
        yield RecordedCall(round(at_s, 3), row.tenant, *kind, *costs)


def _costs(calls: Sequence[RecordedCall], sizes: Mapping[str, float]) -> dict[str, RepositoryCost]:
    by_kind: dict[tuple[str, str], list[float]] = defaultdict(list)
    for call in calls:
        by_kind[call.repository, call.tool].append(call.cost_s)
    first: dict[str, RecordedCall] = {}
    for call in calls:
        first.setdefault(call.repository, call)
    return {
        name: RepositoryCost(sizes[name], max(call.cost_s - median(by_kind[name, call.tool]), 0.0))
        for name, call in first.items()
        if name in sizes
    }


def read_trace(file: Path) -> Trace:
    """A trace that `write_trace` wrote."""
    try:
        return msgspec.json.decode(file.read_bytes(), type=Trace)
    except FileNotFoundError:
        raise InputError(f"there is no file {file}", hint="codenib fleet simulate --record FILE") from None
    except UNDECODABLE as error:
        what = f"{file} is no recorded trace: {error}"
        raise InputError(what, hint="codenib fleet simulate --record FILE") from error


def write_trace(trace: Trace, file: Path, *, anonymous: bool = True) -> None:
    """Write a trace, by default with numbers in the place of tenants' and repositories' names."""
    if anonymous:
        names = {name: f"repository-{number}" for number, name in enumerate(trace.repositories, 1)}
        tenants = {name: f"tenant-{at}" for at, name in enumerate(sorted({c.tenant for c in trace.calls}), 1)}
        calls = tuple(
            msgspec.structs.replace(call, repository=names[call.repository], tenant=tenants[call.tenant])
            for call in trace.calls
        )
        trace = Trace(calls, {names[name]: cost for name, cost in trace.repositories.items()})
    file.write_bytes(msgspec.json.encode(trace).replace(b"],[", b"],\n[") + b"\n")


@dataclass(frozen=True, slots=True)
class Scale:
    """How a trace is grown: `load` times the calls a second, over so many `repositories` in all.

    Of those that stand for a recorded one, the n-th is asked `n ** -skew` times as often as the first.
    """

    load: int = 1
    repositories: int | None = None  # None: those that were recorded
    skew: float = 1.0
    most_calls: int = 20_000  # of the result: of a long trace at a high load the beginning is taken


def grown(trace: Trace, scale: Scale, seed: int = 1) -> Trace:
    """The trace at another scale. Costs are drawn from measured ones, never made up.

    `load` copies of the calls come in the same time, each shifted at random, so bursts stay bursts but do not
    fall together. Each further repository stands for a recorded one: it has its size and costs, and a part of
    its calls, by `skew`. With a skew of 0 none is asked more than others: no order of closing is then better
    than another, as nothing tells which one will be asked next.
    """
    chance = Random(seed)
    first = trace.calls[: max(scale.most_calls // scale.load, 1)]
    begin, span = first[0].at_s, first[-1].at_s - first[0].at_s or 1.0

    def shifted(call: RecordedCall) -> RecordedCall:
        at_s = begin + (call.at_s - begin + chance.random() * span) % span
        return msgspec.structs.replace(call, at_s=at_s)

    calls = [*first, *(shifted(call) for _ in range(scale.load - 1) for call in first)]
    repositories = dict(trace.repositories)
    if scale.repositories is not None and scale.repositories > len(repositories):
        recorded = [name for name, _ in Counter(call.repository for call in trace.calls).most_common()]
        clones = _clones(recorded, scale.repositories)
        repositories = {clone: trace.repositories[name] for name, row in clones.items() for clone in row}
        shares = {name: _shares(len(row), scale.skew) for name, row in clones.items()}

        def spread(call: RecordedCall) -> RecordedCall:
            name = call.repository
            (clone,) = chance.choices(clones[name], cum_weights=shares[name])
            return msgspec.structs.replace(call, repository=clone)

        calls = [spread(call) for call in calls]
    calls.sort(key=lambda call: call.at_s)
    return Trace(tuple(calls), repositories)


def _clones(recorded: Sequence[str], count: int) -> dict[str, list[str]]:
    """For each recorded repository those that stand for it, `count` in all.

    >>> _clones(["a", "b"], 5)
    {'a': ['a', 'a#2', 'a#4'], 'b': ['b', 'b#3']}
    """
    clones: dict[str, list[str]] = {name: [name] for name in recorded}
    for number in range(len(recorded), count):
        name = recorded[number % len(recorded)]
        clones[name].append(f"{name}#{number}")
    return clones


def _shares(count: int, skew: float) -> list[float]:
    """Cumulated weights of `count` repositories, the first of which is asked most.

    >>> _shares(3, 0.0), _shares(2, 1.0)
    ([1.0, 2.0, 3.0], [1.0, 1.5])
    """
    return list(accumulate(number**-skew for number in range(1, count + 1)))

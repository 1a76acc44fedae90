"""Runs of the agent and their traces in, their JSON values out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from codenib.adapters.envelopes.envelope import Envelope, Freshness, SnapshotId, rounded
from codenib.runtime.answer import AnswerLocation
from codenib.runtime.runner import AgentResult
from codenib.runtime.traces.trace import Event, invocations, usage_of
from codenib.runtime.traces.usage import UsageReport


class AgentReply(Envelope[AnswerLocation], kw_only=True, frozen=True):
    """`agent`: the places that the model committed to and the snapshot has."""

    answered: bool
    summary: str
    unusable: tuple[str, ...]
    stop: str
    turns: int
    policy: str
    model: str
    usage: UsageReport
    warnings: tuple[str, ...]
    trace: str | None


class TraceReply(Envelope[Event], kw_only=True, frozen=True):
    """`trace show`: events without messages, which stand in `invocations` as they were sent."""

    run: dict[str, Any]
    invocations: tuple[Any, ...]
    usage: Any


class ExportItem(msgspec.Struct, frozen=True):
    """A file of training rows, and how many it has from how many traces."""

    file: str
    rows: int
    traces: int


def agent_reply(result: AgentResult, policy: str, trace_file: str | None) -> AgentReply:
    run = result.trace.events[0].data
    return AgentReply(
        items=result.located.locations,
        total=len(result.located.locations),
        truncated=False,
        snapshot=_snapshot(run),
        freshness=Freshness("fresh"),
        provider=run["provider"],
        seconds=rounded(result.seconds),
        answered=result.answer is not None,
        summary=result.answer.summary if result.answer else "",
        unusable=result.located.unusable,
        stop=result.stop,
        turns=result.turns,
        policy=policy,
        model=run["model"],
        usage=result.usage,
        warnings=result.warnings,
        trace=trace_file,
    )


def trace_reply(events: Sequence[Event]) -> TraceReply:
    run = events[0].data
    items = tuple(event for event in events if event.kind not in ("run", "message"))
    return TraceReply(
        items=items,
        total=len(items),
        truncated=False,
        snapshot=_snapshot(run),
        freshness=None,
        provider=run["provider"],
        seconds=rounded(events[-1].at),
        run=run,
        invocations=tuple(invocations(events)),
        usage=usage_of(events),
    )


def _snapshot(run: dict[str, Any]) -> SnapshotId:
    taken = run["snapshot"]
    return SnapshotId(taken["id"], taken["commit"], taken["dirty"])

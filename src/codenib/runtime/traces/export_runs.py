"""A trace in, a run ready for export out: secrets masked, named by its content, with outcome and origin."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from codenib.core.text.masking import mask_recorded, mask_texts
from codenib.runtime.context.messages import Message
from codenib.runtime.providers.keys import hide
from codenib.runtime.providers.openai import to_openai, tool_to_openai
from codenib.runtime.traces.export import without_source
from codenib.runtime.traces.export_rows import ChatMessage, RowAbout, RunOutcome
from codenib.runtime.traces.trace import Event, tools_of

UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class ExportRun:
    """One run: its events without secrets, and what its rows say about it. `source`: with code or without."""

    events: tuple[Event, ...]
    about: RowAbout
    outcome: RunOutcome
    file: str
    masked: bool
    source: bool = True

    @property
    def issue(self) -> str:
        return str(self.events[0].data["issue"])

    @property
    def tools(self) -> str:
        """The tools of the session, as JSON."""
        return msgspec.json.encode([tool_to_openai(tool) for tool in tools_of(self.events)]).decode()

    @property
    def spans(self) -> list[dict[str, Any]]:
        """The places that the run answered with."""
        return list(answer_of(self.events).get("spans", []))

    @property
    def tokens(self) -> int:
        """Of all invocations; 0 when the run did not end."""
        return int(next((event.data["total"] for event in self.events if event.kind == "end"), 0))

    def chat(self, messages: Sequence[Message]) -> tuple[ChatMessage, ...]:
        """Messages as trainers take them."""
        given = messages if self.source else [without_source(each, self.issue) for each in messages]
        rows = [{**row, "content": row["content"] or ""} for row in to_openai(given)]
        for call in (call for row in rows for call in row.get("tool_calls", ())):
            call["function"]["arguments"] = msgspec.json.decode(call["function"]["arguments"])
        return msgspec.convert(rows, tuple[ChatMessage, ...])


def answer_of(events: Sequence[Event]) -> dict[str, Any]:
    """The content of the event that ends a run with an answer; empty when it has none."""
    return next((event.data for event in events if event.kind == "answer"), {})


def masked_events(events: Sequence[Event]) -> tuple[tuple[Event, ...], bool]:
    """The events without secrets of known formats and keys of providers, and whether there were any."""
    clean = []
    for event in events:
        written = msgspec.to_builtins(event)
        masked = mask_texts(written, lambda text: hide(mask_recorded(text)))
        clean.append(event if masked == written else msgspec.convert(masked, Event))
    return tuple(clean), any(new is not old for new, old in zip(clean, events, strict=True))


def run_name(events: Sequence[Event]) -> str:
    """The name of a run: a digest of its events, so that a copy of a trace has the same."""
    return hashlib.sha256(msgspec.json.encode(list(events))).hexdigest()[:16]


def about_run(events: Sequence[Event], consent: str) -> RowAbout:
    """Where a run comes from; traces of earlier versions say neither their repository nor their time."""
    run = events[0].data
    repository, snapshot = run.get("repository") or {}, run["snapshot"]
    return RowAbout(
        run=run_name(events),
        repository=str(repository.get("name") or UNKNOWN),
        license=str((repository.get("licence") or {}).get("name") or ""),
        commit=str(snapshot["commit"] or ""),
        snapshot=str(snapshot["id"]),
        dirty=bool(snapshot["dirty"]),
        started=str(run.get("started") or ""),
        provider=str(run["provider"]),
        model=str(run["model"]),
        policy=str(run["policy"]),
        consent=consent,
    )

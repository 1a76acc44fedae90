"""What a run does in, ordered events out, as JSON Lines; and from these every prompt of the run again.

Events: `run` (what was asked, of which snapshot, with which tools), `warning`, `candidates`, `decision`,
`message` (appended to the history), `rewrite` (the history is now this), `invoke` (a model is asked with the
history as it stands), `retry`, `reply` (its usage), `tool` (a finished call), `answer`, `error`, `end`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

import msgspec

from codenib.core.errors import UNDECODABLE, InputError
from codenib.runtime.context.messages import Message, Reply, ToolSpec, Usage
from codenib.runtime.providers.keys import hide, keys_in_environment

TRACE_SCHEMA = 1


class Event(msgspec.Struct, frozen=True):
    """One event: its number, seconds since the run began, kind and content."""

    seq: int
    at: float
    kind: str
    data: dict[str, Any]


class AgentRunTrace:
    """Collects the events of a run; with a path each is written as it happens, so a crash loses none.

    The keys of providers are removed wherever they occur: none may come in by way of an error or a tool.
    """

    def __init__(self, path: str | Path | None = None) -> None:
        self.events: list[Event] = []
        self._keys = keys_in_environment()
        self._started = time.perf_counter()
        self._file: IO[bytes] | None = None
        if path is not None:
            try:
                self._file = Path(path).open("wb")  # noqa: SIM115 - closed by close()
            except OSError as error:
                raise InputError(f"the trace cannot be written: {error}", hint="--trace FILE") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def add(self, kind: str, **data: Any) -> None:
        """Record an event."""
        line = hide(msgspec.json.encode(data).decode(), self._keys)
        at = round(time.perf_counter() - self._started, 6)
        event = Event(len(self.events), at, kind, msgspec.json.decode(line))
        self.events.append(event)
        if self._file is not None:
            self._file.write(msgspec.json.encode(event) + b"\n")
            self._file.flush()


def read_trace(path: str | Path) -> list[Event]:
    """The events of a trace file; a last line that was cut off by a crash is left out."""
    try:
        lines = Path(path).read_bytes().split(b"\n")
    except OSError as error:
        raise InputError(
            f"cannot read {path}: {error.strerror}", hint="codenib agent … --trace FILE"
        ) from error
    events: list[Event] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            event = msgspec.json.decode(line, type=Event)
        except UNDECODABLE as error:
            if number == len(lines):
                break
            raise InputError(f"{path}:{number}: {error}", hint="codenib agent … --trace FILE") from error
        if event.seq != len(events):
            raise InputError(f"{path}:{number}: event {event.seq} is out of order", hint="one run a file")
        events.append(event)
    if not events or events[0].kind != "run" or events[0].data.get("schema") != TRACE_SCHEMA:
        raise InputError(
            f"{path} is not a trace of schema {TRACE_SCHEMA}", hint="codenib agent … --trace FILE"
        )
    return events


class Invocation(msgspec.Struct, frozen=True):
    """One model invocation of a trace: the exact prompt, and what came back; None when nothing did."""

    number: int
    purpose: str
    messages: tuple[Message, ...]
    may_call: bool
    reply: Reply | None


def invocations(events: Sequence[Event]) -> Iterator[Invocation]:
    """Every invocation with the history as the model saw it."""
    history: list[Message] = []
    asked: tuple[dict[str, Any], tuple[Message, ...]] | None = None
    replied: Mapping[str, Any] | None = None
    for event in events:
        if event.kind == "rewrite":
            history = msgspec.convert(event.data["history"], list[Message])
        elif event.kind == "invoke":
            if asked is not None:
                yield _invocation(*asked, None, None)
            asked = (event.data, tuple(history))
        elif event.kind == "reply":
            replied = event.data
        elif event.kind == "message":
            message = msgspec.convert(event.data, Message)
            history.append(message)
            if asked is not None and replied is not None and message.role == "assistant":
                yield _invocation(*asked, replied, message)
                asked = replied = None
    if asked is not None:
        yield _invocation(*asked, None, None)


def _invocation(
    asked: Mapping[str, Any],
    history: tuple[Message, ...],
    replied: Mapping[str, Any] | None,
    message: Message | None,
) -> Invocation:
    reply = None
    if replied is not None and message is not None:
        reply = msgspec.convert({**replied, "message": msgspec.to_builtins(message)}, Reply)
    return Invocation(asked["number"], asked["purpose"], history, asked["may_call"], reply)


def tools_of(events: Sequence[Event]) -> list[ToolSpec]:
    """The tools that the session had."""
    return msgspec.convert(events[0].data["tools"], list[ToolSpec])


def usage_of(events: Sequence[Event]) -> Usage:
    """The sum of what the provider reported: for replies, and for attempts that broke off."""
    total = Usage()
    for event in events:
        if event.kind == "reply":
            total = total + msgspec.convert(event.data["wasted"], Usage)
            if event.data["usage"] is not None:
                total = total + msgspec.convert(event.data["usage"], Usage)
        if event.kind == "error" and event.data["wasted"] is not None:
            total = total + msgspec.convert(event.data["wasted"], Usage)
    return total

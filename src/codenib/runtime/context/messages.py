"""Values of a conversation with a model, the same for every provider; each is plain JSON in a trace."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

Role = Literal["system", "user", "assistant", "tool"]
Stop = Literal["end", "calls", "length", "refused", "other"]


def well_formed(value: Any) -> Any:
    """The same text, list or object without lone surrogates, which no JSON that we send or store can have.

    >>> well_formed({"a": ["x\\ud800y"]})
    {'a': ['x?y']}
    """
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {well_formed(key): well_formed(each) for key, each in value.items()}
    return [well_formed(each) for each in value] if isinstance(value, list | tuple) else value


class ToolSpec(msgspec.Struct, frozen=True):
    """What a model is told of a tool; `parameters` is a JSON schema of an object."""

    name: str
    description: str
    parameters: dict[str, Any]


class ToolCall(msgspec.Struct, frozen=True, omit_defaults=True):
    """A model's request to run a tool.

    `malformed` is what it wrote when that was no JSON object. `opaque` belongs to the provider, which wants
    it back as it was.
    """

    id: str
    name: str
    arguments: dict[str, Any] = {}
    malformed: str = ""
    opaque: dict[str, Any] = {}


class Message(msgspec.Struct, frozen=True, omit_defaults=True):
    """One message of a history. A `tool` message answers the call `call_id`; `failed` marks an error."""

    role: Role
    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    call_id: str = ""
    failed: bool = False
    opaque: tuple[dict[str, Any], ...] = ()


class Usage(msgspec.Struct, frozen=True, omit_defaults=True):
    """Tokens as the provider reported them. `prompt` counts all of the prompt, `cached` and `written` too.

    `cached` were read from the provider's prefix cache, `written` put into it; `cost` is in US dollars where
    the endpoint says it.
    """

    prompt: int = 0
    completion: int = 0
    cached: int = 0
    written: int = 0
    cost: float | None = None

    @property
    def total(self) -> int:
        return self.prompt + self.completion

    def __add__(self, other: Usage) -> Usage:
        known = [each for each in (self.cost, other.cost) if each is not None]
        return Usage(
            self.prompt + other.prompt,
            self.completion + other.completion,
            self.cached + other.cached,
            self.written + other.written,
            sum(known) if known else None,
        )


class Reply(msgspec.Struct, frozen=True):
    """What one model invocation gave.

    `usage` is None when the provider reported none. `wasted` is what attempts before this one had reported
    when they broke off: it is paid for, so it counts.
    """

    message: Message
    stop: Stop
    usage: Usage | None
    model: str = ""
    seconds: float = 0.0
    wasted: Usage = Usage()

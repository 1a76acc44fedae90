"""A history in, its size in tokens, or the history within a bound (oldest results go first) out. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from codenib.runtime.context.messages import Message, ToolSpec
from codenib.serving.context.tokens import count

_GONE = "[left out to keep the history within its bound; call the tool again if you need it]"


def history_tokens(history: Sequence[Message]) -> int:
    """The size of a history by our own tokenizer; a provider's own count differs somewhat."""
    return sum(map(count_message, history))


def bounded(history: Sequence[Message], max_tokens: int) -> list[Message]:
    """The history with as many of its oldest tool results left out as the bound asks for.

    Messages stay in place, so every call keeps its result; those of the latest batch stay whole.
    """
    left = list(history)
    size = history_tokens(left)
    last = max((at for at, message in enumerate(left) if message.role == "assistant"), default=0)
    for at, message in enumerate(left[:last]):
        if size <= max_tokens:
            break
        if message.role == "tool" and len(message.text) > len(_GONE):
            left[at] = msgspec.structs.replace(message, text=_GONE)
            size += count_message(left[at]) - count_message(message)
    return left


def count_prompt(messages: Sequence[Message], tools: Sequence[ToolSpec]) -> int:
    """Tokens of a prompt as JSON, by our own tokenizer: what a server that counts so would report."""
    return sum(map(count_message, messages)) + sum(count(_json(tool)) for tool in tools)


def count_message(message: Message) -> int:
    """Tokens of a message: its text, and its calls as JSON."""
    return count(message.text) + sum(
        count(call.name) + count(_json(call.arguments)) for call in message.calls
    )


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()

"""A history and a bound in tokens in, a history within it out: the oldest observations give way. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from codenib.runtime.context.messages import Message
from codenib.runtime.providers.scripted import count_message

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

"""Traces in, rows for training out.

`sft`: a row for each model invocation, with the exact prompt that it saw and what it replied. `openai`: a row
for each stretch of history between rewrites, in the format of OpenAI's fine-tuning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import msgspec

from codenib.runtime.context.messages import Message
from codenib.runtime.providers.openai import to_openai, tool_to_openai
from codenib.runtime.traces.trace import Event, Invocation, invocations, tools_of

Format = Literal["sft", "openai"]
FORMATS: tuple[Format, ...] = ("sft", "openai")

_FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_GONE = "[source removed]"


def export_rows(events: Sequence[Event], form: Format, *, source: bool = True) -> Iterator[dict[str, Any]]:
    """The training rows of one run; without `source` no text of the repository is in them.

    What goes then: the results of tools, the candidates and seeds behind the issue, fenced code in what the
    model wrote. Paths, names, patterns and line numbers stay.
    """
    about = _about(events)
    issue = str(events[0].data["issue"])
    done = [each for each in invocations(events) if each.reply is not None]
    tools = [tool_to_openai(tool) for tool in tools_of(events)]
    if form == "sft":
        for each in done:
            assert each.reply is not None
            prompt = _shown(each.messages, issue, source)
            completion = _shown([each.reply.message], issue, source)
            usage = msgspec.to_builtins(each.reply.usage)
            yield {
                "prompt": to_openai(prompt),
                "completion": to_openai(completion),
                "tools": tools if each.may_call else [],
                "about": {**about, "invocation": each.number, "purpose": each.purpose, "usage": usage},
            }
        return
    for last in _last_of_stretches(done):
        assert last.reply is not None
        messages = _shown([*last.messages, last.reply.message], issue, source)
        yield {"messages": to_openai(messages), "tools": tools}


def _last_of_stretches(done: Sequence[Invocation]) -> Iterator[Invocation]:
    """The invocations whose history no later one continues: the last ones before a rewrite, and of all."""
    for this, following in zip(done, [*done[1:], None], strict=True):
        assert this.reply is not None
        whole = (*this.messages, this.reply.message)
        if following is None or following.messages[: len(whole)] != whole:
            yield this


def _shown(messages: Sequence[Message], issue: str, source: bool) -> list[Message]:
    return list(messages) if source else [without_source(message, issue) for message in messages]


def without_source(message: Message, issue: str) -> Message:
    text = message.text
    if message.role == "tool":
        text = text if message.failed else _GONE
    elif message.role == "user" and text != issue and text.startswith(issue):
        text = f"{issue}\n\n{_GONE}"
    elif message.role == "assistant":
        text = _FENCED.sub(_fence, text)
    calls = tuple(msgspec.structs.replace(call, opaque={}) for call in message.calls)
    return msgspec.structs.replace(message, text=text, calls=calls, opaque=())


def _fence(found: re.Match[str]) -> str:
    """Fenced code goes; a fenced answer, which holds places and no source, stays."""
    return found[0] if '"locations"' in found[0] else f"```\n{_GONE}\n```"


def _about(events: Sequence[Event]) -> dict[str, Any]:
    """What a row's reader may select by: the model, the policy, the snapshot and how the run ended."""
    run = events[0].data
    end = next((event.data for event in events if event.kind == "end"), {})
    answer = next((event.data for event in events if event.kind == "answer"), {})
    return {
        "model": run["model"],
        "policy": run["policy"],
        "snapshot": run["snapshot"],
        "stop": end.get("stop", "cut off"),
        "answered": answer.get("answer") is not None,
        "spans": answer.get("spans", []),
    }

"""A model without a model: a function of the history in, replies out. For studies, tests and replays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from codenib.core.errors import ProviderError
from codenib.runtime.context.history import count_message, count_prompt
from codenib.runtime.context.messages import Message, Reply, ToolSpec, Usage
from codenib.runtime.providers.provider import RunListener, Sampling

#: The history, the tools and whether they may be called in; the assistant's message or a whole reply out.
Decide = Callable[[Sequence[Message], Sequence[ToolSpec], bool], Message | Reply]


class ScriptedProvider:
    """Answers with what `decide` returns. Tokens of a plain message are counted with our own tokenizer."""

    name = "scripted"

    def __init__(self, decide: Decide, *, model: str = "scripted") -> None:
        self.model = model
        self._decide = decide

    @classmethod
    def of(cls, replies: Iterable[Message | Reply], *, model: str = "scripted") -> ScriptedProvider:
        """Answers with these, one after another, whatever the history is."""
        left = iter(replies)

        def decide(messages: Sequence[Message], tools: Sequence[ToolSpec], may_call: bool) -> Message | Reply:
            reply = next(left, None)
            if reply is None:
                raise ProviderError("the script has no further reply", hint="add replies to the script")
            return reply

        return cls(decide, model=model)

    def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        *,
        sampling: Sampling,
        listener: RunListener,
        may_call: bool = True,
    ) -> Reply:
        decided = self._decide(messages, tools, may_call)
        if isinstance(decided, Reply):
            return decided
        listener.text(decided.text)
        usage = Usage(count_prompt(messages, tools), count_message(decided))
        return Reply(decided, "calls" if decided.calls else "end", usage, self.model)

"""A recorded run in, its replies again out: a model that checks that it is asked the same."""

from __future__ import annotations

from collections.abc import Sequence

from codenib.core.errors import ProviderError
from codenib.runtime.context.messages import Message, Reply, ToolSpec
from codenib.runtime.providers.provider import RunListener, Sampling
from codenib.runtime.traces.trace import Event, invocations


class ReplayProvider:
    """The model of a recorded run: gives its replies again, and checks that it is asked the same."""

    name = "replay"

    def __init__(self, events: Sequence[Event]) -> None:
        self.model = str(events[0].data["model"])
        self._left = [each for each in invocations(events) if each.reply is not None]

    def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        *,
        sampling: Sampling,
        listener: RunListener,
        may_call: bool = True,
    ) -> Reply:
        if not self._left:
            raise ProviderError("the trace has no further invocation", hint="codenib trace show FILE")
        recorded = self._left.pop(0)
        if list(recorded.messages) != list(messages):
            at = next(
                (
                    n
                    for n, (old, new) in enumerate(zip(recorded.messages, messages, strict=False))
                    if old != new
                ),
                min(len(recorded.messages), len(messages)),
            )
            raise ProviderError(
                f"invocation {recorded.number} differs from the trace at message {at}",
                hint="codenib trace show FILE",
            )
        assert recorded.reply is not None
        listener.text(recorded.reply.message.text)
        return recorded.reply

"""The seam between the runner and a model: a history and tools in, a reply with its usage out.

To plug in a model of your own, write a class with `name`, `model` and `complete`; `scripted.ScriptedProvider`
is the smallest one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from codenib.core.errors import ProviderError
from codenib.runtime.context.messages import Message, Reply, ToolSpec, Usage


@dataclass(frozen=True, slots=True)
class Sampling:
    """How to generate. The paper's runs use temperature zero and a completion window of 4,096 tokens.

    A provider leaves the temperature out for a model that refuses it, and tells its listener.
    """

    temperature: float | None = 0.0
    max_tokens: int = 4096


class ModelError(ProviderError):
    """A model that cannot be reached, or refuses; `wasted` is what broken attempts had reported."""

    def __init__(self, message: str, *, hint: str = "", wasted: Usage | None = None) -> None:
        super().__init__(message, hint=hint)
        self.wasted = wasted or Usage()


class RunListener(Protocol):
    """Hears of a request while it runs: for a terminal and for the trace."""

    def text(self, part: str) -> None:
        """A part of the model's text, as it streams in."""

    def step(self, line: str) -> None:
        """What the run does next: a tool that it calls, a rewrite of the history."""

    def retry(self, why: str, wait_s: float) -> None:
        """The request failed, and is sent again after a wait."""

    def notice(self, line: str) -> None:
        """Something that a person should know."""


class Silent:
    """A listener that does not listen."""

    def text(self, part: str) -> None: ...

    def step(self, line: str) -> None: ...

    def retry(self, why: str, wait_s: float) -> None: ...

    def notice(self, line: str) -> None: ...


class Provider(Protocol):
    """A model behind an API."""

    @property
    def name(self) -> str:
        """Of the provider: `anthropic`, `openai`, `scripted`."""

    @property
    def model(self) -> str: ...

    def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        *,
        sampling: Sampling,
        listener: RunListener,
        may_call: bool = True,
    ) -> Reply:
        """The model's next message; without `may_call` it may only write text.

        Raises `ProviderError` when the model cannot be reached or refuses the request.
        """

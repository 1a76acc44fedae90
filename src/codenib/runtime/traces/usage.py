"""Replies in, the tokens, seconds and price of a run out: the sum of what the provider reported."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import msgspec

from codenib.core.errors import InputError
from codenib.runtime.context.messages import Reply, Usage

Purpose = Literal["turn", "answer-format"]
_MILLION = 1_000_000


class Price(msgspec.Struct, frozen=True):
    """US dollars for a million tokens. Prices change and have tiers, so the package carries none."""

    prompt: float
    completion: float
    cached: float | None = None
    written: float | None = None

    @classmethod
    def parse(cls, text: str) -> Price:
        """`PROMPT,COMPLETION[,CACHED[,WRITTEN]]`.

        >>> Price.parse("3,15,0.3")
        Price(prompt=3.0, completion=15.0, cached=0.3, written=None)
        """
        try:
            numbers = [float(part) for part in text.split(",")]
        except ValueError:
            numbers = []
        if not 2 <= len(numbers) <= 4 or min(numbers) < 0:
            raise InputError(f"{text!r} is no price", hint="--price PROMPT,COMPLETION[,CACHED[,WRITTEN]]")
        return cls(*numbers)

    def of(self, usage: Usage) -> float:
        """What the tokens cost; cached and written ones at the prompt's price when they have none."""
        cached = self.prompt if self.cached is None else self.cached
        written = self.prompt if self.written is None else self.written
        fresh = usage.prompt - usage.cached - usage.written
        return (
            fresh * self.prompt
            + usage.cached * cached
            + usage.written * written
            + usage.completion * self.completion
        ) / _MILLION


class UsageReport(msgspec.Struct, frozen=True):
    """The account of a run. `unreported` invocations came back without usage, so the sums are lower bounds.

    `cost` is in US dollars: as the endpoint reported it, or from the price that the caller gave; None when
    neither is known.
    """

    prompt: int
    completion: int
    cached: int
    written: int
    invocations: int
    answer_format: int
    unreported: int
    seconds: float
    cost: float | None

    @property
    def total(self) -> int:
        """The paper's trajectory tokens: prompt and completion over all invocations."""
        return self.prompt + self.completion


@dataclass(slots=True)
class UsageTracker:
    """Adds up invocations, answer-format ones included, and what broken attempts had reported."""

    price: Price | None = None
    sum: Usage = field(default_factory=Usage)
    invocations: int = 0
    answer_format: int = 0
    unreported: int = 0
    seconds: float = 0.0

    def add(self, reply: Reply, purpose: Purpose) -> None:
        self.sum = self.sum + reply.wasted
        if reply.usage is not None:
            self.sum = self.sum + reply.usage
        else:
            self.unreported += 1
        self.invocations += 1
        self.answer_format += purpose == "answer-format"
        self.seconds += reply.seconds

    def report(self) -> UsageReport:
        cost = self.sum.cost
        if cost is None and self.price is not None:
            cost = self.price.of(self.sum)
        return UsageReport(
            prompt=self.sum.prompt,
            completion=self.sum.completion,
            cached=self.sum.cached,
            written=self.sum.written,
            invocations=self.invocations,
            answer_format=self.answer_format,
            unreported=self.unreported,
            seconds=round(self.seconds, 3),
            cost=None if cost is None else round(cost, 6),
        )

"""Context policies: what a run has seen in, whether to deliver candidates and to rewrite the history out.

`grep_read` delivers nothing, `eager` delivers candidates, `compact` delivers them and rewrites the history
once after the first successful read. `adaptive` chooses among the three as it goes. Each decision says why.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from codenib.core.errors import InputError
from codenib.runtime.context.compact import compact_history, read_path, successful_reads
from codenib.runtime.context.messages import Message


@dataclass(frozen=True, slots=True)
class LoggedChoice:
    """An action that was chosen among others with a known chance, so that a log says what others would give.

    `features` is what the choice was made from, `default` what the rules would have done.
    """

    action: str
    propensity: float
    alternatives: tuple[str, ...]
    default: str
    features: Mapping[str, float]
    model: str = ""


@dataclass(frozen=True, slots=True)
class Decision:
    """`yes` delivers the candidates, or rewrites the history; `like` names the policy that does so too.

    `most` bounds the candidates that are delivered; `choice` is there where others had a chance.
    """

    yes: bool
    why: str
    like: str
    most: int | None = None
    choice: LoggedChoice | None = None


@dataclass(frozen=True, slots=True)
class Start:
    """What is known before the first invocation: the places of the candidates and their size in tokens."""

    issue: str
    candidate_paths: Sequence[str]
    candidate_tokens: int


@dataclass(frozen=True, slots=True)
class HistoryState:
    """The run after a batch of tool calls.

    `tokens` is the size of the history, `compacted_tokens` its size after the one-time rewrite.
    """

    history: Sequence[Message]
    candidate_paths: Sequence[str]
    turn: int
    turn_cap: int
    tokens: int
    compacted_tokens: int


class ContextPolicy(Protocol):
    """A way to deliver and retain context."""

    @property
    def name(self) -> str: ...

    @property
    def wants_candidates(self) -> bool:
        """Whether candidates are worth searching for."""

    def begin(self, start: Start) -> Decision:
        """Whether the first prompt holds the candidates."""

    def after_batch(self, state: HistoryState) -> Decision:
        """Whether to rewrite the history now. Not asked again once it was."""


class GrepRead:
    """The model finds everything itself."""

    name = "grep_read"
    wants_candidates = False

    def begin(self, start: Start) -> Decision:
        return Decision(False, "grep_read delivers no candidates", self.name)

    def after_batch(self, state: HistoryState) -> Decision:
        return Decision(False, "grep_read keeps the history", self.name)


class Eager:
    """The candidates come with the issue, and everything is kept."""

    name = "eager"
    wants_candidates = True

    def begin(self, start: Start) -> Decision:
        return Decision(True, "eager delivers the candidates", self.name)

    def after_batch(self, state: HistoryState) -> Decision:
        return Decision(False, "eager keeps the history", self.name)


class Compact:
    """The candidates come with the issue; the batch with the first successful read ends with the rewrite."""

    name = "compact"
    wants_candidates = True

    def begin(self, start: Start) -> Decision:
        return Decision(True, "compact delivers the candidates", self.name)

    def after_batch(self, state: HistoryState) -> Decision:
        if not successful_reads(state.history):
            return Decision(False, "no successful read yet", self.name)
        return Decision(True, "first successful read", self.name)


class Adaptive:
    """Delivers what was found, keeps it while the model works inside it, and drops it when it is dead weight.

    The paper's five models differ most in how long they go on after the first read: where runs are short the
    rewrite costs a new start (Haiku 123% of eager), where they are long it saves most of the prompt (Gemma
    28%). So the rewrite waits until it pays: what it drops, sent once more for each turn that is likely left,
    must exceed what the model may have to look up again.
    """

    name = "adaptive"
    wants_candidates = True
    # Not tuned on a model. The price of a wrong rewrite is to read two files again, at the 400 lines that
    # `read` gives and about ten tokens a line. Half of the turns up to the cap is what a run in the middle
    # has left.
    lookup_tokens = 8_000

    def begin(self, start: Start) -> Decision:
        if not start.candidate_paths:
            return Decision(False, "the search found no function for the issue", "grep_read")
        count = len(start.candidate_paths)
        return Decision(True, f"{count} candidates, {start.candidate_tokens:,} tokens", "eager")

    def after_batch(self, state: HistoryState) -> Decision:
        reads = successful_reads(state.history)
        if not reads:
            return Decision(False, "no successful read yet", "eager")
        dropped = max(state.tokens - state.compacted_tokens, 0)
        turns = max((state.turn_cap - state.turn) // 2, 1)
        inside = read_path(reads[-1][0]) in state.candidate_paths
        if inside:  # the model is confirming a candidate: it is likely to answer soon
            turns = 1
        saved, where = dropped * turns, "a candidate's file" if inside else "a file outside the candidates"
        what = f"read {where}; dropping {dropped:,} tokens for {turns} more turns saves {saved:,}"
        if saved > self.lookup_tokens:
            return Decision(True, f"{what}, more than {self.lookup_tokens:,} to look up again", "compact")
        return Decision(False, f"{what}, no more than {self.lookup_tokens:,} to look up again", "eager")


def policy_of(name: str) -> ContextPolicy:
    """The policy of a name."""
    policies: tuple[ContextPolicy, ...] = (GrepRead(), Eager(), Compact(), Adaptive())
    for policy in policies:
        if policy.name == name:
            return policy
    raise InputError(f"unknown policy {name!r}", hint=f"--policy {'|'.join(POLICIES)}")


POLICIES = ("grep_read", "eager", "compact", "adaptive")


def rewritten(history: Sequence[Message], issue: str) -> list[Message] | None:
    """The history after the transition; None while there is no successful read."""
    return compact_history(history, issue) if successful_reads(history) else None

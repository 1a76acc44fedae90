"""The rows of training data, as values: chat messages, preference pairs and decisions; and their JSON schema.

Both files of a split, JSON Lines and Parquet, have exactly these columns. Messages are JSON values in Parquet
too (Arrow's type for JSON): as columns, a message would have each key that another one has, as null, and chat
templates take a null `tool_calls` for calls. The tools' schemas are JSON in a string, which trainers decode.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

Aim = Literal["routing", "tools", "context", "compaction"]
AIMS: tuple[Aim, ...] = ("routing", "tools", "context", "compaction")
Form = Literal["messages", "pairs", "decisions"]


class ChatFunction(msgspec.Struct, frozen=True):
    """A function as a model called it; `arguments` are an object, as chat templates take them.

    Endpoints have them in a string, which half of the templates that trainers bring refuse or quote again.
    """

    name: str
    arguments: dict[str, Any]


class ChatCall(msgspec.Struct, frozen=True):
    id: str
    function: ChatFunction
    type: Literal["function"] = "function"


class ChatMessage(msgspec.Struct, frozen=True, omit_defaults=True):
    """A message of chat completions."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str = msgspec.field(default_factory=str)
    tool_calls: tuple[ChatCall, ...] | None = None
    tool_call_id: str | None = None


class RunOutcome(msgspec.Struct, frozen=True):
    """How a run ended. Only `answered` is known without outcomes from the user; null is unknown, not failed.

    `recall` and `file_recall` are shares of the known answers whose lines, or files, the run's answer has.
    """

    answered: bool
    tests_passed: bool | None = None
    patch_accepted: bool | None = None
    recall: float | None = None
    file_recall: float | None = None


class RowAbout(msgspec.Struct, frozen=True):
    """Where a row comes from. `run` names its trace; `license` is of the repository, empty where unknown."""

    run: str
    repository: str
    license: str
    commit: str
    snapshot: str
    dirty: bool
    started: str
    provider: str
    model: str
    policy: str
    consent: str


class StepCosts(msgspec.Struct, frozen=True):
    """What a step cost, and the run from it on. Tokens are those of the prompt that the step adds."""

    tokens: int
    seconds: float
    tokens_to_end: int
    seconds_to_end: float


class Feature(msgspec.Struct, frozen=True):
    name: str
    value: float


class MessageRow(msgspec.Struct, frozen=True):
    """One model invocation: the prompt that it saw, what it replied, and the tools as JSON."""

    prompt: tuple[ChatMessage, ...]
    completion: tuple[ChatMessage, ...]
    tools: str
    step: int
    outcome: RunOutcome
    about: RowAbout


class PairRow(msgspec.Struct, frozen=True):
    """Two replies to one prompt, of which `chosen` is the better; `why` says by what."""

    prompt: tuple[ChatMessage, ...]
    chosen: tuple[ChatMessage, ...]
    rejected: tuple[ChatMessage, ...]
    tools: str
    why: str
    outcome: RunOutcome
    rejected_run: str
    about: RowAbout


class DecisionRow(msgspec.Struct, frozen=True):
    """A choice of the system: what was known, what was chosen among what, how likely that was, and its costs.

    `propensity` is 1 where the policy is a rule: then nothing can be said about the alternatives from these
    rows alone.
    """

    step: int
    choice: str
    action: str
    alternatives: tuple[str, ...]
    propensity: float
    features: tuple[Feature, ...]
    costs: StepCosts
    outcome: RunOutcome
    about: RowAbout


TrainingRow = MessageRow | PairRow | DecisionRow
ROWS: dict[Form, type[MessageRow] | type[PairRow] | type[DecisionRow]] = {
    "messages": MessageRow,
    "pairs": PairRow,
    "decisions": DecisionRow,
}
#: Which rows each aim has.
FORMS: dict[Aim, tuple[Form, ...]] = {
    "routing": ("decisions",),
    "tools": ("messages", "pairs", "decisions"),
    "context": ("pairs", "decisions"),
    "compaction": ("messages", "decisions"),
}


def rows_schema(aim: Aim) -> dict[str, Any]:
    """The JSON schema of an aim's files: a property for each form of row."""
    references, definitions = msgspec.json.schema_components(
        [ROWS[form] for form in FORMS[aim]], ref_template="#/$defs/{name}"
    )
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"Rows for {aim}, one JSON object a line",
        "properties": dict(zip(FORMS[aim], references, strict=True)),
        "$defs": dict(sorted(definitions.items())),
    }

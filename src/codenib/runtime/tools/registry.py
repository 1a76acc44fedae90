"""Tools for a model: calls in, text out. What a model does wrong is told to it, and never ends a run."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from codenib.core.errors import CodenibError, InputError
from codenib.runtime.context.messages import ToolCall, ToolSpec
from codenib.runtime.tools.schema import problems, relaxed
from codenib.runtime.views import Contexts


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool gave: `text` for the model; for the trace who answered, and how much there was in all."""

    text: str
    provider: str = ""
    total: int | None = None
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class Observation:
    """A finished call: its result, or why it failed."""

    text: str
    failed: bool
    seconds: float
    provider: str = ""
    total: int | None = None
    truncated: bool = False


#: What runs: the opened views and the model's checked arguments in, the tool's result out.
ToolFunction = Callable[[Contexts, Mapping[str, Any]], ToolResult]


@dataclass(frozen=True, slots=True)
class AgentTool:
    """A tool: what the model is told, and what runs."""

    spec: ToolSpec
    run: ToolFunction


@dataclass(slots=True)
class ToolRegistry:
    """Tools by name. A name stands for one tool."""

    tools: dict[str, AgentTool] = field(default_factory=dict)

    def add(self, tool: AgentTool) -> None:
        if tool.spec.name in self.tools:
            raise InputError(f"two tools are called {tool.spec.name!r}", hint="rename the skill's tool")
        self.tools[tool.spec.name] = tool

    def extend(self, tools: Iterable[AgentTool]) -> None:
        for tool in tools:
            self.add(tool)

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """What a model is told of them, in the order that they were added."""
        return tuple(tool.spec for tool in self.tools.values())

    def _hint(self, error: CodenibError) -> str:
        """What helps: a tool that the model has, or else a command that a person must run."""
        hint = error.hint.removeprefix("codenib ") if isinstance(error, InputError) else error.hint
        mine = hint.partition(" ")[0] in self.tools
        return f"\nTry: {hint}" if hint and (mine or not isinstance(error, InputError)) else ""

    def dispatch(self, call: ToolCall, contexts: Contexts) -> Observation:
        """Run a call. What the model did wrong, and what a view cannot answer, is told to it as a failure."""
        started = time.perf_counter()

        def failed(text: str) -> Observation:
            return Observation(text, True, time.perf_counter() - started)

        if call.malformed:
            return failed(f"The arguments of {call.name} are not a JSON object: {call.malformed[:200]}")
        tool = self.tools.get(call.name)
        if tool is None:
            return failed(f"There is no tool {call.name!r}. Tools: {', '.join(self.tools)}.")
        arguments = relaxed(call.arguments, tool.spec.parameters)
        wrong = problems(arguments, tool.spec.parameters)
        if wrong:
            return failed(f"{call.name}: {'; '.join(wrong)}")
        try:
            result = tool.run(contexts, arguments)
        except CodenibError as error:
            return failed(f"{error.message}{self._hint(error)}")
        seconds = time.perf_counter() - started
        return Observation(
            text=result.text,
            failed=False,
            seconds=seconds,
            provider=result.provider,
            total=result.total,
            truncated=result.truncated,
        )

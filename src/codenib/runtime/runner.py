"""An issue in, an answer out: the loop of model invocations, tool batches and the context policy."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import msgspec

from codenib import __version__
from codenib.core.errors import CodenibError
from codenib.planner.plan import ROUTER_ACTIONS
from codenib.runtime.answer import AgentAnswer, Located, locate_answer, parse_answer
from codenib.runtime.context.exploration import Exploration
from codenib.runtime.context.history import bounded, count_message, history_tokens
from codenib.runtime.context.messages import Message, Reply, ToolCall, well_formed
from codenib.runtime.context.policies import ContextPolicy, Eager, HistoryState, Start, rewritten
from codenib.runtime.context.prompts import ANSWER_FORMAT, CANDIDATES, candidate_text, system_prompt
from codenib.runtime.providers.provider import ModelError, Provider, RunListener, Sampling, Silent
from codenib.runtime.skills.guard import ResourceGuard
from codenib.runtime.skills.registry import SkillRegistry
from codenib.runtime.tools.registry import ToolRegistry
from codenib.runtime.traces.licences import licence_of
from codenib.runtime.traces.trace import TRACE_SCHEMA, AgentRunTrace
from codenib.runtime.traces.usage import Purpose, UsageReport, UsageTracker
from codenib.runtime.views import CandidateBlock, Contexts

#: The paper's cap on main-loop invocations.
TURN_CAP = 16
#: Answer-format invocations after a main loop that ended without an answer.
FORMAT_CALLS = 2
#: Calls of one turn that are run: models make one to six; one that repeats itself made 500.
_CALLS_A_TURN = 16


@dataclass(frozen=True, slots=True)
class RunSettings:
    """What bounds a run. `history_tokens` bounds the prompt (the paper's local runs: 48,000)."""

    turn_cap: int = TURN_CAP
    candidates: int = CANDIDATES
    candidate_route: str = "auto"
    history_tokens: int | None = None
    sampling: Sampling = field(default_factory=Sampling)


@dataclass(frozen=True, slots=True)
class AgentResult:
    """What a run gave. `answer` is None when the model never kept to the format.

    `located` are the locations that the snapshot has; `stop` says how the main loop ended: `answered`,
    `turn cap` or `no answer`.
    """

    answer: AgentAnswer | None
    located: Located
    stop: str
    turns: int
    usage: UsageReport
    seconds: float
    warnings: tuple[str, ...]
    trace: AgentRunTrace


class AgentRunner:
    """Runs one issue over the opened views of one manifest."""

    def __init__(
        self,
        *,
        provider: Provider,
        contexts: Contexts,
        tools: ToolRegistry,
        registry: SkillRegistry | None = None,
        policy: ContextPolicy | None = None,
        settings: RunSettings | None = None,
        usage: UsageTracker | None = None,
        trace: AgentRunTrace | None = None,
        listener: RunListener | None = None,
        warnings: Sequence[str] = (),
        exploration: Exploration | None = None,
    ) -> None:
        """The tools of the skills in `registry` are added to `tools`; names must not clash.

        With an `exploration` chance has a part in how the candidates are searched for; the trace says which.
        """
        self._provider = provider
        self._contexts = contexts
        self._registry = registry or SkillRegistry()
        self._tools = ToolRegistry(dict(tools.tools))
        self._tools.extend(self._registry.tools())
        self._policy = policy or Eager()
        self._settings = settings or RunSettings()
        self._exploration = exploration
        self._usage = usage or UsageTracker()
        self._trace = trace or AgentRunTrace()
        self._listener = _Recorded(listener or Silent(), self._trace)
        self._warnings = [*warnings, *ResourceGuard(contexts.manifest).warnings(contexts)]
        self._history: list[Message] = []
        self._ids: set[str] = set()
        self._dropped = 0  # calls of the last message that were too many

    def run(self, issue: str) -> AgentResult:
        """Work on one issue. A model that cannot be reached is a `ProviderError`; the trace then ends so."""
        started, issue = time.perf_counter(), well_formed(issue)
        try:
            self._begin(issue)
            turns, stop = self._loop(issue)
            answer = self._answer()
            if answer is None:
                answer = self._ask_for_format()
                stop = stop if answer is not None else "no answer"
        except CodenibError as error:
            if isinstance(error, ModelError):
                self._usage.sum = self._usage.sum + error.wasted
            wasted = error.wasted if isinstance(error, ModelError) else None
            self._trace.add("error", error=type(error).__name__, message=error.message, wasted=wasted)
            self._end("failed", self._usage.invocations, started)
            raise
        located = locate_answer(answer, self._contexts) if answer is not None else Located(())
        self._trace.add("answer", answer=answer, located=located, spans=located.spans)
        return self._result(answer, located, stop, turns, started)

    def _result(
        self, answer: AgentAnswer | None, located: Located, stop: str, turns: int, started: float
    ) -> AgentResult:
        report, seconds = self._end(stop, turns, started)
        return AgentResult(
            answer=answer,
            located=located,
            stop=stop,
            turns=turns,
            usage=report,
            seconds=seconds,
            warnings=tuple(self._warnings),
            trace=self._trace,
        )

    def _begin(self, issue: str) -> None:
        """Say what runs, then build the first history."""
        manifest, settings = self._contexts.manifest, self._settings
        self._trace.add(
            "run",
            schema=TRACE_SCHEMA,
            codenib=__version__,
            started=datetime.now(UTC).isoformat(timespec="seconds"),
            repository={
                "name": self._contexts.workspace.name,
                "licence": licence_of(self._contexts.workspace),
            },
            issue=issue,
            policy=self._policy.name,
            provider=self._provider.name,
            model=self._provider.model,
            settings=msgspec.to_builtins(settings),
            snapshot={"id": manifest.snapshot, "commit": manifest.commit, "dirty": manifest.dirty},
            views={kind: record.status for kind, record in manifest.views.items()},
            navigation=self._contexts.navigation,
            skills=self._registry.ids,
            tools=self._tools.specs,
        )
        for warning in self._warnings:
            self._listener.notice(warning)
        self._history, self._ids, self._dropped = [], set(), 0
        self._append(Message("system", system_prompt(self._registry.prompts)))
        self._append(Message("user", self._first_prompt(issue)))

    def _first_prompt(self, issue: str) -> str:
        """The issue, with the candidates behind it where the policy delivers them."""
        blocks: list[CandidateBlock] = []
        if self._policy.wants_candidates:
            blocks = self._candidates(issue)
        text = candidate_text(blocks) if blocks else ""
        paths = [block.item.path for block in blocks]
        tokens = count_message(Message("user", text))
        decision = self._policy.begin(Start(issue, paths, tokens))
        if decision.most is not None and decision.most < len(blocks):
            blocks = blocks[: decision.most]
            text = candidate_text(blocks)
        self._candidate_paths = [block.item.path for block in blocks]
        chosen = {} if decision.choice is None else {"choice": decision.choice}
        self._trace.add(
            "decision", about="candidates", yes=decision.yes, why=decision.why, like=decision.like, **chosen
        )
        return f"{issue}\n\n{text}" if decision.yes and blocks else issue

    def _candidates(self, issue: str) -> list[CandidateBlock]:
        """The candidates, by the route of the settings; where that is open, chance may have a part in it."""
        route, fusion, choice = self._settings.candidate_route, "auto", None
        if self._exploration is not None and route == "auto":
            choice = self._exploration.choose_route(issue, self._contexts)
        if choice is not None:
            action = ROUTER_ACTIONS[choice.action]
            route, fusion = action.route.value, action.fusion or "auto"
        started = time.perf_counter()
        answer, blocks = self._contexts.candidates(
            issue, self._settings.candidates, route=route, fusion=fusion
        )
        seconds = round(time.perf_counter() - started, 6)
        items = [block.item for block in blocks]
        chosen = {} if choice is None else {"choice": choice}
        self._trace.add(
            "candidates", plan=answer.plan, total=answer.total, items=items, seconds=seconds, **chosen
        )
        return blocks

    def _loop(self, issue: str) -> tuple[int, str]:
        """The main loop: until the model calls no tool, or the cap."""
        compacted = False
        for turn in range(1, self._settings.turn_cap + 1):
            message = self._invoke("turn", may_call=True).message
            if not message.calls:
                return turn, "answered"
            self._run_batch(message.calls)
            if not compacted:
                compacted = self._maybe_rewrite(issue, turn)
        return self._settings.turn_cap, "turn cap"

    def _run_batch(self, calls: Sequence[ToolCall]) -> None:
        for call in calls:
            self._listener.step(f"{call.name} {msgspec.json.encode(call.arguments).decode()}")
            done = self._tools.dispatch(call, self._contexts)
            self._trace.add(
                "tool",
                call_id=call.id,
                name=call.name,
                arguments=call.arguments,
                failed=done.failed,
                provider=done.provider,
                total=done.total,
                truncated=done.truncated,
                seconds=round(done.seconds, 6),
            )
            text = well_formed(done.text)
            if self._dropped and call is calls[-1]:
                self._listener.notice(f"{self._dropped} calls of one turn were dropped")
                text += f"\n\n{self._dropped} further calls of this turn were not run, {_CALLS_A_TURN} were."
            self._append(Message("tool", text, call_id=call.id, failed=done.failed))

    def _maybe_rewrite(self, issue: str, turn: int) -> bool:
        """Apply the policy's one-time transition when it is due."""
        after = rewritten(self._history, issue)
        tokens = history_tokens(self._history)
        compacted = history_tokens(after) if after else tokens
        state = HistoryState(
            history=self._history,
            candidate_paths=self._candidate_paths,
            turn=turn,
            turn_cap=self._settings.turn_cap,
            tokens=tokens,
            compacted_tokens=compacted,
        )
        decision = self._policy.after_batch(state)
        self._trace.add("decision", about="rewrite", yes=decision.yes, why=decision.why, like=decision.like)
        if not decision.yes or after is None:
            return False
        self._history = after
        self._listener.step(f"history rewritten: {tokens:,} tokens become {compacted:,} ({decision.why})")
        self._trace.add("rewrite", reason="compaction", tokens=tokens, kept=compacted, history=after)
        return True

    def _answer(self) -> AgentAnswer | None:
        last = self._history[-1]
        return parse_answer(last.text) if last.role == "assistant" else None

    def _ask_for_format(self) -> AgentAnswer | None:
        """The fixed answer-format invocations; their usage counts."""
        answer = None
        for _ in range(FORMAT_CALLS):
            self._append(Message("user", ANSWER_FORMAT))
            self._invoke("answer-format", may_call=False)
            answer = self._answer()
            if answer is not None:
                break
        return answer

    def _invoke(self, purpose: Purpose, *, may_call: bool) -> Reply:
        bound = self._settings.history_tokens
        if bound is not None and (within := bounded(self._history, bound)) != self._history:
            self._history = within
            self._trace.add("rewrite", reason="bound", history=within)
        number = self._usage.invocations + 1
        self._trace.add(
            "invoke", number=number, purpose=purpose, may_call=may_call, messages=len(self._history)
        )
        reply = self._provider.complete(
            self._history,
            self._tools.specs,
            sampling=self._settings.sampling,
            listener=self._listener,
            may_call=may_call,
        )
        message = self._own_ids(reply.message, number, may_call)
        reply = msgspec.structs.replace(reply, message=message)
        self._usage.add(reply, purpose)
        self._trace.add(
            "reply",
            stop=reply.stop,
            usage=reply.usage,
            wasted=reply.wasted,
            model=reply.model,
            seconds=round(reply.seconds, 6),
        )
        self._append(message)
        return reply

    def _own_ids(self, message: Message, number: int, may_call: bool) -> Message:
        """Each call with an id of its own (some servers number them anew); none where none was allowed.

        Of many calls the first few stay, and no text has what JSON cannot carry: whatever a model writes, the
        run goes on and its history stays within bounds.
        """
        calls = []
        wanted = message.calls if may_call else ()
        for at, call in enumerate(wanted[:_CALLS_A_TURN]):
            given = well_formed(call.id)
            name = given if given and given not in self._ids else f"call_{number}_{at}"
            self._ids.add(name)
            calls.append(
                msgspec.structs.replace(
                    call,
                    id=name,
                    name=well_formed(call.name),
                    arguments=well_formed(call.arguments),
                    malformed=well_formed(call.malformed),
                )
            )
        self._dropped = len(wanted) - len(calls)
        return msgspec.structs.replace(message, text=well_formed(message.text), calls=tuple(calls))

    def _append(self, message: Message) -> None:
        self._history.append(message)
        self._trace.add("message", **msgspec.to_builtins(message))

    def _end(self, stop: str, turns: int, started: float) -> tuple[UsageReport, float]:
        report, seconds = self._usage.report(), round(time.perf_counter() - started, 3)
        self._trace.add("end", stop=stop, turns=turns, usage=report, total=report.total, seconds=seconds)
        return report, seconds


class _Recorded:
    """Tells the caller's listener, and the trace of what belongs there."""

    def __init__(self, listener: RunListener, trace: AgentRunTrace) -> None:
        self._listener = listener
        self._trace = trace

    def text(self, part: str) -> None:
        self._listener.text(part)

    def step(self, line: str) -> None:
        self._listener.step(line)

    def retry(self, why: str, wait_s: float) -> None:
        self._trace.add("retry", why=why, wait_s=round(wait_s, 3))
        self._listener.retry(why, wait_s)

    def notice(self, line: str) -> None:
        self._trace.add("warning", text=line)
        self._listener.notice(line)

"""The events of a run in, its choices out: what was known, what was chosen among what, and what that cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from codenib.core.views import ViewKind
from codenib.planner.signals import read_signals
from codenib.runtime.context.compact import read_path, successful_reads
from codenib.runtime.context.history import count_message, history_tokens
from codenib.runtime.context.messages import Message
from codenib.runtime.context.policies import rewritten
from codenib.runtime.traces.export_rows import Aim, DecisionRow, Feature, StepCosts
from codenib.runtime.traces.export_runs import ExportRun
from codenib.runtime.traces.trace import Event

_ROUTES = {
    "lexical": (ViewKind.LEXICAL,),
    "semantic": (ViewKind.DENSE,),
    "hybrid": (ViewKind.LEXICAL, ViewKind.DENSE),
    "structural": (ViewKind.LEXICAL, ViewKind.GRAPH),
}
_KINDS: dict[Aim, str] = {
    "routing": "route",
    "tools": "tool",
    "context": "candidates",
    "compaction": "rewrite",
}


@dataclass(slots=True)
class _State:
    """A run up to an event."""

    history: list[Message] = field(default_factory=list)
    candidates: list[str] = field(default_factory=list)
    turn: int = 0
    calls: int = 0
    failures: int = 0


@dataclass(frozen=True, slots=True)
class _Choice:
    """A choice without its costs to the end: event number, kind, action, among what, and what was known."""

    seq: int
    kind: str
    action: str
    alternatives: tuple[str, ...]
    propensity: float
    features: Mapping[str, float]
    tokens: int
    seconds: float


def decision_rows(run: ExportRun, aim: Aim) -> Iterator[DecisionRow]:
    """The choices of one kind, in their order."""
    wanted = [choice for choice in _choices(run.events, run.issue) if choice.kind == _KINDS[aim]]
    for step, choice in enumerate(wanted, 1):
        tokens, seconds = _to_end(run.events, choice.seq)
        yield DecisionRow(
            step=step,
            choice=choice.kind,
            action=choice.action,
            alternatives=choice.alternatives,
            propensity=choice.propensity,
            features=tuple(Feature(name, float(value)) for name, value in choice.features.items()),
            costs=StepCosts(choice.tokens, choice.seconds, tokens, seconds),
            outcome=run.outcome,
            about=run.about,
        )


def _choices(events: Sequence[Event], issue: str) -> Iterator[_Choice]:
    state = _State()
    tools = tuple(str(tool["name"]) for tool in events[0].data["tools"])
    routes = _routes_of(events[0])
    for at, event in enumerate(events):
        if event.kind == "candidates":
            state.candidates = [str(item["path"]) for item in event.data["items"]]
            yield _searched(event, routes, issue)
        elif event.kind == "decision":
            yield _decided(event, state, events, at)
        elif event.kind == "tool":
            yield _called(event, state, events[at + 1 : at + 2], tools)
            if event.data["provider"] in _ROUTES:
                query = str(event.data["arguments"].get("query") or "")
                yield _Choice(
                    event.seq, "route", event.data["provider"], _with(routes, event.data["provider"]),
                    propensity=_propensity(event), features=_signals(query),
                    tokens=_result_tokens(events[at + 1 : at + 2]), seconds=float(event.data["seconds"]),
                )  # fmt: skip
        _follow(event, state)


def _searched(event: Event, routes: tuple[str, ...], issue: str) -> _Choice:
    """How the candidates were searched for: by the plan, or by chance among what a router chooses from."""
    plan, choice = event.data["plan"], event.data.get("choice")
    seconds = float(event.data.get("seconds") or float(plan.get("estimate_ms") or 0.0) / 1000)
    if choice is not None:
        return _Choice(
            event.seq, "route", choice["action"], tuple(choice["alternatives"]),
            propensity=float(choice["propensity"]), features=choice["features"], tokens=0, seconds=seconds,
        )  # fmt: skip
    return _Choice(
        event.seq, "route", str(plan["route"]), _with(routes, str(plan["route"])),
        propensity=_propensity(event), features=_signals(issue), tokens=0, seconds=seconds,
    )  # fmt: skip


def _follow(event: Event, state: _State) -> None:
    if event.kind == "message":
        state.history.append(msgspec.convert(event.data, Message))
    elif event.kind == "rewrite":
        state.history = msgspec.convert(event.data["history"], list[Message])
    elif event.kind == "invoke":
        state.turn += event.data["purpose"] == "turn"
    elif event.kind == "tool":
        state.calls += 1
        state.failures += bool(event.data["failed"])


def _decided(event: Event, state: _State, events: Sequence[Event], at: int) -> _Choice:
    """A decision of the context policy: to deliver the candidates, or to rewrite the history."""
    issue = str(events[0].data["issue"])
    if event.data["about"] == "candidates":
        prompt = _first_prompt(events[at:])
        delivered = count_message(Message("user", prompt.removeprefix(issue))) if event.data["yes"] else 0
        features = {**_signals(issue), "candidates": len(state.candidates), "tokens": delivered}
        actions, tokens = ("deliver", "withhold"), delivered
    else:
        whole, after = history_tokens(state.history), rewritten(state.history, issue)
        compacted = history_tokens(after) if after else whole
        reads = successful_reads(state.history)
        features = {
            "turn": state.turn,
            "turn_cap": int(events[0].data["settings"].get("turn_cap") or 0),
            "tokens": whole,
            "compacted_tokens": compacted,
            "reads": len(reads),
            "inside": float(bool(reads) and read_path(reads[-1][0]) in state.candidates),
        }
        actions = ("rewrite", "keep")
        tokens = compacted if event.data["yes"] and after else whole
    choice = event.data.get("choice")
    if choice is not None:  # one among more than two, with a known chance
        return _Choice(
            event.seq, str(event.data["about"]), choice["action"], tuple(choice["alternatives"]),
            propensity=float(choice["propensity"]), features=choice["features"], tokens=tokens, seconds=0.0,
        )  # fmt: skip
    return _Choice(
        event.seq, str(event.data["about"]), actions[0] if event.data["yes"] else actions[1], actions,
        propensity=_propensity(event), features=features, tokens=tokens, seconds=0.0,
    )  # fmt: skip


def _called(event: Event, state: _State, following: Sequence[Event], tools: tuple[str, ...]) -> _Choice:
    features = {
        "turn": state.turn,
        "calls": state.calls,
        "failures": state.failures,
        "reads": len(successful_reads(state.history)),
        "tokens": history_tokens(state.history),
        "candidates": len(state.candidates),
    }
    name = str(event.data["name"])
    return _Choice(
        event.seq, "tool", name, _with(tools, name),
        propensity=_propensity(event), features=features,
        tokens=_result_tokens(following), seconds=float(event.data["seconds"]),
    )  # fmt: skip


def _result_tokens(following: Sequence[Event]) -> int:
    """Tokens of the tool's result, which is the message after its event."""
    if following and following[0].kind == "message" and following[0].data["role"] == "tool":
        return count_message(msgspec.convert(following[0].data, Message))
    return 0


def _first_prompt(events: Sequence[Event]) -> str:
    users = (e.data for e in events if e.kind == "message" and e.data["role"] == "user")
    return str(next(users, {}).get("text", ""))


def _propensity(event: Event) -> float:
    return float(event.data.get("propensity") or 1.0)


def _with(names: tuple[str, ...], taken: str) -> tuple[str, ...]:
    return names if taken in names else (*names, taken)


def _routes_of(run: Event) -> tuple[str, ...]:
    """The routes that the run's views could serve."""
    ready = {kind for kind, status in run.data["views"].items() if status == "fresh"}
    return tuple(route for route, needed in _ROUTES.items() if ready.issuperset(needed))


def _signals(text: str) -> dict[str, float]:
    """What the planner reads of a question, as numbers."""
    found = read_signals(text)
    return {
        "words": found.words,
        "lines": found.lines,
        "identifiers": len(found.identifiers),
        "dotted": len(found.dotted),
        "paths": len(found.paths),
        "frames": len(found.frames),
        "quoted": len(found.quoted),
        "errors": len(found.errors),
        "regex": float(found.regex),
    }


def _to_end(events: Sequence[Event], seq: int) -> tuple[int, float]:
    """Tokens that the provider reported from an event on, and the seconds until the last one."""
    usages: list[dict[str, Any]] = [
        event.data["usage"] or {} for event in events[seq:] if event.kind == "reply"
    ]
    tokens = sum(int(each.get("prompt", 0)) + int(each.get("completion", 0)) for each in usages)
    return tokens, round(events[-1].at - events[seq].at, 6)

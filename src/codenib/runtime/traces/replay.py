"""A recorded run and opened views in, whether the same calls give the same evidence again out.

The candidates are searched for and every tool call is made again, in its order; no model is asked. A shell
command is never run again. Texts are compared without secrets, as an exported trace has them.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from codenib.core.errors import CodenibError, InputError, StateError
from codenib.core.text.masking import mask_recorded
from codenib.core.views import ViewKind
from codenib.planner.plan import ROUTER_ACTIONS
from codenib.runtime.context.messages import Message, ToolCall, well_formed
from codenib.runtime.providers.keys import hide
from codenib.runtime.query import compile_views
from codenib.runtime.skills.registry import SkillRegistry, load_skill_metadata
from codenib.runtime.tools.ordinary import ordinary_tools
from codenib.runtime.tools.registry import ToolRegistry
from codenib.runtime.traces.trace import Event
from codenib.runtime.views import Contexts, load_views
from codenib.serving.workspace import Workspace

_SHELL = "shell"


class ReplayedStep(msgspec.Struct, frozen=True):
    """A step that was made again: event number, what it was, and whether its evidence is the same.

    `same` is null where it was not made again, and `why` says the reason, or where the texts differ.
    """

    seq: int
    what: str
    same: bool | None
    why: str = ""


def replay_trace(events: Sequence[Event], contexts: Contexts) -> list[ReplayedStep]:
    """Make the steps of a run again on views of the same snapshot; another one is an error."""
    wanted, given = events[0].data["snapshot"]["id"], contexts.manifest.snapshot
    if wanted != given:
        raise StateError(
            f"the trace is of snapshot {wanted[:12]}, these views are of {given[:12]}",
            hint="codenib trace replay FILE, in the repository of the run",
        )
    tools = ToolRegistry(dict(ordinary_tools().tools))
    tools.extend(SkillRegistry(tuple(load_skill_metadata(events[0].data["skills"]))).tools())
    calls: dict[str, ToolCall] = {}
    steps: list[ReplayedStep] = []
    for event in events:
        if event.kind == "candidates":
            steps.append(_candidates(event, events[0], contexts))
        elif event.kind == "message":
            message = msgspec.convert(event.data, Message)
            calls.update({call.id: call for call in message.calls})
            if message.role == "tool":
                steps.append(_tool(event.seq, message, calls[message.call_id], tools, contexts))
    return steps


def open_snapshot_of(events: Sequence[Event], path: str) -> Contexts:
    """The views of the snapshot of a run, of the repository at `path`; of a commit they are built if needed.

    A worktree with edits can be opened while its snapshot is published, or the files are as they were.
    """
    taken = events[0].data["snapshot"]
    needed = {kind for kind, status in events[0].data["views"].items() if status == "fresh"}
    views = {ViewKind(kind) for kind in needed}
    with Workspace(path) as workspace:
        if workspace.current_snapshot() == taken["id"]:
            manifest = compile_views(path, views)
        elif taken["commit"] and not taken["dirty"]:
            manifest = workspace.index(
                [kind for kind in ViewKind if kind in views], at=taken["commit"]
            ).manifest
        else:
            raise StateError(
                f"the run was of uncommitted edits, which the files no longer have: {taken['id'][:12]}",
                hint="codenib trace show FILE",
            )
    return load_views(manifest, views, navigation=events[0].data["navigation"], repository=path)


def _candidates(event: Event, run: Event, contexts: Contexts) -> ReplayedStep:
    settings = run.data["settings"]
    route, fusion = settings["candidate_route"], "auto"
    if "choice" in event.data:
        action = ROUTER_ACTIONS[event.data["choice"]["action"]]
        route, fusion = action.route.value, action.fusion or "auto"
    _, blocks = contexts.candidates(
        run.data["issue"], int(settings["candidates"]), route=route, fusion=fusion
    )
    before = [(item["path"], item["start_line"], item["end_line"]) for item in event.data["items"]]
    now = [(block.item.path, block.item.start_line, block.item.end_line) for block in blocks]
    why = "" if before == now else f"{len(set(before) ^ set(now))} places differ, or their order"
    return ReplayedStep(event.seq, "candidates", before == now, why)


def _tool(
    seq: int, message: Message, call: ToolCall, tools: ToolRegistry, contexts: Contexts
) -> ReplayedStep:
    if call.name == _SHELL:
        return ReplayedStep(seq, call.name, None, "a shell command is not run again")
    try:
        done = tools.dispatch(call, contexts)
    except CodenibError as error:
        return ReplayedStep(seq, call.name, False, error.message)
    # A call of too many in one turn has a remark behind its result.
    recorded, again = _clean(message.text), _clean(well_formed(done.text))
    same = recorded == again or recorded.startswith(f"{again}\n\n")
    return ReplayedStep(seq, call.name, same, "" if same else _difference(recorded, again))


def _clean(text: str) -> str:
    return hide(mask_recorded(text))


def _difference(before: str, now: str) -> str:
    old, new = before.split("\n"), now.split("\n")
    at = next((n for n, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    return f"line {at + 1} of the result differs"


def check_replayable(events: Sequence[Event]) -> None:
    """Raise when the trace has no evidence to compare with."""
    if not any(event.kind in ("candidates", "tool") for event in events):
        raise InputError("the trace has no tool call and no candidates", hint="codenib trace show FILE")

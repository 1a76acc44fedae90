"""`codenib trace`: a trace's file in; a run as a person reads it, or training rows, out."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import click
import msgspec

from codenib.adapters.cli.options import as_json
from codenib.adapters.cli.output import print_json, say
from codenib.adapters.envelopes.envelope import whole
from codenib.adapters.envelopes.runs import ExportItem, trace_reply
from codenib.core.errors import InputError
from codenib.runtime.traces.export import FORMATS, export_rows
from codenib.runtime.traces.export_dataset import ExportOptions, export_dataset
from codenib.runtime.traces.export_outcomes import read_outcomes
from codenib.runtime.traces.export_rows import AIMS
from codenib.runtime.traces.replay import check_replayable, open_snapshot_of, replay_trace
from codenib.runtime.traces.trace import Event, read_trace

_SHOWN_LINES = 12
_WIDEST = 200


@click.group()
def trace() -> None:
    """Read the trace of an agent's run, or make training rows of it."""


@trace.command()
@click.argument("file", type=click.Path(dir_okay=False))
@click.option("--full", is_flag=True, help="Whole messages, not their first lines.")
@as_json
def show(file: str, full: bool, json_output: bool) -> None:
    """Show a run: what was asked, what the model said and did, what it cost."""
    events = read_trace(file)
    if json_output:
        print_json(trace_reply(events))
        return
    for event in events:
        for line in _lines(event, full):
            click.echo(line)


@trace.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(dir_okay=False))
@click.option("--format", "form", type=click.Choice(FORMATS), default="sft", show_default=True)
@click.option(
    "--for",
    "aim",
    type=click.Choice(AIMS),
    help="Training data with splits, data card and schema, in the folder that --out names.",
)
@click.option("--outcomes", metavar="FILE", help="With --for: how good runs were, a JSON object a line.")
@click.option("--consent", default="", metavar="TEXT", help="With --for: who lets these runs be used.")
@click.option("--no-parquet", is_flag=True, help="With --for: JSON Lines alone.")
@click.option("--no-source", is_flag=True, help="Leave the repository's text out of the rows.")
@click.option("--answered-only", is_flag=True, help="Only runs that ended with an answer.")
@click.option(
    "--out", default="-", help="Where the rows go, a JSON object a line (default: standard output)."
)
@as_json
def export(
    files: tuple[str, ...],
    form: Any,
    aim: Any,
    outcomes: str | None,
    consent: str,
    no_parquet: bool,
    no_source: bool,
    answered_only: bool,
    out: str,
    json_output: bool,
) -> None:
    """Turn traces into training rows.

    sft: a row for each model invocation, prompt and completion. openai: a row for each stretch of history, as
    OpenAI's fine-tuning takes it.

    With --for, a folder that trainers load: chat messages, preference pairs and decisions, as JSON Lines and
    Parquet, split by repository and time.
    """
    started = time.perf_counter()
    if aim is not None:
        options = ExportOptions(
            aim,
            outcomes=read_outcomes(outcomes) if outcomes else {},
            consent=consent,
            source=not no_source,
            answered_only=answered_only,
            parquet=not no_parquet,
        )
        _export_folder(files, out, options, json_output)
        return
    if outcomes or consent or no_parquet:
        raise InputError("--outcomes, --consent and --no-parquet belong to --for", hint="--for tools")
    traces = [read_trace(file) for file in files]
    rows = 0
    with click.open_file(out, "w", encoding="utf-8", atomic=out != "-") as stream:
        for events in traces:
            if answered_only and not _answered(events):
                continue
            for row in export_rows(events, form, source=not no_source):
                stream.write(msgspec.json.encode(row).decode() + "\n")
                rows += 1
    if out != "-":
        if json_output:
            item = ExportItem(out, rows, len(traces))
            print_json(whole((item,), "traces", time.perf_counter() - started))
        else:
            say(f"{rows} rows in {out}")


def _export_folder(files: tuple[str, ...], out: str, options: ExportOptions, json_output: bool) -> None:
    if out == "-":
        raise InputError("training data goes into a folder", hint=f"--for {options.aim} --out FOLDER")
    started = time.perf_counter()
    card = export_dataset({file: read_trace(file) for file in files}, out, options)
    if json_output:
        print_json(whole((ExportItem(out, card.total, card.runs),), "traces", time.perf_counter() - started))
        return
    for form, splits in card.rows.items():
        click.echo(f"{form}: " + ", ".join(f"{rows} {split}" for split, rows in splits.items()))
    say(f"{card.total} rows of {card.runs} runs in {out}; README.md there is the data card")
    if card.outcomes_without_trace:
        say(f"{card.outcomes_without_trace} outcomes are of no run that was given")
    if not card.consent:
        say('nobody\'s consent is stated: --consent "who allows what"')


@trace.command()
@click.argument("file", type=click.Path(dir_okay=False))
@as_json
@click.pass_obj
def replay(repository: str, file: str, json_output: bool) -> None:
    """Make the searches and tool calls of a run again, on its snapshot, and compare what they give.

    No model is asked and no shell command is run. The repository is the one here, or that of -C.
    """
    started = time.perf_counter()
    events = read_trace(file)
    check_replayable(events)
    with open_snapshot_of(events, repository) as contexts:
        steps = replay_trace(events, contexts)
    if json_output:
        print_json(whole(tuple(steps), "replay", time.perf_counter() - started))
    else:
        for step in steps:
            state = {True: "same", False: "differs", None: "not run"}[step.same]
            click.echo(f"{step.seq}  {step.what}: {state}{f' ({step.why})' if step.why else ''}")
        say(f"{sum(step.same is True for step in steps)} of {len(steps)} steps gave the same evidence")
    if any(step.same is False for step in steps):
        raise SystemExit(1)


def _answered(events: Sequence[Event]) -> bool:
    return any(event.kind == "answer" and event.data["answer"] is not None for event in events)


def _lines(event: Event, full: bool) -> list[str]:
    """An event as a person reads it; none for those that others tell."""
    data = event.data
    if event.kind == "run":
        where = (data["snapshot"]["commit"] or data["snapshot"]["id"])[:12]
        dirty = " with edits" if data["snapshot"]["dirty"] else ""
        head = f"{data['provider']}:{data['model']}, policy {data['policy']}, snapshot {where}{dirty}"
        tools = ", ".join(tool["name"] for tool in data["tools"])
        return [click.style(head, bold=True), f"tools: {tools}"]
    if event.kind == "message":
        return _message(data, full)
    if event.kind == "invoke":
        title = f"— invocation {data['number']} ({data['purpose']}, {data['messages']} messages)"
        return ["", click.style(title, fg="cyan")]
    if event.kind == "reply":
        usage = data["usage"]
        tokens = (
            f"{usage.get('prompt', 0):,} + {usage.get('completion', 0):,} tokens" if usage else "no usage"
        )
        return [click.style(f"  {tokens}, {data['seconds']:.1f} s, {data['stop']}", dim=True)]
    if event.kind == "tool":
        state = click.style("failed", fg="red") if data["failed"] else f"{data['total']} in all"
        who = f" by {data['provider']}" if data["provider"] else ""
        return [click.style(f"  {data['name']}: {state}{who}, {data['seconds'] * 1000:.0f} ms", dim=True)]
    return _remark(event)


def _remark(event: Event) -> list[str]:
    data = event.data
    if event.kind == "candidates":
        return [f"candidates: {len(data['items'])} of {data['total']} by the {data['plan']['route']} route"]
    if event.kind == "decision":
        what = "candidates" if data["about"] == "candidates" else "rewrite"
        return [click.style(f"  {what}: {'yes' if data['yes'] else 'no'} ({data['why']})", fg="magenta")]
    if event.kind == "rewrite":
        return [
            click.style(
                f"  the history is now {len(data['history'])} messages ({data['reason']})", fg="magenta"
            )
        ]
    if event.kind == "retry":
        return [click.style(f"  {data['why']}; again in {data['wait_s']} s", fg="yellow")]
    if event.kind == "warning":
        return [click.style(f"warning: {data['text']}", fg="yellow")]
    if event.kind == "error":
        return [click.style(f"{data['error']}: {data['message']}", fg="red")]
    if event.kind == "answer":
        places = [
            f"  {each['path']}:{each['start_line']}-{each['end_line']}  {each.get('symbol', '')}".rstrip()
            for each in data["located"]["locations"]
        ]
        summary = data["answer"]["summary"] if data["answer"] else "no answer"
        return ["", click.style(f"answer: {summary}", bold=True), *places]
    if event.kind == "end":
        usage = data["usage"]
        cost = f", ${usage['cost']:.4f}" if usage["cost"] is not None else ""
        sums = (
            f"{data['total']:,} tokens in {usage['invocations']} invocations{cost}, {data['seconds']:.1f} s"
        )
        return [f"{data['stop']} after {data['turns']} turns: {sums}"]
    return [f"{event.kind}: {data}"]


def _message(data: dict[str, Any], full: bool) -> list[str]:
    role, text = data["role"], data.get("text", "")
    if role == "system" and not full:
        return []
    lines = text.split("\n") if text else []
    if not full and len(lines) > _SHOWN_LINES:
        lines = [*lines[:_SHOWN_LINES], f"… {len(lines) - _SHOWN_LINES} more lines"]
    shown = [line if full or len(line) <= _WIDEST else f"{line[:_WIDEST]}…" for line in lines]
    indent = "    " if role == "tool" else "  "
    calls = [
        click.style(f"  → {call['name']}({_arguments(call)})", fg="green") for call in data.get("calls", ())
    ]
    head = [] if role in ("tool", "assistant") else [click.style(f"{role}:", bold=True)]
    return [*head, *(f"{indent}{line}" for line in shown), *calls]


def _arguments(call: dict[str, Any]) -> str:
    if call.get("malformed"):
        return f"malformed: {call['malformed'][:_WIDEST]}"
    pairs = call.get("arguments", {}).items()
    return ", ".join(f"{name}={msgspec.json.encode(value).decode()}" for name, value in pairs)

"""`codenib agent`: an issue in, the places that a model finds out, with tokens and cost."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from codenib.adapters.cli.options import as_json
from codenib.adapters.cli.output import ProgressDisplay, print_json, say
from codenib.adapters.envelopes.runs import agent_reply
from codenib.core.errors import InputError
from codenib.runtime.context.exploration import Exploration
from codenib.runtime.context.policies import POLICIES
from codenib.runtime.providers.choose import open_model
from codenib.runtime.providers.provider import Sampling
from codenib.runtime.providers.retries import RetryLimits
from codenib.runtime.query import query
from codenib.runtime.runner import TURN_CAP, AgentResult, RunSettings
from codenib.runtime.traces.trace import AgentRunTrace
from codenib.runtime.traces.usage import Price, UsageReport

_WIDEST = 160


class Terminal:
    """A run as a person follows it, on standard error."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._open = False  # a line of streamed text is not ended yet

    def text(self, part: str) -> None:
        if not self._quiet and part:
            click.echo(click.style(part, dim=True), err=True, nl=False)
            self._open = not part.endswith("\n")

    def step(self, line: str) -> None:
        self._line(f"→ {line if len(line) <= _WIDEST else line[:_WIDEST] + '…'}")

    def retry(self, why: str, wait_s: float) -> None:
        self._line(f"{why}; again in {wait_s:.0f} s")

    def notice(self, line: str) -> None:
        self._line(line)

    def close(self) -> None:
        """End a line that is still open."""
        if self._open:
            click.echo("", err=True)
            self._open = False

    def _line(self, line: str) -> None:
        self.close()
        if not self._quiet:
            say(line)


@click.command()
@click.argument("issue", required=False)
@click.option("-f", "--file", "issue_file", help="Read the issue from a file; `-` is standard input.")
@click.option("--policy", type=click.Choice((*POLICIES, "learned")), default="eager", show_default=True)
@click.option("--model", help="claude-…, gpt-…, anthropic:NAME or openai:NAME (default: $CODENIB_MODEL).")
@click.option("--base-url", metavar="URL", help="An OpenAI- or Anthropic-compatible server.")
@click.option("--key-env", metavar="NAME", help="The variable that holds the key, when not the usual one.")
@click.option(
    "--skills", metavar="NAMES", help="Skills with commas, by name or folder/; `none` for no skill."
)
@click.option("--shell", is_flag=True, help="Let the model run shell commands here.")
@click.option("--turns", default=TURN_CAP, show_default=True, help="The cap on turns.")
@click.option("--max-tokens", default=4096, show_default=True, help="The most that one reply may have.")
@click.option("--history-tokens", type=int, help="Leave the oldest tool results out beyond this many tokens.")
@click.option("--route", default="auto", show_default=True, help="How candidates are ranked.")
@click.option("--price", help="PROMPT,COMPLETION[,CACHED[,WRITTEN]] in dollars for a million tokens.")
@click.option("--live", is_flag=True, help="Definitions and references by language servers, not the graph.")
@click.option("--timeout", default=600.0, show_default=True, help="Seconds to wait for a part of a reply.")
@click.option("--no-stream", is_flag=True, help="Ask for whole replies.")
@click.option(
    "--explore",
    "share",
    type=click.FloatRange(0, 1, min_open=True),
    help="Leave this share of the context's and the route's decisions to chance, recorded by --trace.",
)
@click.option("--trace", "trace_file", type=click.Path(dir_okay=False), help="Write the run's events here.")
@as_json
@click.pass_obj
def agent(
    repository: str,
    issue: str | None,
    issue_file: str | None,
    policy: str,
    model: str | None,
    base_url: str | None,
    key_env: str | None,
    skills: str | None,
    shell: bool,
    turns: int,
    max_tokens: int,
    history_tokens: int | None,
    route: str,
    price: str | None,
    live: bool,
    timeout: float,
    no_stream: bool,
    share: float | None,
    trace_file: str | None,
    json_output: bool,
) -> None:
    """Let a model find the places that ISSUE is about.

    The model gets grep, read and list over one snapshot, and the skills that the views can serve. Its key
    comes from the environment (ANTHROPIC_API_KEY, OPENAI_API_KEY).
    """
    text = _issue(issue, issue_file)
    if share is not None and trace_file is None:
        raise InputError("a run that leaves decisions to chance is worth its trace", hint="--trace FILE")
    provider = open_model(
        model,
        base_url=base_url,
        key_variable=key_env,
        stream=not no_stream,
        retries=RetryLimits(timeout_s=timeout),
    )
    settings = RunSettings(
        turn_cap=_positive("--turns", turns),
        candidate_route=route,
        history_tokens=history_tokens,
        sampling=Sampling(max_tokens=_positive("--max-tokens", max_tokens)),
    )
    terminal = Terminal(quiet=json_output)
    with AgentRunTrace(trace_file) as trace, ProgressDisplay(quiet=json_output) as progress:
        try:
            result = query(
                text,
                repo_path=repository,
                provider=provider,
                policy=policy,
                skills=_names(skills),
                shell=shell,
                navigation="live" if live else "static",
                settings=settings,
                price=Price.parse(price) if price else None,
                trace=trace,
                listener=terminal,
                progress=progress,
                exploration=Exploration(share) if share is not None else None,
            )
        finally:
            terminal.close()
    if json_output:
        print_json(agent_reply(result, policy, trace_file))
    else:
        _print_result(result, trace_file)


def _print_result(result: AgentResult, trace_file: str | None) -> None:
    if result.answer is None:
        click.echo("No answer: the model did not keep to the answer's format.")
    else:
        click.echo(result.answer.summary or "(no summary)")
        for each in result.located.locations:
            place = click.style(f"{each.path}:{each.start_line}-{each.end_line}", fg="cyan")
            reason = f"  {each.reason}" if each.reason else ""
            click.echo(f"  {place}  {each.symbol}{reason}".rstrip())
        for line in result.located.unusable:
            click.echo(click.style(f"  not usable: {line}", fg="yellow"))
    say(f"{result.turns} turns, {describe_usage(result.usage)}, {result.seconds:.1f} s")
    if trace_file:
        say(f"trace: {trace_file}")


def describe_usage(usage: UsageReport) -> str:
    """One line on tokens and cost."""
    least = "at least " if usage.unreported else ""
    parts = [
        f"{least}{usage.total:,} tokens ({usage.prompt:,} prompt, {usage.cached:,} of it cached; "
        f"{usage.completion:,} completion)"
    ]
    if usage.answer_format:
        parts.append(f"{usage.answer_format} answer-format calls")
    parts.append(f"${usage.cost:.4f}" if usage.cost is not None else "cost unknown (--price)")
    return ", ".join(parts)


def _issue(issue: str | None, file: str | None) -> str:
    if (issue is None) == (file is None):
        raise InputError("give an issue, or --file FILE", hint='codenib agent "what is wrong"')
    if issue is not None:
        return issue
    try:
        return sys.stdin.read() if file == "-" else Path(str(file)).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read {file}: {error}", hint="codenib agent --file FILE") from error


def _names(skills: str | None) -> list[str] | None:
    if skills is None:
        return None
    names = [name.strip() for name in skills.split(",") if name.strip()]
    return [] if names == ["none"] else names


def _positive(option: str, value: int) -> int:
    if value < 1:
        raise InputError(f"{option} must be at least 1, not {value}", hint="codenib agent --help")
    return value

"""The commands about changes: history shows those that were made, impact what one would reach."""

from __future__ import annotations

from collections.abc import Sequence

import click

from codenib.adapters.cli.options import (
    EVERYTHING,
    as_json,
    asked_snapshot,
    at_revision,
    limit_option,
    no_refresh,
    shared,
    waiting,
)
from codenib.adapters.cli.output import opened, print_json, say
from codenib.adapters.cli.standing import Standing, path_here, place_here, standing_in
from codenib.adapters.envelopes.answers import blame_reply, history_reply
from codenib.adapters.envelopes.envelope import utc
from codenib.adapters.envelopes.navigation import impact_reply
from codenib.core.errors import InputError
from codenib.core.history import HistoryAnswer, Touch
from codenib.core.requests import HistoryRequest, ImpactRequest
from codenib.core.symbols import Affected, Completeness, Consequence, ImpactAnswer, ImpactPart
from codenib.serving.navigation.positions import parse_place

_SHOWN_LINES = 3
_KINDS: dict[Consequence, str] = {
    "dependent": "what depends on it",
    "test": "tests that reach it",
    "companion": "what usually changes with it",
}
_CLAIMS: dict[Completeness, str] = {
    "all": "all",
    "limited": "there may be more",
    "partial": "not all files were resolved",
    "unknown": "how many more is not known",
}


@click.command()
@click.argument("place", metavar="PATH[:START[-END]]")
@limit_option(20, "commits")
@click.option("--full", is_flag=True, help="Whole messages, not only their first line.")
@shared(at_revision, no_refresh, as_json)
@click.pass_obj
def history(
    repository: str, place: str, k: int, full: bool, at: str | None, no_refresh: bool, json_output: bool
) -> None:
    """Show who changed a file, or lines START to END of it: newest first, through renames.

    Only commits that lead to the snapshot count: with `--at REV`, nothing after REV is known.
    """
    snapshot = asked_snapshot(at, no_refresh)
    with opened(repository, quiet=json_output) as (workspace, progress):
        standing = standing_in(repository, workspace)
        written = parse_place(path_here(standing, place, workspace, snapshot))
        request = HistoryRequest(written.target, *written.lines, k, snapshot)
        answer = workspace.navigator.history(request)
        progress.close()
    if json_output:
        print_json(history_reply(answer))
    else:
        _print(answer, full, standing)


@click.command()
@click.argument("place", metavar="PATH[:START[-END]]")
@shared(at_revision, no_refresh, as_json)
@click.pass_obj
def blame(repository: str, place: str, at: str | None, no_refresh: bool, json_output: bool) -> None:
    """Show which commit changed each line of a file last, or lines START to END of it."""
    snapshot = asked_snapshot(at, no_refresh)
    with opened(repository, quiet=json_output) as (workspace, progress):
        standing = standing_in(repository, workspace)
        written = parse_place(path_here(standing, place, workspace, snapshot))
        request = HistoryRequest(written.target, *written.lines, snapshot=snapshot)
        answer = workspace.navigator.blame(request)
        progress.close()
    if json_output:
        print_json(blame_reply(answer))
        return
    for run in answer:
        lines = f"{run.start_line}-{run.end_line}" if run.end_line > run.start_line else str(run.start_line)
        when = utc(run.committed).date().isoformat() if run.commit else "not known"
        about = f"{run.commit[:10] or '-' * 10}  {when}  {run.author}  {run.subject}".rstrip()
        click.echo(f"{click.style(f'{lines:>11}', dim=True)}  {about}")
    if answer.uncommitted:
        say(f"{answer.uncommitted:,} of these lines are not committed")
    if answer.note:
        say(answer.note)


def _print(answer: HistoryAnswer, full: bool, standing: Standing) -> None:
    if answer.refreshed:
        say(answer.refreshed)
    if answer.snapshot.stale:
        say("not refreshed: files may have changed since")
    for touch in answer.items:
        day = utc(touch.committed).date().isoformat()
        commit = click.style(touch.commit[:10], fg="yellow")
        click.echo(f"{commit}  {day}  {click.style(touch.author, fg='cyan')}  {_subject(touch)}")
        click.echo(click.style(f"            {_where(touch, standing)}", dim=True))
        if full:
            for line in touch.message.split("\n")[1:]:
                click.echo(f"    {line}".rstrip())
    if not answer.items:
        click.echo("no commit changed this", err=True)
    if answer.together:
        click.echo(click.style("changes together with", bold=True))
        for other in answer.together:
            share = f"{other.together:>4} commits, {other.share:>4.0%}, {other.lift:,.0f} × chance"
            click.echo(f"  {standing.from_here(other.path)}  {click.style(share, dim=True)}")
    if answer.uncommitted:
        say(f"{answer.uncommitted:,} of these lines are not committed")
    if answer.note:
        say(answer.note)
    took = "" if answer.refreshed else f", {answer.seconds * 1000:.0f} ms"
    last = answer.snapshot.commit
    upto = f"up to {last[:10]}" if last else "in a repository without commits"
    say(f"{len(answer.items):,} of {answer.total:,} commits {upto}{took}")


def _subject(touch: Touch) -> str:
    return click.style(touch.subject or "(no message)", bold=True)


def _where(touch: Touch, standing: Standing) -> str:
    """Where the change is in the file as that commit left it."""
    spans = [f"{first}-{last}" if last > first else str(first) for first, last in touch.lines[:_SHOWN_LINES]]
    more = ", …" if len(touch.lines) > _SHOWN_LINES else ""
    path = standing.from_here(touch.path)
    place = f"{path}:{', '.join(spans)}{more}" if spans else path
    renamed = f"  renamed from {standing.from_here(touch.old_path)}" if touch.old_path else ""
    return f"{place}  +{touch.added} −{touch.removed}{renamed}"


@click.command()
@click.argument("where", metavar="[FILE[:LINE[:COL]]|SYMBOL]", required=False, default="")
@click.option("--name", default="", metavar="NAME", help="The name on that line, instead of a column.")
@click.option(
    "--diff", "diff_file", metavar="FILE", help="A unified diff, applied or not; - for standard input."
)
@click.option("--since", default="", metavar="REV", help="What is different from a revision (default: HEAD).")
@click.option("--depth", default=1, show_default=True, help="How many steps away dependents may be.")
@limit_option(50, "of each kind")
@shared(at_revision, no_refresh, waiting, as_json)
@click.pass_obj
def impact(
    repository: str,
    where: str,
    name: str,
    diff_file: str | None,
    since: str,
    depth: int,
    k: int,
    at: str | None,
    no_refresh: bool,
    wait: bool,
    json_output: bool,
) -> None:
    """Show what a change may reach: what depends on it, which tests reach it, what usually changes with it.

    The change is a place or SYMBOL, a diff, or without any of them what is not committed.
    """
    diff = _read_diff(diff_file) if diff_file is not None else ""
    snapshot = asked_snapshot(at, no_refresh, wait)
    with opened(repository, quiet=json_output) as (workspace, progress):
        standing = standing_in(repository, workspace)
        place = place_here(standing, where, workspace, snapshot) if where else ""
        request = ImpactRequest(
            place, name=name, diff=diff, since=since, depth=depth, k=k or EVERYTHING, snapshot=snapshot
        )
        answer = workspace.impact_analyzer.impact(request)
        progress.close()
    if json_output:
        print_json(impact_reply(answer))
    else:
        _print_impact(answer, standing)


def _read_diff(file: str) -> str:
    try:
        with click.open_file(file, encoding="utf-8", errors="replace") as stream:
            diff: str = stream.read()
    except OSError as error:
        raise InputError(
            f"cannot read {file}: {getattr(error, 'strerror', None) or error}",
            hint="git diff | codenib impact --diff -",
        ) from error
    if not diff.strip():
        raise InputError(f"the diff {file} is empty", hint="git diff | codenib impact --diff -")
    return diff


def _print_impact(answer: ImpactAnswer, standing: Standing) -> None:
    if answer.refreshed:
        say(answer.refreshed)
    click.echo(click.style(f"changed: {len(answer.changed):,}", bold=True))
    for each in answer.changed:
        place = click.style(f"{standing.from_here(each.path)}:{each.line}", fg="cyan")
        named = "" if each.qualified == each.path else f"  {click.style(each.qualified, bold=True)}"
        click.echo(f"  {place}{named}  {click.style(each.kind, dim=True)}")
    for part in answer.parts:
        _print_part(part, answer.of_kind(part.relation), standing)
    if answer.note:
        say(answer.note)
    say(f"{len(answer):,} of {answer.total:,} in {answer.seconds * 1000:.0f} ms")


def _print_part(part: ImpactPart, items: Sequence[Affected], standing: Standing) -> None:
    claim = click.style(f"({part.provider}; {_CLAIMS[part.completeness]})", dim=True)
    click.echo(f"{click.style(_KINDS[part.relation], bold=True)}: {_count(part, items)} {claim}")
    for item in items:
        line = f":{item.line}" if part.relation != "companion" else ""
        place = click.style(f"{standing.from_here(item.path)}{line}", fg="cyan")
        named = f"  {click.style(item.symbol, bold=True)}" if item.symbol else ""
        click.echo(f"  {place}{named}  {click.style(item.why, dim=True)}")
    if part.note:
        say(f"  {part.note}")


def _count(part: ImpactPart, items: Sequence[Affected]) -> str:
    """How many are known; that none is known is not that there is none."""
    if not part.total:
        return {"all": "none", "unknown": "not known"}.get(part.completeness, "none known")
    return f"{len(items):,} of {part.total:,}" if part.total > len(items) else f"{part.total:,}"

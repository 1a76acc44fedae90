"""The command that asks git's past: history."""

from __future__ import annotations

import click

from codenib.adapters.cli.options import (
    as_json,
    asked_snapshot,
    at_revision,
    limit_option,
    no_refresh,
    shared,
)
from codenib.adapters.cli.output import opened, print_json, say
from codenib.adapters.cli.standing import Standing, path_here, standing_in
from codenib.adapters.envelopes.answers import history_reply
from codenib.adapters.envelopes.envelope import utc
from codenib.core.history import HistoryAnswer, Touch
from codenib.core.requests import HistoryRequest
from codenib.serving.navigation.positions import parse_place

_SHOWN_LINES = 3


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

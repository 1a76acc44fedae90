"""The command `fleet sync`: mirrors follow their sources."""

from __future__ import annotations

import time

import click

from codenib.adapters.cli.commands.fleet.catalogue import repo_globs, say_if_none
from codenib.adapters.cli.options import as_json, shared
from codenib.adapters.cli.output import ProgressDisplay, print_json, say
from codenib.adapters.envelopes.fleet import fleet_sync_reply
from codenib.core.errors import ProviderError
from codenib.fleet.catalogue.catalogue import Catalogue
from codenib.fleet.catalogue.sync import JOBS, HeadMove, SyncOutcome, is_due, sync_all


@click.command()
@click.option("--due", is_flag=True, help="Only those whose schedule asks for it now (for a timer).")
@click.option("--jobs", type=click.IntRange(1, 64), default=JOBS, show_default=True, help="Sources at once.")
@shared(repo_globs, as_json)
def sync(due: bool, jobs: int, repos: tuple[str, ...], json_output: bool) -> None:
    """Fetch what moved at the sources, and drop branches that are gone there. Exit 4 when one failed.

    Git runs with your own credentials and asks for nothing. A source that cannot be reached keeps its last
    state here.
    """
    started = time.perf_counter()
    catalogue = Catalogue.open()
    entries = catalogue.matching(repos)
    say_if_none(entries, catalogue)
    if due:
        entries = tuple(entry for entry in entries if is_due(catalogue, entry, time.time()))
    outcomes: list[SyncOutcome] = []
    with ProgressDisplay(quiet=json_output) as progress:
        for outcome in sync_all(catalogue, entries, jobs=jobs):
            outcomes.append(outcome)
            progress("sources", len(outcomes), len(entries))
    reply = fleet_sync_reply(outcomes, time.perf_counter() - started)
    if json_output:
        print_json(reply)
    else:
        _print(sorted(outcomes, key=lambda each: each.name))
        unmoved = reply.total - reply.moved - reply.failed
        say(f"{reply.moved:,} moved, {unmoved:,} did not, {reply.failed:,} failed; {reply.seconds:.1f} s")
    if reply.failed:
        raise click.exceptions.Exit(ProviderError.exit_code)


def _print(outcomes: list[SyncOutcome]) -> None:
    for outcome in outcomes:
        if outcome.moved:
            moves = ", ".join(map(_described, outcome.moved))
            click.echo(f"{click.style(outcome.name, bold=True)}  {moves}")
        elif outcome.error:
            click.echo(f"{outcome.name}  {click.style(outcome.state, fg='red')}  {outcome.error}")
            click.echo(f"  try: {outcome.repeat}")


def _described(move: HeadMove) -> str:
    if not move.before:
        return f"{move.branch} at {move.after[:10]}"
    return f"{move.branch} {move.before[:10]} → {move.after[:10] or 'gone'}"

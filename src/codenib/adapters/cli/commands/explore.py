"""The commands with a token budget: explore and map."""

from __future__ import annotations

from pathlib import Path

import click

from codenib.adapters.cli.options import (
    as_json,
    asked_snapshot,
    at_revision,
    no_refresh,
    path_globs,
    query_words,
    shared,
)
from codenib.adapters.cli.output import opened, print_json, say
from codenib.adapters.cli.standing import standing_in
from codenib.adapters.envelopes.answers import explore_reply, map_reply
from codenib.core.context import ContextPack, RepoMap
from codenib.core.requests import ExploreRequest
from codenib.serving.context.ledger import Ledger


@click.command()
@query_words
@click.option("--max-tokens", default=4000, show_default=True, help="The budget; never exceeded.")
@click.option(
    "--ledger",
    "ledger_file",
    type=click.Path(dir_okay=False),
    help="A file that remembers what was shown: later calls only name it.",
)
@shared(at_revision, path_globs, no_refresh, as_json)
@click.pass_obj
def explore(
    repository: str,
    query: str,
    max_tokens: int,
    ledger_file: str | None,
    at: str | None,
    paths: tuple[str, ...],
    no_refresh: bool,
    json_output: bool,
) -> None:
    """Collect the evidence for QUERY: the best units with their surroundings, the next by declaration.

    The text is a pack for an agent, of at most --max-tokens tokens.
    """
    ledger = Ledger.load(Path(ledger_file)) if ledger_file else None
    with opened(repository, quiet=json_output) as (workspace, progress):
        request = ExploreRequest(
            query, max_tokens, standing_in(repository, workspace).globs(paths), asked_snapshot(at, no_refresh)
        )
        pack = workspace.explorer.explore(request, ledger)
        progress.close()
    if ledger is not None and ledger_file:
        ledger.save(Path(ledger_file))
    if json_output:
        print_json(explore_reply(pack))
        return
    click.echo(pack.text, nl=False)
    _remark(pack)


@click.command()
@click.option("--max-tokens", default=1000, show_default=True, help="The budget; never exceeded.")
@click.option("--query", metavar="QUERY", help="Prefer what this is about.")
@shared(at_revision, no_refresh, as_json)
@click.pass_obj
def map(
    repository: str, max_tokens: int, query: str | None, at: str | None, no_refresh: bool, json_output: bool
) -> None:
    """Show folders, files and their most important declarations, in at most --max-tokens tokens."""
    with opened(repository, quiet=json_output) as (workspace, progress):
        drawn = workspace.explorer.map(query, max_tokens, asked_snapshot(at, no_refresh))
        progress.close()
    if json_output:
        print_json(map_reply(drawn))
        return
    click.echo(drawn.text, nl=False)
    _remark(drawn)


def _remark(answer: ContextPack | RepoMap) -> None:
    """What people want to know and agents need not pay for."""
    if answer.refreshed:
        say(answer.refreshed)
    if answer.snapshot.stale:
        say("not refreshed: files may have changed since")
    took = "" if answer.refreshed else f", {answer.seconds * 1000:.0f} ms"
    say(f"{answer.tokens:,} of {answer.max_tokens:,} tokens ({answer.tokenizer}){took}")
    if isinstance(answer, ContextPack) and answer.note:
        say(answer.note)

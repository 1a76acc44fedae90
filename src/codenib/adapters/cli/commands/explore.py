"""The commands that show a repository at a glance: explore, map, overview and modules."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from codenib.adapters.cli.options import (
    EVERYTHING,
    as_json,
    asked_snapshot,
    at_revision,
    limit_option,
    no_refresh,
    path_globs,
    query_words,
    shared,
)
from codenib.adapters.cli.output import opened, print_json, say
from codenib.adapters.cli.standing import path_here, standing_in
from codenib.adapters.envelopes.answers import explore_reply, map_reply, modules_reply, overview_reply
from codenib.adapters.envelopes.envelope import utc
from codenib.core.context import ContextPack, RepoMap
from codenib.core.requests import ExploreRequest, ModulesRequest, OverviewRequest
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


@click.command()
@click.argument("folder", default="")
@limit_option(20, "files")
@shared(at_revision, no_refresh, as_json)
@click.pass_obj
def overview(
    repository: str, folder: str, k: int, at: str | None, no_refresh: bool, json_output: bool
) -> None:
    """Show the longest files of the repository, or below FOLDER: lines, last change, uses by others."""
    snapshot = asked_snapshot(at, no_refresh)
    with opened(repository, quiet=json_output) as (workspace, progress):
        standing = standing_in(repository, workspace)
        below = path_here(standing, folder, workspace, snapshot) if folder else standing.prefix
        answer = workspace.explorer.overview(OverviewRequest(below, k, snapshot))
        progress.close()
    if json_output:
        print_json(overview_reply(answer))
        return
    for item in answer:
        changed = "last change not known" if item.last_change is None else f"{utc(item.last_change).date()}"
        used = "uses not known" if item.used is None else f"used {item.used:,}×"
        about = [f"{item.lines:>7,} lines", changed, used, item.language, *item.marks]
        path = click.style(standing.from_here(item.path), fg="cyan")
        click.echo(f"{path}  {click.style(', '.join(filter(None, about)).strip(), dim=True)}")
    say(f"{len(answer.items):,} of {answer.total:,} files, {answer.lines:,} lines in all")
    if answer.unmeasured:
        say(f"{answer.unmeasured:,} more files are in no view")
    if answer.note:
        say(answer.note)


@click.command()
@click.argument("folder", default="")
@click.option("--open", "folders", multiple=True, help="Show what this folder holds; may be repeated.")
@click.option("--tests", type=click.Choice(["include", "exclude"]), default="exclude", show_default=True)
@limit_option(40, "folders and files")
@shared(at_revision, no_refresh, as_json)
@click.pass_obj
def modules(
    repository: str,
    folder: str,
    folders: tuple[str, ...],
    tests: Any,
    k: int,
    at: str | None,
    no_refresh: bool,
    json_output: bool,
) -> None:
    """Show which folders and files use which, by the graph, and where they form cycles."""
    snapshot = asked_snapshot(at, no_refresh)
    with opened(repository, quiet=json_output) as (workspace, progress):
        standing = standing_in(repository, workspace)
        below = path_here(standing, folder, workspace, snapshot) if folder else standing.prefix
        asked = ModulesRequest(below, folders or None, k or EVERYTHING, tests=tests, snapshot=snapshot)
        answer = workspace.explorer.modules(asked)
        progress.close()
    if json_output:
        print_json(modules_reply(answer))
        return
    for item in answer:
        ring = click.style(f"  cycle {item.cycle}", fg="yellow") if item.cycle else ""
        path = click.style(standing.from_here(item.path), fg="cyan")
        about = f"{item.files:,} files, {item.lines:,} lines, used {item.used:,}×, uses others {item.uses:,}×"
        click.echo(f"{path}  {click.style(about, dim=True)}{ring}")
        for use in answer.uses:
            if use.source == item.path:
                arrow = "⇄" if use.mutual else "→"
                click.echo(click.style(f"    {arrow} {standing.from_here(use.to)}  {use.often:,}×", dim=True))
    told = f"{len(answer.uses):,} of {answer.total_uses:,} uses"
    say(f"{len(answer.items):,} of {answer.total:,} folders and files, {told}")
    if answer.note:
        say(answer.note)

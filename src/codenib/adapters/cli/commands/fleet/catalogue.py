"""The commands of the catalogue: fleet add, list, remove, status."""

from __future__ import annotations

import time
from collections.abc import Iterable

import click

from codenib.adapters.cli.options import as_json, shared, views_option
from codenib.adapters.cli.output import print_json, say
from codenib.adapters.envelopes.envelope import whole
from codenib.adapters.envelopes.fleet import (
    FleetRepository,
    FleetStatusItem,
    fleet_repository,
    fleet_status_item,
)
from codenib.core.errors import InputError
from codenib.fleet.catalogue.catalogue import Catalogue
from codenib.fleet.catalogue.entry import DEFAULT_TENANT, EntryOptions
from codenib.fleet.catalogue.sources import entries_of
from codenib.serving.choices import parse_views

repo_globs = click.option(
    "--repos", multiple=True, metavar="GLOB", help="Only repositories of this name; `!GLOB` excludes."
)


@click.command()
@click.argument("sources", nargs=-1, metavar="[URL|PATH]...")
@click.option("--from", "listed", metavar="FILE", help="Also each line `SOURCE [NAME]` of a file.")
@click.option("--org", metavar="FOLDER", help="Also each clone below a folder, called by its path there.")
@click.option(
    "--name", default="", metavar="NAME", help="What one repository is called (default: OWNER/NAME)."
)
@click.option(
    "--branch", "branches", multiple=True, metavar="GLOB", help="A branch to keep; may be repeated."
)
@click.option("--tenant", default=DEFAULT_TENANT, show_default=True, metavar="NAME", help="Whose it is.")
@click.option(
    "--every", "schedule", default="", metavar="TIME", help="How often `sync --due` takes it: 15m, 6h, 1d."
)
@click.option("--mirror", is_flag=True, help="Copy local repositories too, instead of reading them in place.")
@shared(views_option, as_json)
def add(
    sources: tuple[str, ...],
    listed: str | None,
    org: str | None,
    name: str,
    branches: tuple[str, ...],
    tenant: str,
    schedule: str,
    mirror: bool,
    views: str | None,
    json_output: bool,
) -> None:
    """Add repositories: by URL, which git fetches with your own credentials, or the path of a clone.

    A clone is read where it is, without a copy. What is there already with the same source is changed to
    what is asked for now.
    """
    started = time.perf_counter()
    wanted = parse_views(views) if views else ()
    options = EntryOptions(branches=branches, views=wanted, tenant=tenant, schedule=schedule, mirror=mirror)
    entries = entries_of(sources, options, name=name, listed=listed or "", org=org or "")
    before = Catalogue.open()
    known = {entry.name for entry in before.entries}
    catalogue = before.add(entries)
    rows = tuple(fleet_repository(catalogue, entry) for entry in entries)
    if json_output:
        print_json(whole(rows, "catalogue", time.perf_counter() - started))
        return
    for row in rows:
        click.echo(f"{'changed' if row.name in known else 'added'} {_described(row)}")
    say(_size(catalogue))
    if any(row.place == "mirror" for row in rows):
        say("codenib fleet sync fetches the mirrors")


@click.command("list")
@shared(repo_globs, as_json)
def list_repositories(repos: tuple[str, ...], json_output: bool) -> None:
    """List the repositories: name, source, branches, views, tenant and schedule."""
    started = time.perf_counter()
    catalogue = Catalogue.open()
    rows = tuple(fleet_repository(catalogue, entry) for entry in catalogue.matching(repos))
    if json_output:
        print_json(whole(rows, "catalogue", time.perf_counter() - started))
        return
    for row in rows:
        click.echo(_described(row))
    say_if_none(rows, catalogue)


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@as_json
def remove(names: tuple[str, ...], json_output: bool) -> None:
    """Take repositories out by NAME, with their mirrors; a clone that was read in place is not touched.

    Their views go with the next `codenib gc`.
    """
    started = time.perf_counter()
    catalogue = Catalogue.open()
    rows = tuple(fleet_repository(catalogue, catalogue.entry(name)) for name in dict.fromkeys(names))
    left = catalogue.remove([row.name for row in rows])
    if json_output:
        print_json(whole(rows, "catalogue", time.perf_counter() - started))
        return
    for row in rows:
        click.echo(f"removed {row.name}")
    say(_size(left))


@click.command()
@shared(repo_globs, as_json)
def status(repos: tuple[str, ...], json_output: bool) -> None:
    """Show which commits each repository has, since when, what is compiled, and why the last sync failed."""
    started = time.perf_counter()
    catalogue = Catalogue.open()
    rows = tuple(fleet_status_item(catalogue, entry) for entry in catalogue.matching(repos))
    if json_output:
        print_json(whole(rows, "catalogue", time.perf_counter() - started))
        return
    for row in rows:
        _print_status(row)
    say_if_none(rows, catalogue)


_COLORS = {"fresh": "green", "never": "yellow", "failed": "red", "gone": "red"}


def _size(catalogue: Catalogue) -> str:
    count = len(catalogue.entries)
    return f"the fleet has {count:,} {'repository' if count == 1 else 'repositories'}"


def _print_status(row: FleetStatusItem) -> None:
    heads = ", ".join(
        f"{branch} {commit[:10]}{_standing(row.compiled.get(branch), commit)}"
        for branch, commit in row.heads.items()
    )
    if row.state == "never":
        heads = "heads unknown: " + ", ".join(
            [f"{branch} compiled at {commit[:10]}" for branch, commit in row.compiled.items()]
            + [f"codenib fleet sync --repos {row.name}"]
        )
    synced = f" at {row.synced:%Y-%m-%d %H:%M} UTC" if row.synced else ""
    state = click.style("never synced" if row.state == "never" else row.state, fg=_COLORS[row.state])
    click.echo(f"{row.name}  {state}{synced}  {heads}".rstrip())
    if row.error:
        click.echo(f"  {row.error}")
        click.echo(f"  try: codenib fleet sync --repos {row.name}")


def _standing(compiled: str | None, commit: str) -> str:
    """How what was compiled last of a branch stands to its commit."""
    if compiled is None:
        return " (not compiled)"
    return "" if compiled == commit else f" (compiled at {compiled[:10]})"


def _described(row: FleetRepository) -> str:
    parts = [
        click.style(row.name, bold=True),
        row.source if row.place == "mirror" else f"{row.source} (in place)",
        f"branches {', '.join(row.branches)}" if row.branches else "",
        f"views {', '.join(row.views)}" if row.views else "",
        f"tenant {row.tenant}" if row.tenant != DEFAULT_TENANT else "",
        f"every {row.schedule}" if row.schedule else "",
    ]
    return "  ".join(part for part in parts if part)


def say_if_none(rows: Iterable[object], catalogue: Catalogue) -> None:
    """Say that the fleet is empty; globs that choose nothing of it are an error."""
    if not catalogue.entries:
        say("the fleet is empty; codenib fleet add URL|PATH…")
    elif not tuple(rows):
        raise InputError("no repository of the fleet has such a name", hint="codenib fleet list")

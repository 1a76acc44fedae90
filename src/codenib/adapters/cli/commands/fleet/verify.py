"""The command `fleet verify`: whether a store has everything that its heads name."""

from __future__ import annotations

import click

from codenib.adapters.cli.output import say
from codenib.core.errors import StateError
from codenib.fleet.store.objects import ObjectStore
from codenib.fleet.store.verify import verify_store

_SHOWN = 50


@click.command()
@click.option("--store", "url", required=True, metavar="URL", help="file:///…, s3://…, gs://… or az://…")
@click.option(
    "--sample", type=click.FloatRange(0, 1), default=1.0, show_default=True,
    help="The share of objects whose bytes are read; existence and sizes are checked of all.",
)  # fmt: skip
def verify(url: str, sample: float) -> None:
    """Follow every head of a store to its manifest and objects. Exit 3 when one is missing or damaged."""
    report = verify_store(ObjectStore.open(url), sample=sample)
    for problem in report.problems[:_SHOWN]:
        click.echo(problem)
    if len(report.problems) > _SHOWN:
        click.echo(f"… and {len(report.problems) - _SHOWN:,} more")
    count = len(report.problems)
    problems = f"{count:,} problem{'' if count == 1 else 's'}" if count else "no problem"
    read = "all read" if sample == 1 else f"{sample:.0%} read"
    click.echo(
        f"{report.heads:,} heads, {report.objects:,} objects of {report.size_bytes / 1e6:,.1f} MB ({read}), "
        f"{report.packs:,} packs: {problems}"
    )
    if report.unreferenced:
        say(f"{report.unreferenced:,} objects that no head names: of killed or unfinished writers")
    if report.problems:
        raise click.exceptions.Exit(StateError.exit_code)

"""The command `fleet verify`: whether a store has everything that its heads name."""

from __future__ import annotations

import time

import click

from codenib.adapters.cli.options import as_json
from codenib.adapters.cli.output import print_json, say
from codenib.adapters.envelopes.envelope import whole
from codenib.adapters.envelopes.fleet import StoreItem
from codenib.core.errors import StateError
from codenib.fleet.store.objects import ObjectStore
from codenib.fleet.store.verify import StoreReport, verify_store

_SHOWN = 50


@click.command()
@click.option("--store", "url", required=True, metavar="URL", help="file:///…, s3://…, gs://… or az://…")
@click.option(
    "--sample", type=click.FloatRange(0, 1), default=1.0, show_default=True,
    help="The share of objects whose bytes are read; existence and sizes are checked of all.",
)  # fmt: skip
@as_json
def verify(url: str, sample: float, json_output: bool) -> None:
    """Follow every head of a store to its manifest and objects. Exit 3 when one is missing or damaged."""
    started = time.perf_counter()
    report = verify_store(ObjectStore.open(url), sample=sample)
    if json_output:
        print_json(whole((_item(url, report),), "store", time.perf_counter() - started))
    else:
        _print(report)
    if report.problems:
        raise click.exceptions.Exit(StateError.exit_code)


def _item(url: str, report: StoreReport) -> StoreItem:
    return StoreItem(
        store=url,
        sampled=report.sampled,
        heads=report.heads,
        objects=report.objects,
        size_bytes=report.size_bytes,
        packs=report.packs,
        unreferenced=report.unreferenced,
        problems=tuple(report.problems),
    )


def _print(report: StoreReport) -> None:
    for problem in report.problems[:_SHOWN]:
        click.echo(problem)
    if len(report.problems) > _SHOWN:
        click.echo(f"… and {len(report.problems) - _SHOWN:,} more")
    count = len(report.problems)
    problems = f"{count:,} problem{'' if count == 1 else 's'}" if count else "no problem"
    read = "all read" if report.sampled == 1 else f"{report.sampled:.0%} read"
    click.echo(
        f"{report.heads:,} heads, {report.objects:,} objects of {report.size_bytes / 1e6:,.1f} MB ({read}), "
        f"{report.packs:,} packs: {problems}"
    )
    if report.unreferenced:
        say(f"{report.unreferenced:,} objects that no head names: of killed or unfinished writers")

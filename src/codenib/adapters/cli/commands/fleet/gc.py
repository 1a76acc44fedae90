"""The command `fleet gc`: a store without what no head names."""

from __future__ import annotations

import time

import click

from codenib.adapters.cli.options import as_json
from codenib.adapters.cli.output import human_size, print_json, say
from codenib.adapters.envelopes.envelope import utc
from codenib.adapters.envelopes.fleet import store_collection_reply
from codenib.core.errors import InputError
from codenib.fleet.catalogue.entry import seconds_of
from codenib.fleet.store.collect import CollectionRules, StoreCollection, collect_store
from codenib.fleet.store.objects import ObjectStore

_LEAST_S = 3600  # a head that moves takes minutes at most, with all repetitions


@click.command()
@click.option("--store", "url", required=True, metavar="URL", help="file:///…, s3://…, gs://… or az://…")
@click.option(
    "--grace", default="1d", show_default=True, metavar="TIME",
    help="How long what no head names stays, and stays marked: 1h, 1d; an hour at least.",
)  # fmt: skip
@click.option(
    "--snapshots", "snapshots", default="", metavar="TIME",
    help="Also forget snapshots that no branch names and nobody published for so long: 90d.",
)  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Say what would be done.")
@as_json
def gc(url: str, grace: str, snapshots: str, dry_run: bool, json_output: bool) -> None:
    """Remove what no head of a store names, while others may publish.

    One run marks it, another, the grace period later, removes what is still marked: run it every day.
    """
    started = time.perf_counter()
    rules = CollectionRules(
        grace_s=_seconds("--grace", grace),
        snapshots_s=_seconds("--snapshots", snapshots) if snapshots else None,
        dry=dry_run,
    )
    report = collect_store(ObjectStore.open(url), rules)
    if json_output:
        print_json(store_collection_reply(url, report, dry_run, time.perf_counter() - started))
    else:
        _print(report, dry_run)


def _seconds(option: str, written: str) -> int:
    seconds = seconds_of(written)
    if seconds is None or seconds < _LEAST_S:
        raise InputError(
            f"{option} {written}: a time such as 1h or 30d, an hour at least", hint=f"{option} 1d"
        )
    return seconds


def _print(report: StoreCollection, dry_run: bool) -> None:
    would = "would be " if dry_run else ""
    if report.retired:
        click.echo(f"{report.retired:,} snapshots {would}forgotten")
    if report.removed or not report.marked:
        click.echo(f"{report.removed:,} objects {would}removed, {human_size(report.removed_bytes)}")
    if report.marked:
        due = f"{utc(int(report.due_s)):%Y-%m-%d %H:%M} UTC"
        size = human_size(report.marked_bytes)
        click.echo(f"{report.marked:,} objects of {size} {would}marked: a run after {due} removes them")
    if report.partials:
        click.echo(f"{report.partials:,} files removed that killed writers left half written")
    say(
        f"{report.heads:,} heads; {report.objects:,} objects of {human_size(report.size_bytes)} before; "
        f"{report.young:,} that no head names are too new"
    )

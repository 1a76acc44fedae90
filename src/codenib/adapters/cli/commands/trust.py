"""`codenib trust`: which repositories may run code in engines, and since when."""

from __future__ import annotations

import time

import click

from codenib.adapters.cli.options import as_json
from codenib.adapters.cli.output import print_json, say
from codenib.adapters.envelopes.envelope import utc, whole
from codenib.adapters.envelopes.upkeep import TrustItem
from codenib.serving.installation import end_trust, trust_records


@click.command()
@click.option("--revoke", is_flag=True, help="Trust this repository no more.")
@as_json
@click.pass_obj
def trust(repository: str, revoke: bool, json_output: bool) -> None:
    """List the repositories whose build scripts and macros engines may run; `index --trust` adds one.

    Trust belongs to a repository, not to its path: it ends when another one is put there. Engines of a
    trusted repository run as you do, with network and all your files; those of others run in a sandbox.
    """
    started = time.perf_counter()
    if revoke:
        end_trust(repository)
    items = tuple(
        TrustItem(record.place, utc(int(record.since)), record.identity.origin, record.identity.commit)
        for record in trust_records()
    )
    if json_output:
        print_json(whole(items, "store", time.perf_counter() - started))
        return
    for item in items:
        origin = f", cloned from {item.origin}" if item.origin else ""
        commit = item.commit[:12] or "no commit"
        click.echo(f"{item.root}  since {item.since:%Y-%m-%d %H:%M} UTC, at {commit}{origin}")
    if items:
        say("their engines run as you do, without a sandbox")
    else:
        say("no repository is trusted")

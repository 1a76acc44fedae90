"""The command `fleet index`: the views of all repositories, compiled here or on a cluster."""

from __future__ import annotations

import click

from codenib.adapters.cli.commands.fleet.catalogue import repo_globs, say_if_none
from codenib.adapters.cli.options import as_json, shared, views_option
from codenib.adapters.cli.output import ProgressDisplay, print_json, say
from codenib.adapters.envelopes.fleet import fleet_index_reply
from codenib.core.errors import ProviderError
from codenib.fleet.catalogue.catalogue import Catalogue
from codenib.fleet.compile.compile import CompileRequest, FleetReport, compile_fleet
from codenib.serving.choices import parse_views


@click.command()
@click.option(
    "--on",
    default="local",
    show_default=True,
    metavar="WHERE",
    help="local; ray (a cluster of this machine); HOST:PORT, auto or ray://HOST:PORT of a cluster.",
)
@click.option(
    "--store", default="", metavar="URL", help="Publish to file:///…, s3://…, gs://… or az://… too."
)
@click.option("--jobs", type=click.IntRange(0, 1024), default=0, help="Local processes (default: the cores).")
@shared(repo_globs, views_option, as_json)
def index(
    on: str, store: str, jobs: int, repos: tuple[str, ...], views: str | None, json_output: bool
) -> None:
    """Compile the views of every kept branch that are not up to date. Exit 4 when something failed.

    What is published stays published when this command, a worker or a node is killed; run it again, and only
    the rest is done. Mirrors are not refreshed: that is `codenib fleet sync`.
    """
    catalogue = Catalogue.open()
    say_if_none(catalogue.matching(repos), catalogue)
    request = CompileRequest(
        repos=repos, views=parse_views(views) if views else (), on=on, jobs=jobs, store=store
    )
    with ProgressDisplay(quiet=json_output) as progress:
        report = compile_fleet(catalogue, request, progress)
    if json_output:
        print_json(fleet_index_reply(report))
    else:
        _print(report)
    if report.failures:
        raise click.exceptions.Exit(ProviderError.exit_code)


def _print(report: FleetReport) -> None:
    for result in sorted(report.results, key=lambda each: (each.name, each.branch, each.group)):
        if not result.error:
            done = ", ".join(
                f"{kind} {click.style(each.how, fg='red') if each.how == 'failed' else each.how}"
                for kind, each in result.views.items()
            )
            name = click.style(result.name, bold=True)
            click.echo(f"{name}  {result.branch} {result.commit[:10]}  {done}  {result.cpu_s:.2f} s of CPU")
    for line in report.lost:
        say(f"{line}; it was done again")
    for failure in report.failures:
        click.echo(f"{failure.name}  {click.style('failed', fg='red')}  {failure.error}")
        click.echo(f"  try: {failure.repeat}")
    compiled = len({result.name for result in report.results if not result.failures})
    failed = len({failure.name for failure in report.failures})
    work = f", {report.cpu_s:.1f} s of CPU on {report.on}" if report.on else ""
    say(
        f"{report.repositories:,} repositories: {compiled:,} compiled, {report.current:,} branches were up "
        f"to date, {failed:,} failed; {report.seconds:.2f} s{work}"
    )

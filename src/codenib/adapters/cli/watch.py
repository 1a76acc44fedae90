"""`codenib watch`: keep the views fresh while files change."""

from __future__ import annotations

import click

from codenib.adapters.cli.keep import outcome_json
from codenib.adapters.cli.options import as_json
from codenib.adapters.cli.output import print_json, say
from codenib.compiler.compiler import Outcome
from codenib.serving.report import describe_refresh
from codenib.serving.watch import watch_repository
from codenib.serving.workspace import Workspace


@click.command()
@click.option("--once", is_flag=True, help="Stop after the first update that a change caused.")
@as_json
@click.pass_obj
def watch(repository: str, once: bool, json_output: bool) -> None:
    """Update the views whenever files change, until interrupted. Other commands may run beside it."""
    with Workspace(repository) as workspace:

        def report(outcome: Outcome) -> None:
            if json_output:
                print_json(outcome_json(outcome))
            else:
                click.echo(describe_refresh(outcome) or "up to date")

        if not json_output:
            say(f"watching {workspace.root}; interrupt to stop")
        watch_repository(workspace, report, say=say, updates=1 if once else None)

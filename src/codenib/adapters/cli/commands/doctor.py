"""`codenib doctor`: what this installation can do, and the one command that mends what it can't."""

from __future__ import annotations

import time

import click

from codenib.adapters.cli.options import as_json
from codenib.adapters.cli.output import print_json
from codenib.adapters.envelopes.envelope import whole
from codenib.adapters.mcp.clients.checks import examine_mcp
from codenib.serving.doctor import examine

_COLOURS = {"ok": "green", "missing": "yellow", "broken": "red"}


@click.command()
@as_json
@click.pass_obj
def doctor(repository: str, json_output: bool) -> None:
    """Check Python, git, grammars, the store, optional tools and MCP. Exit 4 when something is broken."""
    started = time.perf_counter()
    checks = [*examine(), *examine_mcp(repository)]
    if json_output:
        print_json(whole(tuple(checks), "installation", time.perf_counter() - started))
    for check in () if json_output else checks:
        state = click.style(f"{check.state:<8}", fg=_COLOURS[check.state])
        click.echo(f"{state} {check.name:<15} {check.detail}")
        if check.hint:
            click.echo(f"{'':<25}try: {check.hint}")
    if any(check.state == "broken" for check in checks):
        raise click.exceptions.Exit(4)

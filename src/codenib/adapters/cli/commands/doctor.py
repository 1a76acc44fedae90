"""`codenib doctor` and `codenib config`: what this installation can do, and what it was told to do."""

from __future__ import annotations

import time
from collections.abc import Mapping

import click

from codenib.adapters.cli.options import as_json
from codenib.adapters.cli.output import print_json, say
from codenib.adapters.envelopes.envelope import whole
from codenib.adapters.mcp.clients.checks import examine_mcp
from codenib.core.text.printable import escape_controls
from codenib.serving.configuration import ConfiguredKey, configuration_files, describe_configuration
from codenib.serving.doctor import examine

_COLOURS = {"ok": "green", "missing": "yellow", "broken": "red"}


@click.command()
@as_json
@click.pass_obj
def doctor(repository: str, json_output: bool) -> None:
    """Check Python, git, grammars, the store, optional tools and MCP. Exit 4 when something is broken."""
    started = time.perf_counter()
    checks = [*examine(repository), *examine_mcp(repository)]
    if json_output:
        print_json(whole(tuple(checks), "installation", time.perf_counter() - started))
    for check in () if json_output else checks:
        state = click.style(f"{check.state:<8}", fg=_COLOURS[check.state])
        click.echo(f"{state} {check.name:<15} {check.detail}")
        if check.hint:
            click.echo(f"{'':<25}try: {check.hint}")
    if any(check.state == "broken" for check in checks):
        raise click.exceptions.Exit(4)


@click.command()
@as_json
@click.pass_obj
def config(repository: str, json_output: bool) -> None:
    """Show every key of configuration: its value here, and which file, variable or default says so.

    Options of a command come first, then the environment, the repository's codenib.toml, yours, the default.
    """
    started = time.perf_counter()
    keys = describe_configuration(repository)
    if json_output:
        print_json(whole(tuple(keys), "configuration", time.perf_counter() - started))
        return
    widest = max(len(each.key) for each in keys)
    for each in keys:
        origin = each.where or "default"
        value = escape_controls(_shown(each))
        click.echo(f"{each.key:<{widest}}  {value}  {click.style(f'({escape_controls(origin)})', dim=True)}")
    for name, file in zip(("yours", "the repository's"), configuration_files(repository), strict=True):
        say(f"{name}: {file}{'' if file.exists() else ', which is not there'}")


def _shown(each: ConfiguredKey) -> str:
    if isinstance(each.value, Mapping):
        return ", ".join(f"{glob} = {language}" for glob, language in each.value.items()) or "none"
    return (", ".join(each.value) if isinstance(each.value, tuple) else str(each.value)) or "none"

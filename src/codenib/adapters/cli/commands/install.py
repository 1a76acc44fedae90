"""The commands that set clients up: install, uninstall."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from codenib.adapters.cli.options import as_json, shared
from codenib.adapters.cli.output import print_json, say
from codenib.adapters.mcp.clients.edits import (
    ConfigEdit,
    clients_here,
    clients_with,
    install_edits,
    uninstall_edits,
)
from codenib.adapters.mcp.clients.known import CLIENTS, SERVER, McpClient, Scope, command_for
from codenib.serving.installation import repository_root

_client = click.option(
    "--client", "name", type=click.Choice(list(CLIENTS)), help="Which client; by default those found here."
)
_scope = click.option(
    "--scope",
    type=click.Choice(["user", "project"]),
    default="user",
    show_default=True,
    help="Your own configuration, or the repository's file, which others share.",
)
_agents = click.option("--agents-md", is_flag=True, help="Also the five lines in the repository's AGENTS.md.")
_dry = click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")


@click.command()
@shared(_client, _scope, _agents, _dry)
@click.option("--print", "print_only", is_flag=True, help="Print what to put where, and write nothing.")
@click.option("--tools", type=click.Choice(["default", "all"]), default="default", show_default=True)
@as_json
@click.pass_obj
def install(
    repository: str,
    name: str | None,
    scope: Scope,
    agents_md: bool,
    dry_run: bool,
    print_only: bool,
    tools: str,
    json_output: bool,
) -> None:
    """Add CodeNib to the configuration of an MCP client. Everything else in the file stays as it is."""
    more = ("--tools", "all") if tools == "all" else ()
    root = _root(repository, scope, agents_md)
    clients = [CLIENTS[name]] if name else clients_here(scope)
    if print_only:
        for client in clients:
            _print_entry(client, scope, root, more, json_output)
        return
    edits = list(install_edits(clients, scope, root, more=more, agents_md=agents_md))
    _apply(edits, dry_run=dry_run, json_output=json_output, verb="added to")


@click.command()
@shared(_client, _scope, _agents, _dry)
@as_json
@click.pass_obj
def uninstall(
    repository: str, name: str | None, scope: Scope, agents_md: bool, dry_run: bool, json_output: bool
) -> None:
    """Take out of a client's configuration exactly what `install` put in."""
    root = _root(repository, scope, agents_md)
    clients = [CLIENTS[name]] if name else clients_with(scope)
    edits = list(uninstall_edits(clients, scope, root, agents_md=agents_md))
    _apply(edits, dry_run=dry_run, json_output=json_output, verb="taken out of")


def _root(repository: str, scope: Scope, agents_md: bool) -> Path:
    """The repository, where files of it are edited."""
    return repository_root(repository) if scope == "project" or agents_md else Path(repository)


def _apply(edits: list[ConfigEdit], *, dry_run: bool, json_output: bool, verb: str) -> None:
    real = [edit for edit in edits if edit.before != edit.after]
    for edit in real if not dry_run else ():
        edit.apply()
    if json_output:
        rows = [{"file": str(edit.file), "diff": edit.diff()} for edit in real]
        print_json({"changed": rows, "dry_run": dry_run})
        return
    for edit in real:
        click.echo(edit.diff() if dry_run else f"{SERVER} {verb} {edit.file}", nl=not dry_run)
    if not real:
        say("nothing to do")
    elif not dry_run and verb == "added to":
        say("restart the client, or reload its MCP servers")


def _print_entry(
    client: McpClient, scope: Scope, root: Path, more: tuple[str, ...], json_output: bool
) -> None:
    command, file = command_for(scope), client.file(scope, root)
    entry: dict[str, Any] = {client.key: {SERVER: client.entry(command, more)}}
    if json_output:
        print_json({"client": client.name, "file": str(file), "entry": entry})
        return
    say(f"{client.name}: {file}")
    click.echo(client.toml(command, more) if client.form == "toml" else json.dumps(entry, indent=2))

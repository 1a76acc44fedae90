"""The commands that set clients up: install, uninstall."""

from __future__ import annotations

import json
import time
from pathlib import Path

import click

from codenib.adapters.cli.options import as_json, shared
from codenib.adapters.cli.output import print_json, say
from codenib.adapters.envelopes.envelope import whole
from codenib.adapters.envelopes.upkeep import EditItem, EntryItem
from codenib.adapters.mcp.clients.edits import (
    ConfigEdit,
    clients_here,
    clients_with,
    install_edits,
    uninstall_edits,
)
from codenib.adapters.mcp.clients.known import CLIENTS, SERVER, McpClient, Scope, ServerEntry
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
        started = time.perf_counter()
        entries = [_entry(client, scope, root, more) for client in clients]
        if json_output:
            print_json(whole(tuple(entries), "install", time.perf_counter() - started))
            return
        for client, entry in zip(clients, entries, strict=True):
            say(f"{entry.client}: {entry.file}")
            toml = client.form == "toml"
            launch = ServerEntry.of(scope, root, more)
            click.echo(client.toml(launch) if toml else json.dumps(entry.entry, indent=2))
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
    started = time.perf_counter()
    real = [edit for edit in edits if edit.before != edit.after]
    for edit in real if not dry_run else ():
        edit.apply()
    if json_output:
        items = tuple(EditItem(str(edit.file), edit.diff(), not dry_run) for edit in real)
        print_json(whole(items, "install", time.perf_counter() - started))
        return
    for edit in real:
        click.echo(edit.diff() if dry_run else f"{SERVER} {verb} {edit.file}", nl=not dry_run)
    if not real:
        say("nothing to do")
    elif not dry_run and verb == "added to":
        say("restart the client, or reload its MCP servers")


def _entry(client: McpClient, scope: Scope, root: Path, more: tuple[str, ...]) -> EntryItem:
    entry = {client.key: {SERVER: client.entry(ServerEntry.of(scope, root, more))}}
    return EntryItem(client.name, str(client.file(scope, root)), entry)

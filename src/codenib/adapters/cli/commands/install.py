"""The commands that set clients up: install, uninstall."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path
from typing import Any

import click

from codenib.adapters.cli.options import as_json, shared
from codenib.adapters.cli.output import print_json, say
from codenib.adapters.mcp.clients.configure import (
    Added,
    InstallRecords,
    added_between,
    with_block,
    with_server,
    without_block,
    without_server,
)
from codenib.adapters.mcp.clients.known import CLIENTS, SERVER, McpClient, Scope, command_for
from codenib.core.errors import InputError
from codenib.snapshot.repository import locate

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


@dataclass(frozen=True, slots=True)
class ConfigEdit:
    """An edit of one file, as `before` and `after`; `after` is None for a file that goes."""

    file: Path
    before: str | None
    after: str | None

    def diff(self) -> str:
        old = (self.before or "").splitlines(keepends=True)
        new = (self.after or "").splitlines(keepends=True)
        return "".join(unified_diff(old, new, str(self.file), str(self.file)))


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
    command = command_for(scope)
    root = locate(Path(repository)).root if scope == "project" or agents_md else Path(repository)
    chosen = _chosen(name, scope, root)
    if print_only:
        for client in chosen:
            _print_entry(client, client.file(scope, root), command, more, json_output)
        return
    changes = []
    for client in chosen:
        file = client.file(scope, root)
        before = _read(file)
        # A second run brings the entry up to date, so it takes the first one out.
        bare = (
            without_server(before or "", client, InstallRecords().get(file))
            if InstallRecords().get(file)
            else before or ""
        )
        changes.append(ConfigEdit(file, before, with_server(bare, client, command, more)))
    if agents_md:
        file = root / "AGENTS.md"
        before = _read(file)
        changes.append(ConfigEdit(file, before, with_block(before or "")))
    _make(changes, dry_run=dry_run, json_output=json_output, verb="added to")


@click.command()
@shared(_client, _scope, _agents, _dry)
@as_json
@click.pass_obj
def uninstall(
    repository: str, name: str | None, scope: Scope, agents_md: bool, dry_run: bool, json_output: bool
) -> None:
    """Take out of a client's configuration exactly what `install` put in."""
    root = locate(Path(repository)).root if scope == "project" or agents_md else Path(repository)
    records = InstallRecords()
    changes = []
    for client in [CLIENTS[name]] if name else [each for each in CLIENTS.values() if _can(each, scope)]:
        file = client.file(scope, root)
        before = _read(file)
        if before is not None:
            after = without_server(before, client, records.get(file))
            changes.append(ConfigEdit(file, before, _left(file, after, records)))
    file = root / "AGENTS.md"
    if agents_md and (before := _read(file)) is not None:
        after = without_block(before, records.get(file))
        changes.append(ConfigEdit(file, before, _left(file, after, records)))
    _make(changes, dry_run=dry_run, json_output=json_output, verb="taken out of")


def _can(client: McpClient, scope: Scope) -> bool:
    return scope == "user" or bool(client.project)


def _left(file: Path, after: str, records: InstallRecords) -> str | None:
    """What stays of a file: nothing of one that was ours alone."""
    record = records.get(file)
    return None if record is not None and record.created and not after.strip() else after


def _chosen(name: str | None, scope: Scope, root: Path) -> list[McpClient]:
    if name is not None:
        return [CLIENTS[name]]
    found = [
        client
        for client in CLIENTS.values()
        if _can(client, scope) and client.file("user", root).parent.is_dir()
    ]
    # Claude Code's file is in the home folder itself, which is always there.
    found = [each for each in found if each.name != "claude-code" or each.file("user", root).exists()]
    if not found:
        names = "|".join(CLIENTS)
        raise InputError("no client was found on this machine", hint=f"codenib install --client {names}")
    return found


def _read(file: Path) -> str | None:
    try:
        return file.read_bytes().decode()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read {file}: {error}", hint="codenib install --print") from error


def _make(changes: list[ConfigEdit], *, dry_run: bool, json_output: bool, verb: str) -> None:
    real = [change for change in changes if change.before != change.after]
    for change in real if not dry_run else ():
        _write(change)
    if json_output:
        rows = [{"file": str(change.file), "diff": change.diff()} for change in real]
        print_json({"changed": rows, "dry_run": dry_run})
        return
    for change in real:
        click.echo(change.diff() if dry_run else f"{SERVER} {verb} {change.file}", nl=not dry_run)
    if not real:
        say("nothing to do")
    elif not dry_run and verb == "added to":
        say("restart the client, or reload its MCP servers")


def _write(change: ConfigEdit) -> None:
    """Write a file, or remove it, and keep the record of what was added."""
    records = InstallRecords()
    if change.after is None:
        change.file.unlink()
        records.put(change.file, None)
        return
    added = len(change.after) > len(change.before or "")
    earlier = records.get(change.file)
    bare = change.before or ""
    if added and earlier is not None and bare.count(earlier.text) == 1:
        bare = bare.replace(earlier.text, "", 1)
    change.file.parent.mkdir(parents=True, exist_ok=True)
    # In place of the file that a link points at: configuration is often kept elsewhere and linked.
    real = Path(os.path.realpath(change.file))
    mode = real.stat().st_mode & 0o777 if real.exists() else 0o600
    fresh = real.with_name(f".{real.name}.codenib")
    fresh.write_bytes(change.after.encode())
    fresh.chmod(mode)
    fresh.replace(real)
    created = change.before is None or (earlier is not None and earlier.created)
    record = Added(added_between(bare, change.after), created) if SERVER in change.after and added else None
    records.put(change.file, record)


def _print_entry(
    client: McpClient, file: Path, command: str, more: tuple[str, ...], json_output: bool
) -> None:
    entry: dict[str, Any] = {client.key: {SERVER: client.entry(command, more)}}
    if json_output:
        print_json({"client": client.name, "file": str(file), "entry": entry})
        return
    say(f"{client.name}: {file}")
    click.echo(client.toml(command, more) if client.form == "toml" else json.dumps(entry, indent=2))

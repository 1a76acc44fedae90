"""The commands about one file or folder: read, units."""

from __future__ import annotations

import time
from collections.abc import Sequence

import click

from codenib.adapters.cli.options import as_json, asked_snapshot, at_revision, no_refresh, shared
from codenib.adapters.cli.output import numbered, opened, print_json, say
from codenib.adapters.cli.standing import Standing, path_here, standing_in
from codenib.adapters.envelopes.answers import (
    FolderEntry,
    folder_entries,
    folder_reply,
    read_reply,
    units_reply,
)
from codenib.core.errors import InputError
from codenib.serving.navigation.positions import parse_place


@click.command()
@click.argument("place", metavar="PATH[:START[-END]]")
@shared(at_revision, no_refresh, as_json)
@click.pass_obj
def read(repository: str, place: str, at: str | None, no_refresh: bool, json_output: bool) -> None:
    """Print a file of the snapshot, or lines START to END of it; of a folder, what it holds.

    Lines are written `5-9`, `5,9`, `5-` (to the end) or `5`.
    """
    started, snapshot = time.perf_counter(), asked_snapshot(at, no_refresh)
    with opened(repository, quiet=json_output) as (workspace, progress):
        standing = standing_in(repository, workspace)
        written = parse_place(path_here(standing, place, workspace, snapshot))
        try:
            passage = workspace.reader.read(written.target, written.lines, snapshot)
        except InputError:
            entries = [] if written.line else folder_entries(workspace, written.target, snapshot)
            if not entries:
                raise
            progress.close()
            if json_output:
                ref = workspace.reader.snapshot(snapshot)
                print_json(folder_reply(entries, ref, time.perf_counter() - started))
            else:
                _print_folder(entries, standing)
            return
        progress.close()
    if json_output:
        print_json(read_reply(passage, time.perf_counter() - started))
    else:
        click.echo("\n".join(numbered(passage.text, passage.language, passage.start_line)))


def _print_folder(entries: Sequence[FolderEntry], standing: Standing) -> None:
    for entry in entries:
        folder = entry.kind == "folder"
        name = click.style(f"{standing.from_here(entry.path)}{'/' * folder}", fg="cyan")
        click.echo(f"{name}  {click.style(f'{entry.files:,} files', dim=True)}" if folder else name)
    say(f"{sum(entry.files for entry in entries):,} files")


@click.command()
@click.argument("path")
@shared(at_revision, no_refresh, as_json)
@click.pass_obj
def units(repository: str, path: str, at: str | None, no_refresh: bool, json_output: bool) -> None:
    """List the source units of a file: L0 the file, L1 scopes, L2 callables."""
    started, snapshot = time.perf_counter(), asked_snapshot(at, no_refresh)
    with opened(repository, quiet=json_output) as (workspace, progress):
        place = path_here(standing_in(repository, workspace), path, workspace, snapshot)
        listed = workspace.reader.units(place, snapshot)
        progress.close()
        if json_output:
            ref = workspace.reader.snapshot(snapshot)
            print_json(units_reply(listed, ref, time.perf_counter() - started))
            return
    for unit in listed:
        lines = click.style(f"{unit.span.start_line:>6}-{unit.span.end_line:<6}", dim=True)
        indent = "  " * unit.level
        click.echo(f"{lines} {unit.level.name} {indent}{unit.kind} {click.style(unit.symbol, bold=True)}")

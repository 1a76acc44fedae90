"""What `codenib` alone says: is this a repository, is it indexed, and three commands to begin with."""

from __future__ import annotations

import click

from codenib.adapters.cli.output import project
from codenib.core.errors import CodenibError
from codenib.serving.snapshots.status import StatusReport
from codenib.serving.workspace import Workspace

_KINDS = {"git": "a git repository", "bare": "a bare git repository", "folder": "a folder without git"}


def print_start(repository: str) -> None:
    """A short start for people, on standard output."""
    click.echo("codenib: repository context for coding agents, always fresh\n")
    try:
        with Workspace(project(repository)) as workspace:
            report = workspace.status()
    except CodenibError as error:
        click.echo(f"  {error.message}")
        if error.hint:
            click.echo(f"  try: {error.hint}")
        report = None
    if report is not None:
        click.echo(f"  {report.root} is {_KINDS[report.kind]} with {report.files:,} files")
        click.echo(f"  {_indexed(report)}")
    click.echo("")
    for line, about in (
        ('codenib search "where are sessions saved"', "ranked code for a question"),
        ("codenib map", "what this repository is made of"),
        ("codenib install", "set up your agent (MCP)"),
    ):
        click.echo(f"  {click.style(f'{line:<44}', bold=True)}{about}")
    click.echo("\n  codenib --help lists every command")


def _indexed(report: StatusReport) -> str:
    if report.indexed_snapshot is None:
        return "not indexed yet: the first question does it"
    views = ", ".join(report.views)
    if report.fresh:
        return f"indexed and fresh: {views}"
    changes = report.added + report.changed + report.removed
    return f"indexed ({views}); {changes:,} files changed since, the next question takes them in"

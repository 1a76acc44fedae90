"""`codenib tools`: which outside programs are there, what each is for, and `tools install` to get them."""

from __future__ import annotations

import time

import click

from codenib.adapters.cli.options import as_json
from codenib.adapters.cli.output import print_json, say
from codenib.adapters.envelopes.envelope import rounded, whole
from codenib.adapters.envelopes.upkeep import InstalledTool
from codenib.core.errors import ProviderError
from codenib.serving.installation import InstallOutcome, ToolReport, install_tools, tool_reports


@click.group(invoke_without_command=True)
@as_json
@click.pass_context
def tools(context: click.Context, json_output: bool) -> None:
    """List the outside tools: version, where from, what needs them, and how to install them."""
    if context.invoked_subcommand is not None:
        return
    started = time.perf_counter()
    _, reports = tool_reports()
    if json_output:
        print_json(whole(tuple(reports), "toolbox", time.perf_counter() - started))
        return
    for report in reports:
        _print(report)


def _print(report: ToolReport) -> None:
    optional = ", optional" if report.optional else ""
    if report.version:
        state, colour = f"{report.version} ({report.origin})", "green"
    else:
        state, colour = "missing", "" if report.optional else "yellow"
    shown = click.style(f"{state:<24}", fg=colour or None)
    click.echo(f"{report.name:<28}{shown} {report.serves}{optional}")
    if report.note:
        click.echo(f"{'':<28}{report.note}")
    if not report.version:
        click.echo(f"{'':<28}try: {report.install}")


@tools.command()
@click.argument("names", nargs=-1, required=True, metavar="python|typescript|go|rust|cpp|all|TOOL...")
@click.option("--force", is_flag=True, help="Install ours again, even when the tool is there.")
@as_json
def install(names: tuple[str, ...], force: bool, json_output: bool) -> None:
    """Install pinned versions from PyPI, npm, the Go proxy and crates.io; no repository is touched."""
    started = time.perf_counter()
    outcomes = install_tools(names, say, force=force)
    if json_output:
        print_json(whole(tuple(map(_installed, outcomes)), "toolbox", time.perf_counter() - started))
    failed = [outcome for outcome in outcomes if outcome.done == "failed"]
    for outcome in failed:
        click.echo(f"{click.style('codenib:', fg='red')} {outcome.error}\n  try: {outcome.hint}", err=True)
    if failed:
        raise click.exceptions.Exit(ProviderError.exit_code)


def _installed(outcome: InstallOutcome) -> InstalledTool:
    tool = outcome.tool
    return InstalledTool(
        name=outcome.name,
        done=outcome.done,
        seconds=rounded(outcome.seconds),
        version=tool.version if tool else "",
        origin=tool.origin if tool else "",
        folder=str(tool.folder) if tool else "",
        error=outcome.error,
        hint=outcome.hint,
    )

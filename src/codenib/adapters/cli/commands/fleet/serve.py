"""The command `fleet serve`: all repositories for many agents, over HTTP."""

from __future__ import annotations

import sys
from dataclasses import replace

import click

from codenib.adapters.cli.commands.serve import http_options, http_settings, needed_tokens
from codenib.adapters.cli.options import log_format
from codenib.adapters.logs import LogFormat, start_log


@click.command()
@http_options
@log_format
def serve(
    address: str,
    no_auth: bool,
    audit: str,
    metrics: bool,
    hosts: tuple[str, ...],
    origins: tuple[str, ...],
    log_format: LogFormat,
) -> None:
    """Serve all repositories of the fleet to many agents and programs.

    MCP is at http://HOST:PORT/mcp, JSON at /v1/search, regex, symbols, definition, read and repositories, by
    POST. A token (`codenib token create NAME --repo GLOB --tenant NAME`) asks the repositories that it is
    for, as if there were no others. Answers are from what `codenib fleet index` published last.
    """
    from codenib.adapters.mcp.transport.fleet_points import FLEET_QUESTIONS
    from codenib.adapters.mcp.transport.http import HttpServer
    from codenib.fleet.search.fleet import Fleet

    tokens = None if no_auth else needed_tokens()
    with Fleet() as fleet:
        fleet.members()  # an empty fleet is an error now, not at every question
    settings = replace(
        http_settings(address, tokens, audit, metrics), hosts=hosts, origins=origins, fleet=True
    )
    start_log(log_format, sys.stderr)
    server = HttpServer([], tokens, settings)
    bound = server.bind()
    click.echo(f"http://{bound[0]}:{bound[1]}/mcp  MCP over all repositories, each token's own")
    click.echo(f"http://{bound[0]}:{bound[1]}/v1/  JSON: {', '.join(FLEET_QUESTIONS)}")
    server.run()

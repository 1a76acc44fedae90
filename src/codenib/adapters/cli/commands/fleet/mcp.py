"""The command `fleet mcp`: one MCP server over all repositories."""

from __future__ import annotations

import click


@click.command()
def mcp() -> None:
    """Serve the fleet to one agent, by the Model Context Protocol over standard input and output.

    Tools: search, grep, definition, read; `repo` narrows to one repository or a glob of them. Answers are
    from what `codenib fleet index` published last.
    """
    from codenib.adapters.mcp.fleet_server import serve_fleet

    serve_fleet()

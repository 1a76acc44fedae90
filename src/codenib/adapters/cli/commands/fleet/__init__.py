"""The group `codenib fleet`: a table of commands, each imported only when it runs."""

from __future__ import annotations

import click

from codenib.adapters.cli.lazy import LazyCommand, LazyGroup, command_in
from codenib.adapters.cli.terminal import with_terminal_options

#: command → (module of this room, its function, line in the overview)
FLEET_COMMANDS = {
    "add": ("catalogue", "add", "Add repositories by URL or path, from a file, or a folder of clones."),
    "list": ("catalogue", "list_repositories", "List the repositories of the fleet."),
    "remove": ("catalogue", "remove", "Take repositories out of the fleet, with their mirrors."),
    "sync": ("sync", "sync", "Fetch what moved at the sources of the repositories."),
    "search": ("ask", "search", "Find code by words in all repositories, the promising ones opened."),
    "regex": ("ask", "regex", "Find lines by pattern in all repositories, and whether these are all."),
    "symbols": ("ask", "symbols", "Find declarations by name in all repositories."),
    "def": ("ask", "def_", "Show where a name that code imports is declared, by the packages' manifests."),
    "mcp": ("mcp", "mcp", "Serve all repositories to an agent, by the Model Context Protocol."),
    "serve": ("serve", "serve", "Serve all repositories over HTTP, to each token those that it is for."),
    "verify": ("verify", "verify", "Check that a store has everything that its heads name."),
    "gc": ("gc", "gc", "Remove what no head of a store names, beside those who publish."),
    "simulate": (
        "simulate",
        "simulate",
        "Replay recorded calls under more load, on more repositories.",
    ),
    "index": ("index", "index", "Compile the views that are not up to date, here or on a Ray cluster."),
    "status": ("catalogue", "status", "Show how each repository stands to its source."),
}


@click.group(
    cls=LazyGroup,
    lazy={
        name: LazyCommand(about, command_in(f"{__name__}.{module}", function))
        for name, (module, function, about) in FLEET_COMMANDS.items()
    },
    prepare=with_terminal_options,
)
def fleet() -> None:
    """Many repositories: which there are, where they come from, compiled and searched as one.

    \b
    codenib fleet add URL|PATH…      what the fleet has
    codenib fleet sync               fetch what moved at the sources
    codenib fleet index              compile what is not up to date
    codenib fleet status             how each stands to its source
    codenib fleet search "…"         ask them all
    """

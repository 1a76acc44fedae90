"""The `codenib` command: arguments in, text or JSON out, an exit code by kind of error."""

from __future__ import annotations

import os
import sys
import traceback
from keyword import iskeyword
from typing import TextIO, cast

import click

from codenib import __version__
from codenib.adapters.cli.lazy import LazyCommand, LazyGroup, command_in
from codenib.adapters.cli.safe_output import ReaderGone, SafeOutput
from codenib.adapters.cli.terminal import (
    color_asked,
    color_of,
    page_output,
    terminal_options,
    with_terminal_options,
)
from codenib.core.errors import CodenibError, InputError, fault_of
from codenib.core.text.printable import escape_controls

#: command → (module, line in the overview). A command's module is imported when it runs.
COMMANDS = {
    "search": ("search", "Find code by words: functions, classes, sections or files, best first."),
    "explore": ("explore", "Collect the evidence for a question within a token budget."),
    "map": ("explore", "Show folders, files and their most important declarations."),
    "overview": ("explore", "Show files and folders by size, change and use."),
    "modules": ("explore", "Show which folders and files use which, and their cycles."),
    "plan": ("search", "Show how a search would be answered, why, and what it should cost."),
    "regex": ("search", "Find lines by pattern, as a scan of every file would."),
    "read": ("files", "Print a file, or lines of it, as the snapshot has them."),
    "units": ("files", "List the source units of a file."),
    "history": ("history", "Show who changed a file or lines of it, when and why."),
    "impact": ("history", "Show what depends on a change, which tests reach it, what changes with it."),
    "blame": ("history", "Show which commit changed each line of a file last."),
    "def": ("navigate", "Show where a name is defined."),
    "refs": ("navigate", "Show every place that refers to a name."),
    "callers": ("navigate", "Show what calls a function."),
    "callees": ("navigate", "Show what a function calls."),
    "deps": ("navigate", "Show what a symbol or file depends on, or what depends on it."),
    "path": ("navigate", "Show the shortest chain of uses between two symbols."),
    "symbols": ("navigate", "Find declarations by name."),
    "outline": ("navigate", "Show the declarations of a file."),
    "graph": ("navigate", "Draw the neighbourhood of a symbol."),
    "compare-navigation": ("navigate", "Compare the graph with the language servers."),
    "agent": ("agent", "Let a model find the places of an issue, with tools over the views."),
    "trace": ("trace", "Read the trace of an agent's run, or make training rows of it."),
    "policy": (
        "learning.policy",
        "Use or drop what `flywheel` learned for this repository; off by default.",
    ),
    "journal": ("learning.journal", "Record here what agents ask and do with the answers; off by default."),
    "learn": ("learning.learn", "Learn from this repository's fixes to order answers, if that is better."),
    "index": ("index", "Build the views of this repository."),
    "import-scip": ("index", "Build the graph from a SCIP index."),
    "update": ("index", "Bring the views up to the worktree as it is now."),
    "watch": ("watch", "Keep the views fresh in the background."),
    "status": ("index", "Show what is indexed and how fresh it is."),
    "updates": ("index", "Show the last updates, and what each derived anew and why."),
    "verify": ("index", "Rebuild beside the maintained views and compare."),
    "gc": ("index", "Drop what no published snapshot reaches."),
    "export": ("fleet.bundle", "Write the views of a snapshot to one file."),
    "import": ("fleet.bundle", "Take the views of a snapshot from such a file, all of it checked."),
    "tools": ("tools", "Show and install the outside tools of navigation."),
    "trust": ("trust", "Show which repositories may run code in engines, and since when."),
    "install": ("install", "Set up an MCP client: Claude Code, Codex, Cursor, VS Code, Gemini, …"),
    "uninstall": ("install", "Take exactly that out again."),
    "mcp": ("serve", "Serve this repository to an agent, by the Model Context Protocol."),
    "ui": ("serve", "Look at a repository in the browser: search, code, map, freshness, runs."),
    "serve": ("serve", "Serve repositories to agents over HTTP."),
    "token": ("serve", "Make, list and revoke tokens of `serve`."),
    "fleet": ("fleet", "Many repositories: add, list, synchronize and compile them."),
    "config": ("doctor", "Show what is configured, and which file or variable says so."),
    "completion": ("completion", "Print the script that completes commands in your shell."),
    "doctor": ("doctor", "Check this installation."),
}

#: Commands whose options have their defaults from configuration.
_CONFIGURED = {"search", "plan", "regex", "explore", "map"}
#: Commands that run long or talk meanwhile; a terminal pages the long output of all others.
_NOT_PAGED = {
    "agent",
    "learn",
    "index",
    "import-scip",
    "update",
    "watch",
    "verify",
    "gc",
    "export",
    "import",
    "mcp",
    "serve",
    "ui",
    "eval",
}


def _command(name: str, module: str, about: str) -> LazyCommand:
    function = name.replace("-", "_")
    function = f"{function}_" if iskeyword(function) else function
    return LazyCommand(about, command_in(f"codenib.adapters.cli.commands.{module}", function))


@click.group(
    cls=LazyGroup,
    lazy={name: _command(name, *row) for name, row in COMMANDS.items()},
    context_settings={"help_option_names": ["-h", "--help"]},
    invoke_without_command=True,
    prepare=with_terminal_options,
    params=terminal_options(hidden=False),
)
@click.option("-C", "repository", metavar="PATH", default=".", help="The repository (default: this folder).")
@click.option("--here", is_flag=True, help="Index this folder even if it is a home, `/` or no repository.")
@click.version_option(__version__, message="codenib %(version)s")
@click.pass_context
def cli(context: click.Context, repository: str, here: bool) -> None:
    """Repository context for coding agents: ranked, source-linked, always fresh.

    \b
    codenib search "where are sessions saved"     index if needed, then answer
    codenib regex 'def \\w+_session'               exact lines
    """
    context.obj = repository
    if context.color is None:
        context.color = color_of(os.environ)
    if context.invoked_subcommand in _CONFIGURED:
        from codenib.serving.configuration import command_defaults

        context.default_map = command_defaults(repository)
    if context.invoked_subcommand not in (None, *_NOT_PAGED):
        page_output(context)
    if context.invoked_subcommand is None:
        from codenib.adapters.cli.start import print_start

        print_start(repository)


def run() -> None:
    """Run the command line; every error ends here."""
    sys.stdout = cast(TextIO, SafeOutput(sys.stdout))
    try:
        # click returns the code of an `Exit` here; commands return None
        code = cli.main(prog_name="codenib", standalone_mode=False)
        sys.exit(code if isinstance(code, int) else 0)
    except click.Abort:
        sys.exit(130)
    except KeyboardInterrupt:
        sys.exit(130)
    except (ReaderGone, BrokenPipeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except click.ClickException as error:
        context = getattr(error, "ctx", None)
        command = context.command_path if context else "codenib"
        _fail(InputError(error.format_message(), hint=f"{command} --help"))
    except CodenibError as error:
        _fail(error)
    except OSError as error:
        _fail(_typed_path(error) or fault_of(error))
    except Exception as error:  # noqa: BLE001 - the one catch-all: a person gets a sentence, not a trace
        if os.environ.get("CODENIB_DEBUG"):
            traceback.print_exc()
        what = f"internal error: {type(error).__name__}: {error}"
        _fail(CodenibError(what, hint="CODENIB_DEBUG=1 codenib …, and report the trace"))


def _typed_path(error: OSError) -> InputError | None:
    """What is wrong with a path that was typed, such as where to write a drawing; None for our own files."""
    name = error.filename if isinstance(error.filename, str) else ""
    if not name or not any(word == name or word.endswith(f"={name}") for word in sys.argv[1:]):
        return None
    return InputError(f"{name}: {error.strerror}", hint="give a path that is there and that you may use")


def _fail(error: CodenibError) -> None:
    if "--json" in sys.argv[1:]:
        import msgspec

        body = {"error": {"kind": type(error).__name__, "message": error.message, "hint": error.hint}}
        click.echo(msgspec.json.encode(body).decode())
    color = color_asked(sys.argv[1:], os.environ)
    click.echo(f"{click.style('codenib:', fg='red')} {escape_controls(error.message)}", err=True, color=color)
    if error.hint:
        click.echo(f"  try: {escape_controls(error.hint)}", err=True)
    sys.exit(error.exit_code)

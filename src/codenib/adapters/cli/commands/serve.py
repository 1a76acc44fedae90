"""The commands that serve agents: mcp, serve, token."""

from __future__ import annotations

import os
import sys
import webbrowser
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from codenib.adapters.cli.options import as_json, log_format, shared
from codenib.adapters.cli.output import print_json, project, say
from codenib.adapters.envelopes.envelope import Envelope, utc, whole
from codenib.adapters.envelopes.upkeep import TokenItem
from codenib.adapters.logs import LogFormat, start_log
from codenib.core.errors import InputError

if TYPE_CHECKING:
    from codenib.adapters.mcp.transport.http import Settings
    from codenib.adapters.mcp.transport.tokens import AccessTokens, TokenRow
    from codenib.fleet.tenants.audit import AuditText

_tools = click.option(
    "--tools",
    type=click.Choice(["default", "all"]),
    default="default",
    show_default=True,
    help="Nine tools, or the whole surface.",
)
_structured = click.option(
    "--structured",
    is_flag=True,
    help="Send facts and places as structured content. Many clients then hide the text from the model.",
)

_learned = click.option(
    "--learned/--no-learned",
    default=True,
    show_default=True,
    help="Answer with what `codenib learn` and `codenib policy` made of the repository.",
)


@click.command()
@click.option("-C", "path", metavar="PATH", default=None, help="The repository (default: as before `mcp`).")
@_tools
@_structured
@_learned
@log_format
@click.pass_obj
def mcp(
    repository: str, path: str | None, tools: str, structured: bool, learned: bool, log_format: LogFormat
) -> None:
    """Serve this repository to one agent, by the Model Context Protocol over standard input and output.

    Answers at once; the first index runs in the background. `codenib install` sets a client up.
    """
    from codenib.adapters.mcp.server_context import ServerContext
    from codenib.adapters.mcp.transport.stdio import serve_stdio

    start_log(log_format, sys.stderr)
    place = project(path, named=True) if path else project(repository)
    serve_stdio(ServerContext(place, learned=learned), all_tools=tools == "all", structured=structured)


#: Of every server over HTTP: where it listens, who may ask, and what is written down.
_HTTP = (
    click.option("--http", "address", metavar="HOST:PORT", default="127.0.0.1:8765", show_default=True),
    click.option("--no-auth", is_flag=True, help="Ask for no token. On this machine's own addresses alone."),
    click.option(
        "--audit",
        type=click.Choice(["text", "hash", "none", "off"]),
        default="text",
        show_default=True,
        help="What the audit log has of questions; off: there is no log.",
    ),
    click.option("--metrics", is_flag=True, help="Serve /metrics to tokens made with --metrics."),
    click.option("--allow-host", "hosts", multiple=True, metavar="HOST[:PORT]", help="A further Host name."),
    click.option(
        "--allow-origin", "origins", multiple=True, metavar="ORIGIN", help="A web page that may ask."
    ),
)
http_options = shared(*_HTTP)


@click.command()
@http_options
@click.option(
    "--repo", "repositories", multiple=True, metavar="PATH", help="Serve this too; may be repeated."
)
@click.option("--page/--no-page", default=True, help="Serve the pages for browsers too, at /ui/.")
@_tools
@_structured
@_learned
@log_format
@click.pass_obj
def serve(
    repository: str,
    address: str,
    repositories: tuple[str, ...],
    no_auth: bool,
    page: bool,
    audit: str,
    metrics: bool,
    hosts: tuple[str, ...],
    origins: tuple[str, ...],
    tools: str,
    structured: bool,
    learned: bool,
    log_format: LogFormat,
) -> None:
    """Serve this repository, and each --repo, to many agents, by MCP over streamable HTTP.

    Each is at http://HOST:PORT/NAME/mcp, one alone also at /mcp. Clients need a token (`codenib token`), and
    so does a browser at /ui/, where a person pastes it once.
    A token has its own addresses: its repositories by their names, as if there were no others.
    Traffic is not encrypted: for other machines put a proxy with TLS in front, and name it with --allow-host.
    """
    from codenib.adapters.mcp.server_context import ServerContext, names_of, paths_of
    from codenib.adapters.mcp.transport.http import HttpServer
    from codenib.adapters.ui.access import PageAccess
    from codenib.adapters.ui.app import Pages

    tokens = None if no_auth else needed_tokens()
    places = (project(repository), *(project(path, named=True) for path in repositories))
    contexts = [ServerContext(path, learned=learned) for path in dict.fromkeys(places)]
    settings = replace(
        http_settings(address, tokens, audit, metrics),
        hosts=hosts,
        origins=origins,
        all_tools=tools == "all",
        structured=structured,
    )
    start_log(log_format, sys.stderr)
    pages = Pages(names_of(contexts), PageAccess(tokens, anyone=tokens is None)) if page else None
    server = HttpServer(contexts, tokens, settings, pages)
    bound = server.bind()
    for path, context in paths_of(contexts).items():
        click.echo(f"http://{bound[0]}:{bound[1]}{path}  {context.root}")
    if pages is not None:
        click.echo(f"http://{bound[0]}:{bound[1]}/ui/  pages for the browser")
    server.run()


def needed_tokens() -> AccessTokens:
    """The tokens of this home; an error where there is none, as nobody could ask."""
    from codenib.adapters.mcp.transport.tokens import AccessTokens

    tokens = AccessTokens()
    if not tokens.rows():
        raise InputError("there is no token yet", hint="codenib token create NAME --repo .")
    return tokens


def http_settings(address: str, tokens: AccessTokens | None, audit: str, metrics: bool) -> Settings:
    """What the options of a server over HTTP say, and the user's budgets."""
    from codenib.adapters.mcp.budgets import ServerBudgets
    from codenib.adapters.mcp.transport.http import Settings
    from codenib.adapters.mcp.transport.listener import parse_address
    from codenib.serving.shared_models import configured_reranker

    host, port = parse_address(address)
    return Settings(
        host=host,
        port=port,
        metrics=metrics,
        webhook_secret=os.environ.get("CODENIB_WEBHOOK_SECRET", ""),
        audit=None if audit == "off" or tokens is None else cast("AuditText", audit),
        budgets=ServerBudgets.configured(),
        reranker=configured_reranker(),
    )


@click.command()
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--port", default=0, show_default="any free one", type=click.IntRange(0, 65535))
@click.option(
    "--runs",
    multiple=True,
    type=click.Path(exists=True, file_okay=False),
    help="A folder with traces of `agent`, run folders of `eval` or logs of servers; may be repeated.",
)
@click.option("--no-open", is_flag=True, help="Print the address, open no browser.")
@click.option("--log", is_flag=True, help="Log each request on standard error.")
@log_format
@click.pass_obj
def ui(
    repository: str,
    paths: tuple[str, ...],
    port: int,
    runs: tuple[str, ...],
    no_open: bool,
    log: bool,
    log_format: LogFormat,
) -> None:
    """Look at this repository, or at each PATH, in the browser.

    The page is for this machine alone, and the address works once: it becomes a cookie. Nothing is changed,
    and nothing is asked of other hosts. A repository that was never indexed is indexed meanwhile.
    """
    from codenib.adapters.mcp.server_context import ServerContext
    from codenib.adapters.ui.server import PageServer

    places = [project(path, named=True) for path in paths] or [project(repository)]
    contexts = [ServerContext(path) for path in dict.fromkeys(places)]
    server = PageServer(contexts, port, [Path(folder) for folder in runs])
    address = server.bind()
    if log:
        start_log(log_format, sys.stderr)
    click.echo(address)
    if not no_open and not webbrowser.open(address):
        say("no browser could be started: open this address in yours")
    server.run()


@click.group()
def token() -> None:
    """Make, list and revoke the tokens of `codenib serve`."""


@token.command()
@click.argument("name")
@click.option(
    "--repo",
    "repositories",
    multiple=True,
    metavar="PATH|NAME|GLOB",
    help="What it is for: a repository, a name of the fleet, or a glob of paths or names; `*`: everything.",
)
@click.option("--tenant", default="", metavar="NAME", help="Whose it is. Tenants share the server fairly.")
@click.option("--view", "views", multiple=True, metavar="VIEW", help="A view that may answer (default: all).")
@click.option("--rate", type=float, metavar="N", help="Requests a second (default: the server's, 20).")
@click.option("--concurrent", type=int, metavar="N", help="Requests at once (default: the server's, 64).")
@click.option("--tokens-per-day", type=int, metavar="N", help="Tokens of replies until midnight UTC.")
@click.option("--metrics", is_flag=True, help="For /metrics too, which has numbers of all tenants.")
@as_json
@click.pass_obj
def create(
    repository: str,
    name: str,
    repositories: tuple[str, ...],
    tenant: str,
    views: tuple[str, ...],
    rate: float | None,
    concurrent: int | None,
    tokens_per_day: int | None,
    metrics: bool,
    json_output: bool,
) -> None:
    """Make a token with NAME and print it, once."""
    from codenib.adapters.mcp.transport.tokens import AccessTokens
    from codenib.fleet.tenants.grant import Grant

    wanted = repositories or (() if metrics else (repository,))
    grant = Grant(
        tenant=tenant,
        repositories=tuple(_place(path) for path in wanted),
        views=views,
        requests_per_s=rate,
        concurrent=concurrent,
        tokens_per_day=tokens_per_day,
    )
    row, text = AccessTokens().create(name, grant=grant, metrics=metrics)
    if json_output:
        print_json(_tokens([row], text))
        return
    click.echo(text)
    say(f"{row.name} ({row.id}) for {_scope(row)}; it is not shown again")


def _place(written: str) -> str:
    """A glob or a name of the fleet as it is, else the root of the repository at that path."""
    from codenib.fleet.catalogue.catalogue import Catalogue
    from codenib.fleet.tenants.grant import is_glob
    from codenib.serving.installation import repository_root

    known = is_glob(written) or (
        not Path(written).exists() and any(entry.name == written for entry in Catalogue.open().entries)
    )
    return written if known else str(repository_root(written))


@token.command("list")
@as_json
def list_tokens(json_output: bool) -> None:
    """List the tokens, without their secrets."""
    from codenib.adapters.mcp.transport.tokens import AccessTokens

    rows = AccessTokens().rows()
    if json_output:
        print_json(_tokens(rows))
        return
    for row in rows:
        day = utc(row.created).date()
        click.echo(f"{row.id}  {day}  {row.name}  {_scope(row)}")
    if not rows:
        say("no tokens; codenib token create NAME --repo PATH")


@token.command()
@click.argument("token_id", metavar="ID")
@as_json
def revoke(token_id: str, json_output: bool) -> None:
    """Revoke the token with this id or name. Servers that run refuse it from now on."""
    from codenib.adapters.mcp.transport.tokens import AccessTokens

    row = AccessTokens().revoke(token_id)
    if json_output:
        print_json(_tokens([row]))
    else:
        click.echo(f"{row.name} ({row.id}) is revoked")


def _scope(row: TokenRow) -> str:
    """What a token is for, in a line."""
    limits = {
        "tenant": row.tenant,
        "views": "+".join(row.views),
        "a second": row.requests_per_s,
        "at once": row.concurrent,
        "tokens a day": row.tokens_per_day,
    }
    parts = [f"{name} {value}" if isinstance(value, str) else f"{value:,} {name}"
             for name, value in limits.items() if value]  # fmt: skip
    parts += ["metrics"] if row.metrics else []
    return "; ".join([", ".join(row.repositories), *parts] if row.repositories else parts)


def _tokens(rows: Sequence[TokenRow], text: str | None = None) -> Envelope[TokenItem]:
    items = (
        TokenItem(
            id=row.id,
            name=row.name,
            repositories=row.repositories,
            created=utc(row.created),
            token=text,
            tenant=row.tenant,
            views=row.views,
            requests_per_s=row.requests_per_s,
            concurrent=row.concurrent,
            tokens_per_day=row.tokens_per_day,
            metrics=row.metrics,
        )
        for row in rows
    )
    return whole(tuple(items), "tokens", 0.0)

"""Options that several commands share, each defined once."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import click

from codenib.core.requests import SearchRequest, SnapshotRequest
from codenib.serving.choices import FUSIONS, ROUTES

Function = TypeVar("Function", bound=Callable[..., Any])

as_json = click.option("--json", "json_output", is_flag=True, help="Print JSON for scripts.")
at_revision = click.option("--at", metavar="REV", help="A commit, branch or tag instead of the worktree.")
path_globs = click.option(
    "--paths", multiple=True, metavar="GLOB", help="Only these paths; `!GLOB` excludes; may be repeated."
)
no_refresh = click.option(
    "--no-refresh", is_flag=True, help="Answer from what was last indexed, and say that it may be stale."
)
waiting = click.option(
    "--wait", is_flag=True, help="Bring up the graph first, or start the language server, instead of names."
)
views_option = click.option(
    "--views",
    metavar="NAMES",
    default=None,
    help="Views, with commas: lexical, trigram, dense, history (these by default), zoekt, graph.",
)


log_format = click.option(
    "--log-format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="How each logged line is written: with its time as text, or as JSON.",
)

#: What a search takes for `-k 0`: more than any repository has.
EVERYTHING = 1_000_000


def limit_option(default: int, what: str) -> Callable[[Function], Function]:
    """`-k`: how many of something; 0 means all, in every command."""
    about = f"How many {what}; 0 for all."
    return click.option("-k", default=default, show_default=True, type=click.IntRange(min=0), help=about)


#: A question of one or more words, with or without quotes; the command receives them as one text.
query_words = click.argument(
    "query", nargs=-1, metavar="QUERY...", callback=lambda context, parameter, words: " ".join(words)
)

_PLANNING = (
    click.option("--route", type=click.Choice(ROUTES), default="auto", show_default=True),
    click.option(
        "--budget",
        default="balanced",
        show_default=True,
        metavar="NAME|MS",
        help="fast, balanced, or milliseconds (200ms).",
    ),
    click.option(
        "--fusion", type=click.Choice(FUSIONS), default="auto", show_default=True, help="Of the hybrid route."
    ),
    click.option(
        "--rerank",
        "reranker",
        metavar="SPEC",
        help="A reranker: onnx:FOLDER, qwen3-0.6b, llm:MODEL, none.",
    ),
    click.option("--cut", type=int, metavar="N", help="How many candidates the reranker reads."),
    click.option("--expand", is_flag=True, help="Add the graph's neighbours to the semantic route."),
    click.option(
        "--learned/--no-learned",
        default=True,
        show_default=True,
        help="Use what `codenib learn` and `codenib policy` made of this repository.",
    ),
)
_REQUESTED = ("k", "route", "budget", "fusion", "reranker", "cut", "expand", "learned")


def planning(function: Callable[..., None]) -> Callable[..., None]:
    """What a ranked query may ask of its plan; the command receives it as a request without its query."""

    @functools.wraps(function)
    def call(*args: Any, **given: Any) -> None:
        snapshot = asked_snapshot(given.pop("at"), given.pop("no_refresh"))
        chosen = {name: given.pop(name) for name in _REQUESTED}
        chosen["k"] = chosen["k"] or EVERYTHING
        function(*args, request=SearchRequest("", snapshot=snapshot, **chosen), **given)

    for option in reversed(_PLANNING):
        call = option(call)
    return call


def asked_snapshot(at: str | None, no_refresh: bool, wait: bool = False) -> SnapshotRequest:
    """What `--at`, `--no-refresh` and `--wait` ask for."""
    return SnapshotRequest(at, "never" if no_refresh else "auto", wait)


def shared(*options: Callable[[Function], Function]) -> Callable[[Function], Function]:
    """Apply several options in the order given."""

    def apply(function: Function) -> Function:
        for option in reversed(options):
            function = option(function)
        return function

    return apply

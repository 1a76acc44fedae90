"""Commands that navigate: def, refs, and the questions to the graph."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

import click

from codenib.adapters.cli.options import (
    EVERYTHING,
    as_json,
    asked_snapshot,
    at_revision,
    limit_option,
    no_refresh,
    path_globs,
    shared,
    waiting,
)
from codenib.adapters.cli.output import ProgressDisplay, opened, print_json, say
from codenib.adapters.cli.standing import Standing, path_here, place_here, standing_in
from codenib.adapters.envelopes.navigation import (
    drawing_reply,
    graph_reply,
    navigation_reply,
)
from codenib.core.errors import InputError
from codenib.core.facts import BY_NAME
from codenib.core.navigation import Meaning
from codenib.core.requests import NavigationRequest, NeighbourRelation, NeighboursRequest
from codenib.core.symbols import GraphAnswer, NavigationAnswer, Symbol
from codenib.serving.workspace import Workspace
from codenib.system.linear_algebra import load_numpy_beside

_WIDEST = 160
_CODE_ALONE, _CODE_EACH = 60, 8  # lines of a declaration, alone or one of several
_LISTS = ("symbols", "outline")  # declarations alone, which need no resolved uses
_BOTH_WAYS: tuple[NeighbourRelation, ...] = ("dependents", "dependencies")

named = click.option("--name", default="", metavar="NAME", help="The name on that line, instead of a column.")
provided = click.option(
    "--provider",
    type=click.Choice(["auto", "static", "live"]),
    default="auto",
    show_default=True,
    help="The graph, the language server, or what can answer at once.",
)
depth_option = click.option("--depth", default=1, show_default=True, help="How many steps.")


def _asking(repository: str, *, quiet: bool) -> AbstractContextManager[tuple[Workspace, ProgressDisplay]]:
    """The workspace that is asked; what reads its views is on its way."""
    load_numpy_beside()
    return opened(repository, quiet=quiet)


@click.command("def")
@click.argument("where", metavar="FILE:LINE[:COL]|SYMBOL")
@limit_option(0, "places")
@shared(named, provided)
@shared(at_revision, no_refresh, waiting, as_json)
@click.pass_obj
def def_(
    repository: str,
    where: str,
    k: int,
    name: str,
    provider: Any,
    at: str | None,
    no_refresh: bool,
    wait: bool,
    json_output: bool,
) -> None:
    """Show where what stands at a place, or a SYMBOL, is defined. Lines and columns are 1-based."""
    with _asking(repository, quiet=json_output) as (workspace, progress):
        snapshot, standing = asked_snapshot(at, no_refresh, wait), standing_in(repository, workspace)
        place = place_here(standing, where, workspace, snapshot)
        request = NavigationRequest(place, name, provider, limit=k or None, snapshot=snapshot)
        answer = workspace.navigator.definition(request)
        progress.close()
        _show(answer, json_output, "definition", standing)


@click.command()
@click.argument("where", metavar="FILE:LINE[:COL]|SYMBOL")
@limit_option(100, "places")
@click.option("--no-declaration", is_flag=True, help="Leave the declarations out.")
@shared(named, provided)
@shared(at_revision, no_refresh, waiting, as_json)
@click.pass_obj
def refs(
    repository: str,
    where: str,
    k: int,
    no_declaration: bool,
    name: str,
    provider: Any,
    at: str | None,
    no_refresh: bool,
    wait: bool,
    json_output: bool,
) -> None:
    """Show every place that refers to what stands at a place, or to a SYMBOL."""
    with _asking(repository, quiet=json_output) as (workspace, progress):
        snapshot, standing = asked_snapshot(at, no_refresh, wait), standing_in(repository, workspace)
        place = place_here(standing, where, workspace, snapshot)
        request = NavigationRequest(
            place, name, provider, limit=k or None, declarations=not no_declaration, snapshot=snapshot
        )
        answer = workspace.navigator.references(request)
        progress.close()
        _show(answer, json_output, "reference", standing)


def _show(answer: NavigationAnswer, json_output: bool, what: str, standing: Standing) -> None:
    texts = [place.text.partition("\n")[0] for place in answer]
    if json_output:
        print_json(navigation_reply(answer, texts))
        return
    if answer.refreshed:
        say(answer.refreshed)
    for meaning in answer.meanings:
        for line in _declaration(meaning, len(answer.meanings), standing):
            click.echo(line)
    for place, text in zip(answer, texts, strict=True) if not answer.meanings else ():
        head = click.style(f"{standing.from_here(place.path)}:{place.line}:{place.column + 1}", fg="cyan")
        end = place.end_column if place.end_line == place.line else len(text)
        marked = f"{text[: place.column]}{click.style(text[place.column : end], bold=True)}{text[end:]}"
        shown = marked.strip() if len(text) <= _WIDEST else f"{text[:_WIDEST].strip()}…"
        remarks = ["cell {}, line {}".format(*place.cell)] if place.cell else []
        remarks += ["by name"] if place.scope == BY_NAME and answer.provider == "static" else []
        label = click.style(f"  {', '.join(remarks)}", dim=True) if remarks else ""
        click.echo(f"{head}: {shown}{label}")
    if not answer.locations:
        outside = f"; {answer.outside} outside the repository" if answer.outside else ""
        click.echo(f"no {what} in the repository{outside}", err=True)
    label = f"{answer.provider}, {answer.backend}" if answer.backend else answer.provider
    grain = "" if answer.granularity == "occurrence" else f", {answer.granularity}"
    say(f"{len(answer.locations):,} of {answer.total:,} ({label}{grain}) in {answer.seconds * 1000:.1f} ms")
    if answer.note:
        say(answer.note)


def _declaration(meaning: Meaning, of: int, standing: Standing) -> Iterator[str]:
    """A declaration with its kind and its code: more of it when it is alone."""
    place = meaning.place
    head = click.style(f"{standing.from_here(place.path)}:{place.line}:{place.column + 1}", fg="cyan")
    marks = "".join(f", {mark}" for mark in meaning.marks)
    yield f"{head}  {click.style(meaning.symbol, bold=True)}  {meaning.kind}{marks}"
    lines = meaning.text.rstrip().split("\n")
    most = _CODE_ALONE if of == 1 else _CODE_EACH
    for number, text in enumerate(lines[:most], meaning.start_line):
        yield f"  {click.style(str(number), dim=True)}  {text[:_WIDEST]}"
    if len(lines) > most:
        yield click.style(f"  … {len(lines) - most} more lines", dim=True)


def neighbourhood(metavar: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add the options that questions about neighbours share; the command receives them as one request."""

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        @click.argument("where", metavar=metavar)
        @shared(named, depth_option, limit_option(50, "symbols"))
        @shared(at_revision, no_refresh, waiting, as_json)
        @click.pass_obj
        @functools.wraps(function)
        def call(
            repository: str,
            /,
            where: str,
            name: str,
            depth: int,
            k: int,
            at: str | None,
            no_refresh: bool,
            wait: bool,
            json_output: bool,
            **more: Any,
        ) -> None:
            snapshot = asked_snapshot(at, no_refresh, wait)
            request = NeighboursRequest(where, name=name, depth=depth, k=k or EVERYTHING, snapshot=snapshot)
            function(repository, request, json_output, **more)

        return call

    return decorate


@click.command()
@neighbourhood("FILE:LINE[:COL]|SYMBOL")
def callers(repository: str, request: NeighboursRequest, json_output: bool) -> None:
    """Show what calls a function."""
    _show_neighbours(repository, replace(request, relation="callers"), json_output)


@click.command()
@neighbourhood("FILE:LINE[:COL]|SYMBOL")
def callees(repository: str, request: NeighboursRequest, json_output: bool) -> None:
    """Show what a function calls."""
    _show_neighbours(repository, replace(request, relation="callees"), json_output)


@click.command()
@click.option("--in", "incoming", is_flag=True, help="What uses it, instead of what it uses.")
@click.option("--subtypes", is_flag=True, help="What inherits from it or implements it.")
@click.option("--kind", "kinds", multiple=True, help="Only call, import, type-use, reference or inherit.")
@neighbourhood("FILE[:LINE[:COL]]|SYMBOL")
def deps(
    repository: str,
    request: NeighboursRequest,
    json_output: bool,
    *,
    incoming: bool,
    subtypes: bool,
    kinds: tuple[str, ...],
) -> None:
    """Show what a symbol or a file depends on, or with `--in` what depends on it."""
    relation: NeighbourRelation = "subtypes" if subtypes else "dependents" if incoming else "dependencies"
    _show_neighbours(repository, replace(request, relation=relation, kinds=kinds), json_output)


def _show_neighbours(repository: str, request: NeighboursRequest, json_output: bool) -> None:
    with _asking(repository, quiet=json_output) as (workspace, progress):
        standing = standing_in(repository, workspace)
        where = place_here(standing, str(request.where), workspace, request.snapshot)
        answer = workspace.navigator.neighbours(replace(request, where=where))
        progress.close()
    _show_graph(answer, json_output, request.relation, standing)


@click.command()
@click.argument("start", metavar="FROM")
@click.argument("goal", metavar="TO")
@shared(at_revision, no_refresh, waiting, as_json)
@click.pass_obj
def path(
    repository: str, start: str, goal: str, at: str | None, no_refresh: bool, wait: bool, json_output: bool
) -> None:
    """Show the shortest chain of uses from one symbol or file to another."""
    with _asking(repository, quiet=json_output) as (workspace, progress):
        snapshot, standing = asked_snapshot(at, no_refresh, wait), standing_in(repository, workspace)
        ends = [place_here(standing, end, workspace, snapshot) for end in (start, goal)]
        answer = workspace.navigator.path(ends[0], ends[1], snapshot)
        progress.close()
    _show_graph(answer, json_output, "path", standing)


@click.command()
@click.argument("query")
@limit_option(20, "symbols")
@shared(at_revision, no_refresh, waiting, as_json)
@click.pass_obj
def symbols(
    repository: str, query: str, k: int, at: str | None, no_refresh: bool, wait: bool, json_output: bool
) -> None:
    """Find declarations by name: exact names first, then the more important."""
    with _asking(repository, quiet=json_output) as (workspace, progress):
        answer = workspace.navigator.symbols(query, k or EVERYTHING, asked_snapshot(at, no_refresh, wait))
        standing = standing_in(repository, workspace)
        progress.close()
    _show_graph(answer, json_output, "symbols", standing)


@click.command()
@click.argument("file")
@shared(at_revision, no_refresh, waiting, as_json)
@click.pass_obj
def outline(
    repository: str, file: str, at: str | None, no_refresh: bool, wait: bool, json_output: bool
) -> None:
    """Show the declarations of a file."""
    with _asking(repository, quiet=json_output) as (workspace, progress):
        snapshot, standing = asked_snapshot(at, no_refresh, wait), standing_in(repository, workspace)
        answer = workspace.navigator.outline(path_here(standing, file, workspace, snapshot), snapshot)
        progress.close()
    _show_graph(answer, json_output, "outline", standing)


def _show_graph(answer: GraphAnswer, json_output: bool, which: str, standing: Standing) -> None:
    if json_output:
        print_json(graph_reply(answer, around=which not in _LISTS and which != "path"))
        return
    if answer.refreshed:
        say(answer.refreshed)
    lines = list(_lines(answer, which, standing))
    for line in lines:
        click.echo(line)
    if not lines:
        click.echo(_nothing(answer, which), err=True)
    more = ", and more" if answer.truncated else ""
    backends = ", ".join(answer.backends.values()) or "syntactic: names alone"
    say(f"{answer.total:,} found{more} ({backends}) in {answer.seconds * 1000:.1f} ms")
    if answer.note:
        say(answer.note)


def _nothing(answer: GraphAnswer, which: str) -> str:
    """What an empty answer means: nothing is known to be there only where every file was resolved."""
    if which in _LISTS or answer.completeness in ("all", "limited"):
        return "nothing found"
    if answer.completeness == "partial":
        found = "in the files that were resolved" if answer.unresolved else "for certain"
        return f"nothing found {found}"
    return "not known: no engine resolved uses here"


def _lines(answer: GraphAnswer, which: str, standing: Standing) -> Iterator[str]:
    by_id = {symbol.id: symbol for symbol in reversed(answer.symbols)}
    for symbol in answer.symbols:
        if which in _LISTS:
            yield f"{'  ' * symbol.depth}{_line(symbol, standing)}"
        elif which == "path":
            yield _line(symbol, standing)
            for edge in answer.edges:
                if edge.source == symbol.id:
                    place = f"{standing.from_here(edge.path)}:{edge.line}"
                    yield click.style(f"  ↓ {edge.kind} at {place}", dim=True)
        elif symbol.depth:
            label = "  by name" if symbol.scope == BY_NAME else ""
            how = click.style(f"{_how(symbol, answer, by_id, standing)}{label}", dim=True)
            yield f"{'  ' * (symbol.depth - 1)}{_line(symbol, standing)}{how}"


def _line(symbol: Symbol, standing: Standing) -> str:
    line = "/" if symbol.path.endswith("/") else f":{symbol.line}"
    place = click.style(f"{standing.from_here(symbol.path).rstrip('/')}{line}", fg="cyan")
    name = "" if symbol.qualified == symbol.path else f"  {click.style(symbol.qualified, bold=True)}"
    return f"{place}{name}  {click.style(symbol.kind, dim=True)}"


def _how(symbol: Symbol, answer: GraphAnswer, by_id: dict[int, Symbol], standing: Standing) -> str:
    """The first edge that led to a symbol."""
    for edge in answer.edges:
        other = edge.source if edge.to == symbol.id else edge.to
        known = by_id.get(other)
        if symbol.id in (edge.source, edge.to) and known is not None and known.depth < symbol.depth:
            often = f" ×{edge.often}" if edge.often > 1 else ""
            is_one = known in answer.starts and symbol.scope != BY_NAME
            of = f" of {known.qualified}" if is_one and len(answer.starts) > 1 else ""
            return f"  {edge.kind}{of} at {standing.from_here(edge.path)}:{edge.line}{often}"
    return ""


@click.command("compare-navigation")
@click.option("-n", "count", default=200, show_default=True, help="How many positions.")
@click.option("--seed", default=1, show_default=True)
@shared(path_globs, as_json)
@click.pass_obj
def compare_navigation(
    repository: str, count: int, seed: int, paths: tuple[str, ...], json_output: bool
) -> None:
    """Ask the graph and the language servers at sampled positions and show where they differ."""
    started = time.perf_counter()
    with _asking(repository, quiet=json_output) as (workspace, progress):
        found = workspace.navigator.compare(n=count, seed=seed, paths=paths)
        progress.close()
    if json_output:
        from codenib.adapters.envelopes.comparison import comparison_reply

        print_json(comparison_reply(found, time.perf_counter() - started))
        return
    for mismatch in found.mismatches:
        head = click.style(mismatch.position, fg="cyan")
        click.echo(f"{head} {mismatch.question} of {mismatch.name}: {mismatch.category}")
        click.echo(click.style(f"    {mismatch.text[:_WIDEST]}", dim=True))
        for side, places in (("live", mismatch.only_live), ("static", mismatch.only_static)):
            if places:
                click.echo(f"    only {side}: {', '.join(places)}")
    for what, rates in (("definitions", found.definitions), ("references", found.references)):
        click.echo(
            f"{what}: {rates.match_rate:.1%} of {rates.n} match ({rates.limited:.1%} after limits), "
            f"static is right on {rates.right_rate:.1%}; "
            f"static {rates.static_p50_ms:.3f} ms, live {rates.live_p50_ms:.1f} ms, {rates.speedup:,.0f}×"
        )
    for category, often in sorted(found.categories.items(), key=lambda item: -item[1]):
        click.echo(f"  {often:4} {category}")


@click.command()
@click.argument("where", metavar="FILE[:LINE[:COL]]|SYMBOL")
@click.option("--svg", "svg_file", metavar="FILE", help="Write an SVG drawing (`-`: standard output).")
@click.option("--html", "html_file", metavar="FILE", help="Write a page (`-`: standard output).")
@shared(named, depth_option, limit_option(20, "symbols on each side"))
@shared(at_revision, no_refresh, waiting, as_json)
@click.pass_obj
def graph(
    repository: str,
    where: str,
    svg_file: str | None,
    html_file: str | None,
    name: str,
    depth: int,
    k: int,
    at: str | None,
    no_refresh: bool,
    wait: bool,
    json_output: bool,
) -> None:
    """Draw the neighbourhood of a symbol or file: what uses it, and what it uses."""
    from codenib.adapters.cli import draw

    if not (svg_file or html_file or json_output):
        raise InputError("say where to draw", hint=f"codenib graph {where} --svg graph.svg")
    with _asking(repository, quiet=json_output) as (workspace, progress):
        snapshot = asked_snapshot(at, no_refresh, wait)
        place = place_here(standing_in(repository, workspace), where, workspace, snapshot)
        before, after = (
            workspace.navigator.neighbours(
                NeighboursRequest(place, relation, name, depth, k or EVERYTHING, snapshot=snapshot)
            )
            for relation in _BOTH_WAYS
        )
        progress.close()
    if json_output:
        print_json(drawing_reply(before, after))
    for file, drawn in ((svg_file, draw.svg), (html_file, draw.html)):
        if file:
            with click.open_file(file, "w", encoding="utf-8") as stream:
                stream.write(drawn(before, after))
            if file != "-":
                say(f"{before.total} use it, it uses {after.total}: {file}")

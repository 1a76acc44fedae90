"""The commands that ask many repositories: fleet search, regex, symbols, def."""

from __future__ import annotations

from typing import Any

import click

from codenib.adapters.cli.commands.fleet.catalogue import repo_globs
from codenib.adapters.cli.commands.search import excerpt, marked
from codenib.adapters.cli.options import EVERYTHING, as_json, limit_option, path_globs, query_words, shared
from codenib.adapters.cli.output import print_json, say
from codenib.adapters.envelopes.fleet_answers import (
    fleet_regex_reply,
    fleet_search_reply,
    fleet_symbols_reply,
)
from codenib.core.errors import InputError
from codenib.fleet.search.answers import AskedRepository, FleetAnswer, FleetCoverage, FleetSymbols
from codenib.fleet.search.fleet import Fleet
from codenib.fleet.search.ranked import DEFAULT_ASKED, FleetRequest

_NAMED = 5  # repositories that a remark names
_EXPLAINED = 3  # repositories of which it is said why they were asked
_REASONS = 3  # of those that could not be asked


@click.command()
@query_words
@click.option("-k", default=10, show_default=True, type=click.IntRange(min=1), help="How many results.")
@click.option(
    "--ask",
    type=click.IntRange(min=1),
    help="How many repositories to open, the likeliest first; else those that may be meant, "
    f"{DEFAULT_ASKED} at most.",
)
@click.option("--level", type=click.Choice(["unit", "file"]), default="unit", show_default=True)
@click.option(
    "--tests",
    type=click.Choice(["include", "exclude", "lower"]),
    help="Rank test, example and vendored code as it is, not at all, or lower.",
)
@shared(repo_globs, path_globs, as_json)
def search(
    query: str,
    k: int,
    ask: int | None,
    level: Any,
    tests: Any,
    repos: tuple[str, ...],
    paths: tuple[str, ...],
    json_output: bool,
) -> None:
    """Find code in all repositories of the fleet, best first; those that fit QUERY best are opened.

    Nothing is built: answers are from what `codenib fleet index` published last.
    """
    if not query.strip():
        raise InputError("the query is empty", hint="codenib fleet search 'parse config file'")
    request = FleetRequest(query, k=k, level=level, paths=paths, tests=tests, ask=ask)
    with Fleet() as fleet:
        answer = fleet.ask(request, repos=repos)
        if json_output:
            print_json(fleet_search_reply(answer))
        else:
            _print_answer(answer, level)


@click.command()
@click.argument("pattern")
@click.option("-i", "--ignore-case", is_flag=True)
@click.option("-F", "--literal", is_flag=True, help="The pattern is plain text.")
@click.option("-U", "--multiline", is_flag=True, help="A match may span lines.")
@limit_option(100, "lines")
@click.option("--timeout", "timeout_s", default=10.0, show_default=True, help="Seconds for all, then a part.")
@shared(repo_globs, path_globs, as_json)
def regex(
    pattern: str,
    ignore_case: bool,
    literal: bool,
    multiline: bool,
    k: int,
    timeout_s: float,
    repos: tuple[str, ...],
    paths: tuple[str, ...],
    json_output: bool,
) -> None:
    """Find the lines that match PATTERN in all repositories, by repository and path.

    A repository whose trigrams exclude a match is not opened. The answer says whether it is complete.
    """
    with Fleet() as fleet:
        answer = fleet.regex(
            pattern, k=k or None, ignore_case=ignore_case, literal=literal, multiline=multiline,
            paths=paths, timeout_s=timeout_s, repos=repos,
        )  # fmt: skip
    if json_output:
        print_json(fleet_regex_reply(answer))
        return
    for item in answer:
        where = f"{item.repository}  {item.match.path}:{item.match.line}:{item.match.column + 1}"
        click.echo(f"{click.style(where, fg='cyan')}: {marked(item.match)}")
    if not answer.items:
        click.echo(
            "nothing matches" if answer.complete else "nothing matches so far as was searched", err=True
        )
    whole = "complete" if answer.complete else "not complete"
    say(
        f"{len(answer.items):,} of {answer.total:,} lines in {answer.files:,} files, {whole}, "
        f"{answer.seconds * 1000:.0f} ms"
    )
    if answer.note:
        say(answer.note)
    say_coverage(answer.coverage)


@click.command()
@click.argument("name")
@limit_option(20, "declarations")
@shared(repo_globs, as_json)
def symbols(name: str, k: int, repos: tuple[str, ...], json_output: bool) -> None:
    """Find declarations by NAME in all repositories: exact names first."""
    with Fleet() as fleet:
        answer = fleet.symbols(name, k=k or EVERYTHING, repos=repos)
    _print_symbols(answer, json_output)


@click.command("def")
@click.argument("name")
@limit_option(20, "declarations")
@click.option(
    "--from", "asker", metavar="REPO", default="", help="Say which version this repository asks for."
)
@shared(repo_globs, as_json)
def def_(name: str, k: int, asker: str, repos: tuple[str, ...], json_output: bool) -> None:
    """Show where NAME, as code imports it (requests.Session, example.org/chi.NewRouter), is declared.

    Packages are known by the manifests of the repositories; where none exports NAME's package, declarations
    of the same name are listed, and the answer says so.
    """
    with Fleet() as fleet:
        answer = fleet.definitions(name, k=k or EVERYTHING, asker=asker, repos=repos)
    _print_symbols(answer, json_output)


def _print_symbols(answer: FleetSymbols, json_output: bool) -> None:
    if json_output:
        print_json(fleet_symbols_reply(answer))
        return
    for item in answer:
        symbol = item.symbol
        where = click.style(f"{item.repository}  {symbol.path}:{symbol.line}", fg="cyan")
        what = click.style(f"{symbol.kind}  {item.package}".rstrip(), dim=True)
        click.echo(f"{where}  {click.style(symbol.qualified, bold=True)}  {what}")
    if not answer.items:
        click.echo("nothing found", err=True)
    say(f"{len(answer.items):,} of {answer.total:,} declarations in {answer.seconds * 1000:.0f} ms")
    if answer.note:
        say(answer.note)
    for each in answer.required:
        say(str(each))
    say_coverage(answer.coverage, why="do not have the word")


def _print_answer(answer: FleetAnswer, level: str) -> None:
    for item in answer:
        place = item.place
        where = click.style(f"{item.repository}  {place.path}:{place.start_line}", fg="cyan", bold=True)
        name = f"  {click.style(place.symbol, bold=True)}" if place.symbol else ""
        marks = f" [{', '.join(place.marks)}]" if place.marks else ""
        why = f"  matched: {', '.join(place.matched)}" if place.matched else ""
        click.echo(f"{where}{name}  {click.style(f'{place.kind}{marks}  {item.score:.3f}{why}', dim=True)}")
        if level == "unit":
            click.echo(excerpt(item.text, place))
            click.echo()
    if answer.items:
        took = f"{answer.seconds * 1000:.0f} ms"
        say(f"{len(answer.items)} of {answer.total:,} matching {level}s in {took}")
    else:
        click.echo("nothing matches", err=True)
    if answer.note:
        say(answer.note)
    say_coverage(answer.coverage)
    for each in answer.coverage.asked[:_EXPLAINED]:
        say(f"{each.name}: likely {each.likelihood:.0%}, as {_why(each)}")


def _why(asked: AskedRepository) -> str:
    """What made a repository likely."""
    said = [f"the query says {asked.called}"] if asked.called else []
    words = [f"its words are {', '.join(asked.words)}"] if asked.words else []
    return " and ".join(said + words)


def say_coverage(coverage: FleetCoverage, why: str = "fit less") -> None:
    """Remarks on whom was asked, who was not, and why."""
    asked = [each.name for each in coverage.asked]
    said = f"asked {len(asked):,} of {coverage.repositories:,} repositories"
    say(f"{said}: {_names(asked)}" if asked else said)
    if coverage.unlikely:
        following = f": {_names(coverage.next_likely, coverage.unlikely)}" if coverage.next_likely else ""
        more = "; --ask N opens more" if coverage.next_likely else ""
        say(f"{coverage.unlikely:,} {why} and were not opened{following}{more}")
    if coverage.excluded:
        say(f"{coverage.excluded:,} cannot have a result")
    reasons: dict[str, list[str]] = {}
    for name, reason in coverage.unavailable.items():
        reasons.setdefault(reason, []).append(name)
    for reason, names in list(reasons.items())[:_REASONS]:
        say(f"not asked, as {reason}: {_names(names)}")
    if len(reasons) > _REASONS:
        rest = sum(map(len, list(reasons.values())[_REASONS:]))
        say(f"{rest:,} more could not be asked; --json names them")
    behind = [each.name for each in coverage.asked if each.behind]
    if behind:
        say(f"newer commits are not indexed yet in {_names(behind)}; codenib fleet index")


def _names(names: Any, total: int = 0) -> str:
    rest = max(total, len(names)) - min(len(names), _NAMED)
    return ", ".join(names[:_NAMED]) + (f" and {rest:,} more" if rest > 0 else "")

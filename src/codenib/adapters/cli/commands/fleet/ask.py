"""The commands that ask many repositories: fleet search."""

from __future__ import annotations

from typing import Any

import click

from codenib.adapters.cli.commands.fleet.catalogue import repo_globs
from codenib.adapters.cli.commands.search import excerpt
from codenib.adapters.cli.options import as_json, path_globs, query_words, shared
from codenib.adapters.cli.output import print_json, say
from codenib.adapters.envelopes.fleet_answers import fleet_search_reply
from codenib.core.errors import InputError
from codenib.fleet.search.answers import FleetAnswer, FleetCoverage
from codenib.fleet.search.fleet import Fleet
from codenib.fleet.search.ranked import DEFAULT_ASKED, FleetRequest

_NAMED = 5  # repositories that a remark names
_REASONS = 3  # of those that could not be asked


@click.command()
@query_words
@click.option("-k", default=10, show_default=True, type=click.IntRange(min=1), help="How many results.")
@click.option(
    "--ask",
    default=DEFAULT_ASKED,
    show_default=True,
    type=click.IntRange(min=1),
    help="How many repositories to open, the most promising ones.",
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
    ask: int,
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


def _print_answer(answer: FleetAnswer, level: str) -> None:
    for item in answer:
        place = item.place
        where = click.style(f"{item.repository}  {place.path}:{place.start_line}", fg="cyan", bold=True)
        name = f"  {click.style(place.symbol, bold=True)}" if place.symbol else ""
        marks = f" [{', '.join(place.marks)}]" if place.marks else ""
        why = f"  matched: {', '.join(place.matched)}" if place.matched else ""
        click.echo(f"{where}{name}  {click.style(f'{place.kind}{marks}  {item.score:.2f}{why}', dim=True)}")
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


def say_coverage(coverage: FleetCoverage) -> None:
    """Remarks on whom was asked, who was not, and why."""
    asked = [each.name for each in coverage.asked]
    said = f"asked {len(asked):,} of {coverage.repositories:,} repositories"
    say(f"{said}: {_names(asked)}" if asked else said)
    if coverage.unlikely:
        following = f": {_names(coverage.next_likely, coverage.unlikely)}" if coverage.next_likely else ""
        say(f"{coverage.unlikely:,} fit less and were not opened{following}; --ask N opens more")
    if coverage.excluded:
        say(f"{coverage.excluded:,} cannot have a result")
    reasons: dict[str, list[str]] = {}
    for name, why in coverage.unavailable.items():
        reasons.setdefault(why, []).append(name)
    for why, names in list(reasons.items())[:_REASONS]:
        say(f"not asked, as {why}: {_names(names)}")
    if len(reasons) > _REASONS:
        rest = sum(map(len, list(reasons.values())[_REASONS:]))
        say(f"{rest:,} more could not be asked; --json names them")
    behind = [each.name for each in coverage.asked if each.behind]
    if behind:
        say(f"newer commits are not indexed yet in {_names(behind)}; codenib fleet index")


def _names(names: Any, total: int = 0) -> str:
    rest = max(total, len(names)) - min(len(names), _NAMED)
    return ", ".join(names[:_NAMED]) + (f" and {rest:,} more" if rest > 0 else "")

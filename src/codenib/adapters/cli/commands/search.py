"""The commands that ask: search, plan, regex."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import msgspec

from codenib.adapters.cli.options import (
    as_json,
    asked_snapshot,
    at_revision,
    limit_option,
    no_refresh,
    path_globs,
    planning,
    query_words,
    shared,
)
from codenib.adapters.cli.output import numbered, opened, print_json, say
from codenib.adapters.cli.standing import Standing, place_here, standing_in
from codenib.adapters.cli.terminal import width
from codenib.adapters.envelopes.answers import (
    batch_reply,
    plan_reply,
    regex_reply,
    search_reply,
)
from codenib.core.answers import Answer, Coverage, Evidence, Explanation, LineMatch, RegexAnswer
from codenib.core.errors import UNDECODABLE, InputError
from codenib.core.requests import RegexRequest, SearchRequest

_SHOWN_LINES = 5
_WIDEST = 160
_MARGIN = 8  # of a line's number


@click.command()
@query_words
@limit_option(10, "results")
@planning
@click.option("--level", type=click.Choice(["unit", "file"]), default="unit", show_default=True)
@click.option(
    "--tests",
    type=click.Choice(["include", "exclude", "lower"]),
    help="Rank test, example and vendored code as it is, not at all, or lower (default: lower, unless the "
    "question is about tests).",
)
@click.option("--explain", is_flag=True, help="Say why each result stands where it does.")
@click.option("--like", default="", metavar="FILE:LINE", help="What resembles the code there; no QUERY.")
@click.option("--batch", type=click.Path(dir_okay=False), help="Rows {id, query}, one JSON object a line.")
@click.option("--out", default="-", help="Where the batch's answers go (default: standard output).")
@shared(at_revision, path_globs, no_refresh, as_json)
@click.pass_obj
def search(
    repository: str,
    query: str,
    request: SearchRequest,
    level: Any,
    tests: Any,
    explain: bool,
    like: str,
    batch: str | None,
    out: str,
    paths: tuple[str, ...],
    json_output: bool,
) -> None:
    """Find code by the words that it and QUERY share, or with `--route semantic` by meaning; best first.

    Indexes the repository first when it never was, and updates the views when files changed.
    """
    if bool(query) + bool(like) + (batch is not None) != 1:
        what = "give one of a query, --like FILE:LINE and --batch FILE"
        raise InputError(what, hint="codenib search 'parse config file'")
    with opened(repository, quiet=json_output) as (workspace, progress):
        standing = standing_in(repository, workspace)

        def ask(text: str) -> Answer:
            globs = standing.globs(paths)
            asked = replace(request, query=text, level=level, paths=globs, tests=tests, explain=explain)
            if like:
                asked = replace(asked, like=place_here(standing, like, workspace, request.snapshot))
            return workspace.searcher.search(asked)

        if batch is not None:
            _run_batch(Path(batch), out, ask)
            return
        answer = ask(query)
        progress.close()
        if json_output:
            print_json(search_reply(answer))
        else:
            _print_answer(answer, level, standing)


@click.command()
@query_words
@limit_option(10, "results")
@planning
@shared(at_revision, no_refresh, as_json)
@click.pass_obj
def plan(repository: str, query: str, request: SearchRequest, json_output: bool) -> None:
    """Show how `search` would answer QUERY: its signals, the plan, why, and what it should cost."""
    started = time.perf_counter()
    with opened(repository, quiet=json_output) as (workspace, progress):
        explained = workspace.searcher.explain(replace(request, query=query))
        progress.close()
    if json_output:
        print_json(plan_reply(explained, time.perf_counter() - started))
        return
    chosen, signals = explained.plan, explained.signals
    click.echo(explained.words)
    for number, step in enumerate(explained.steps, 1):
        how = "measured here" if step.measured else "assumed"
        cost = click.style(f"about {step.expected_ms:g} ms, {how}", dim=True)
        click.echo(f"  {number}. {step.words}  {cost}")
    click.echo(
        click.style(f"  route {chosen.route.letter} ({chosen.route}), {chosen.k_retrieve} results", dim=True)
    )
    by = f", by {' and '.join(chosen.decided_by)}" if chosen.decided_by else ""
    click.echo(click.style(f"  model: {chosen.model or 'no model, the rules chose'}{by}", dim=True))
    for name in ("identifiers", "dotted", "paths", "frames", "quoted", "errors"):
        value = getattr(signals, name)
        if value:
            click.echo(click.style(f"  {name}: {', '.join(map(_signal, value[:6]))}", dim=True))


def _signal(value: Any) -> str:
    return value if isinstance(value, str) else f"{value.path}:{value.line} {value.function}".rstrip()


def _run_batch(rows: Path, out: str, ask: Any) -> None:
    """Answer each row; a bad row, or a place that is not there, stops the run before anything is asked."""
    if out != "-" and not Path(out).absolute().parent.is_dir():
        raise InputError(f"{out}: its folder is not there", hint="codenib search --batch FILE --out FILE")
    try:
        lines = rows.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"cannot read {rows}: {getattr(error, 'strerror', None) or error}", hint="codenib search --help"
        ) from error
    questions = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                row = msgspec.json.decode(line, type=_Row)
            except UNDECODABLE as error:
                raise InputError(f"{rows}:{number}: {error}", hint='{"id": …, "query": …}') from error
            if not row.query.strip():
                raise InputError(f"{rows}:{number}: the query is empty", hint='{"id": …, "query": …}')
            questions.append(row)
    with click.open_file(out, "w", encoding="utf-8", atomic=out != "-") as stream:
        for row in questions:
            stream.write(msgspec.json.encode(batch_reply(row.id, ask(row.query))).decode() + "\n")
    if out != "-":
        say(f"{len(questions)} answers in {out}")


class _Row(msgspec.Struct):
    id: str | int
    query: str


def _print_answer(answer: Answer, level: str, standing: Standing) -> None:
    if answer.refreshed:
        say(answer.refreshed)
    if answer.snapshot.stale:
        say("not refreshed: files may have changed since")
    for number, item in enumerate(answer):
        path = standing.from_here(item.path)
        place = click.style(f"{path}:{item.start_line}", fg="cyan", bold=True)
        name = f"  {click.style(item.symbol, bold=True)}" if item.symbol else ""
        marks = f" [{', '.join(item.marks)}]" if item.marks else ""
        why = f"  matched: {', '.join(item.matched)}" if item.matched else ""
        click.echo(f"{place}{name}  {click.style(f'{item.kind}{marks}  {item.score:.2f}{why}', dim=True)}")
        if answer.explained:
            click.echo(click.style(_reasons(answer.explained[number]), dim=True))
        if level == "unit":
            click.echo(excerpt(item.text, item))
            if item.further:
                click.echo(click.style(f"    + {item.further} more in {path}", dim=True))
            click.echo()
    if not answer.items:
        click.echo(_nothing(answer.coverage), err=True)
        if answer.note:
            say(answer.note)
        return
    took = "" if answer.refreshed else f" in {answer.seconds * 1000:.0f} ms"
    say(f"{len(answer.items)} of {answer.total:,} matching {level}s{took}")
    if answer.note:
        say(answer.note)


def _reasons(explained: Explanation) -> str:
    """The places of a result in each order, and the points of its words."""
    places = [f"{name} {place or 'not among the first'}" for name, place in explained.places.items()]
    words = [f"{word} {points:.1f}" for word, points in explained.words.items()]
    return f"    places: {', '.join(places)}; points: {', '.join(words) or 'none'}"


def _nothing(coverage: Coverage) -> str:
    """That there is no result, and which files may have one."""
    left_out = coverage.not_searched
    return f"nothing matches; not searched: {left_out}" if left_out else "nothing matches"


def excerpt(text: str, item: Evidence) -> str:
    """The unit's first line and the lines that say most of what matched."""
    from codenib.serving.context.excerpt import matching_lines

    lines = text.rstrip().split("\n")
    widest = width(_WIDEST) - _MARGIN
    chosen = matching_lines(lines, item.matched, _SHOWN_LINES)
    printed = numbered("\n".join(line[:widest] for line in lines), item.language, item.start_line)
    out: list[str] = []
    for above, number in zip([-1, *chosen], chosen, strict=False):
        if above >= 0 and number > above + 1:
            out.append(click.style("    ⋮", dim=True))
        out.append("  " + printed[number])
    return "\n".join(out)


@click.command()
@click.argument("pattern")
@click.option("-i", "--ignore-case", is_flag=True)
@click.option("-F", "--literal", is_flag=True, help="The pattern is plain text.")
@click.option("-U", "--multiline", is_flag=True, help="A match may span lines.")
@limit_option(100, "lines")
@click.option("--context", default=0, show_default=True, help="Lines before and after.")
@click.option("--timeout", "timeout_s", default=10.0, show_default=True, help="Seconds, then a part.")
@click.option("--backend", type=click.Choice(["trigram", "zoekt"]), default="trigram", show_default=True)
@shared(at_revision, path_globs, no_refresh, as_json)
@click.pass_obj
def regex(
    repository: str,
    pattern: str,
    ignore_case: bool,
    literal: bool,
    multiline: bool,
    k: int,
    context: int,
    timeout_s: float,
    backend: Any,
    at: str | None,
    paths: tuple[str, ...],
    no_refresh: bool,
    json_output: bool,
) -> None:
    """Find the lines that match PATTERN, in path order."""
    with opened(repository, quiet=json_output) as (workspace, progress):
        standing = standing_in(repository, workspace)
        request = RegexRequest(
            pattern, k=k or None, ignore_case=ignore_case, literal=literal, multiline=multiline,
            context=context, paths=standing.globs(paths), timeout_s=timeout_s, backend=backend,
            snapshot=asked_snapshot(at, no_refresh),
        )  # fmt: skip
        answer = workspace.searcher.regex(request)
        progress.close()
    if json_output:
        print_json(regex_reply(answer))
    else:
        _print_matches(answer, context, standing)


def _print_matches(answer: RegexAnswer, context: int, standing: Standing) -> None:
    if answer.refreshed:
        say(answer.refreshed)
    for match in answer:
        path = standing.from_here(match.path)
        for offset, line in enumerate(match.before, match.line - len(match.before)):
            click.echo(click.style(f"{path}-{offset}-{line}", dim=True))
        place = click.style(f"{path}:{match.line}:{match.column + 1}", fg="cyan")
        click.echo(f"{place}: {marked(match)}")
        for offset, line in enumerate(match.after, match.line + match.text.count("\n") + 1):
            click.echo(click.style(f"{path}-{offset}-{line}", dim=True))
        if context:
            click.echo("--")
    if not answer.items:
        click.echo(_nothing(answer.coverage), err=True)
    if answer.reason:
        say(answer.reason)
    if answer.items:
        say(
            f"{len(answer.items):,} of {answer.total:,} lines in {answer.files:,} files, "
            f"{answer.candidates:,} files read, {answer.seconds * 1000:.0f} ms"
        )


def marked(match: LineMatch) -> str:
    """A line with what matched in colour."""
    out, at = [], 0
    for start, end in match.spans:
        out += [match.text[at:start], click.style(match.text[start:end], fg="red", bold=True)]
        at = end
    return "".join([*out, match.text[at:]]).rstrip("\r")

"""`codenib journal`: whether agents' calls are recorded on this machine, what is, and how it is forgotten."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from datetime import UTC, datetime

import click
import msgspec

from codenib.adapters.cli.options import as_json, limit_option
from codenib.adapters.cli.output import print_json, say
from codenib.adapters.envelopes.envelope import utc, whole
from codenib.adapters.envelopes.journals import (
    ForgottenItem,
    JournalFile,
    journal_reply,
    journal_switched,
)
from codenib.core.errors import InputError
from codenib.learning.journal.consent import MAX_BYTES, MAX_DAYS, give_consent, withdraw_consent
from codenib.learning.journal.entries import CallEntry, JournalEntry
from codenib.learning.journal.feedback import AnswerOutcome, answer_outcomes
from codenib.learning.journal.review import (
    JournalState,
    forget_entries,
    forget_everything,
    journal_entries,
    journal_state,
)
from codenib.learning.journal.rows import JournalRows, journal_rows

_MEGA = 1024 * 1024
_AGO = re.compile(r"(\d+)([dh])")
_UNITS = {"d": 86_400, "h": 3600}
_PLACES = 5


class _Moment(click.ParamType[float]):
    """A date, a time in UTC, or how long ago: `2026-01-31`, `2026-01-31T12:00`, `7d`, `12h`."""

    name = "time"

    def convert(self, value: str | float, param: click.Parameter | None, ctx: click.Context | None) -> float:
        if isinstance(value, float):
            return value
        if ago := _AGO.fullmatch(value):
            return time.time() - int(ago[1]) * _UNITS[ago[2]]
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            raise InputError(f"{value!r} is no time", hint="2026-01-31, 2026-01-31T12:00 or 7d") from None
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


_since = click.option("--since", type=_Moment(), help="From this time on: 2026-01-31, or 7d for days ago.")
_until = click.option("--before", "until", type=_Moment(), help="Before this time.")

_tenant = click.option(
    "--tenant", default="", metavar="NAME", help="The journal of this tenant of `codenib serve` instead."
)


@click.group()
def journal() -> None:
    """Record on this machine what agents ask by MCP, and what they do with the answers. Off by default."""


@journal.command()
@click.option(
    "--max-mb", default=MAX_BYTES // _MEGA, show_default=True, type=click.IntRange(1), help="Its size."
)
@click.option(
    "--days", default=MAX_DAYS, show_default=True, type=click.IntRange(1), help="The age of its entries."
)
@click.option("--http", "over_http", is_flag=True, help="Also what is asked over `codenib serve`.")
@_tenant
@as_json
@click.pass_obj
def on(repository: str, max_mb: int, days: int, over_http: bool, tenant: str, json_output: bool) -> None:
    """Record from now on; older entries are dropped past the bounds.

    Nothing of it leaves this machine unless you export it. Secrets of known formats are masked. What
    tokens of a tenant ask is recorded only with --tenant, in a journal of its own.
    """
    started = time.perf_counter()
    give_consent(repository, max_bytes=max_mb * _MEGA, max_days=days, over_http=over_http, tenant=tenant)
    _print_state(repository, tenant, started, json_output)


@journal.command()
@_tenant
@as_json
@click.pass_obj
def off(repository: str, tenant: str, json_output: bool) -> None:
    """Record no more. What is recorded stays; `codenib journal forget` removes it."""
    started = time.perf_counter()
    withdraw_consent(repository, tenant=tenant)
    _print_state(repository, tenant, started, json_output)


@journal.command()
@limit_option(20, "of the latest entries")
@_since
@_until
@_tenant
@as_json
@click.pass_obj
def show(
    repository: str, k: int, since: float | None, until: float | None, tenant: str, json_output: bool
) -> None:
    """Show what is recorded: questions, the places given, which of them were read or edited later."""
    started = time.perf_counter()
    entries = journal_entries(repository, since=since, until=until, tenant=tenant)
    latest = entries[-k:] if k else entries
    first = latest[0].at if latest else 0.0
    outcomes = [each for each in answer_outcomes(entries) if each.call.at >= first]
    state = journal_state(repository, tenant=tenant)
    if json_output:
        seconds = time.perf_counter() - started
        print_json(journal_reply(state, latest, outcomes, total=len(entries), seconds=seconds))
        return
    _print_entries(latest, outcomes)
    if len(latest) < len(entries):
        say(f"{len(entries) - len(latest)} earlier entries: -k 0 for all")
    say(_describe(state))


@journal.command()
@_since
@_until
@click.option(
    "--rows", is_flag=True, help="Questions with the places that were used and their weights instead."
)
@click.option("--uncorrected", is_flag=True, help="With --rows: also with too few data to correct for rank.")
@click.option("--out", default="-", help="Where they go, a JSON object a line (default: here).")
@_tenant
@as_json
@click.pass_obj
def export(
    repository: str,
    since: float | None,
    until: float | None,
    rows: bool,
    uncorrected: bool,
    out: str,
    tenant: str,
    json_output: bool,
) -> None:
    """Write the entries as JSON Lines. This takes them out of the journal's care: look at them first."""
    started = time.perf_counter()
    values: Sequence[object] = ()
    if rows:
        found = journal_rows(repository, since=since, until=until, uncorrected=uncorrected, tenant=tenant)
        values = found.rows
        say(describe_rows(found))
    else:
        values = journal_entries(repository, since=since, until=until, tenant=tenant)
    with click.open_file(out, "w", encoding="utf-8", atomic=out != "-") as stream:
        for value in values:
            stream.write(msgspec.json.encode(value).decode() + "\n")
    if out != "-":
        if json_output:
            print_json(whole((JournalFile(out, len(values)),), "journal", time.perf_counter() - started))
        else:
            say(f"{len(values)} {'rows' if rows else 'entries'} in {out}")


@journal.command()
@_since
@_until
@click.option("--all", "everything", is_flag=True, help="Of every repository and tenant of this machine.")
@_tenant
@as_json
@click.pass_obj
def forget(
    repository: str,
    since: float | None,
    until: float | None,
    everything: bool,
    tenant: str,
    json_output: bool,
) -> None:
    """Remove entries for good: all of this repository, or those of a stretch of time."""
    started = time.perf_counter()
    state = None if everything else journal_state(repository, tenant=tenant)
    removed = (
        forget_everything(since=since, until=until)
        if state is None
        else forget_entries(repository, since=since, until=until, tenant=tenant)
    )
    where = state.repository if state else None
    if json_output:
        print_json(whole((ForgottenItem(where, removed),), "journal", time.perf_counter() - started))
    else:
        say(f"{removed} entries of {where or 'all repositories'} are gone")


def describe_rows(found: JournalRows) -> str:
    """How the weights of rows came about, or why there are none."""
    if found.examination is None:
        return found.reason
    ranks = ", ".join(
        f"up to rank {last} {each.value:.2f} ({each.low:.2f}–{each.high:.2f})"
        for last, each in found.examination.by_bucket.items()
    )
    more = f"; {found.left_out} uses at other ranks are left out" if found.left_out else ""
    return f"examined, relative to rank 1: {ranks}, from {found.examination.uses} uses{more}"


def _print_state(repository: str, tenant: str, started: float, json_output: bool) -> None:
    state = journal_state(repository, tenant=tenant)
    if json_output:
        print_json(journal_switched(state, time.perf_counter() - started))
        return
    click.echo(_describe(state))
    if state.consent is not None and state.consent.on:
        for line in state.consent.recorded:
            click.echo(f"  {line}")
        say("on this machine alone; `codenib journal off` ends it, `codenib journal forget` removes it")


def _describe(state: JournalState) -> str:
    given = state.consent
    size = f"{state.entries:,} entries, {state.size_bytes / _MEGA:.1f} MB"
    damaged = "; its file was damaged, earlier entries are lost" if state.damaged else ""
    if given is None:
        return f"the journal of {state.repository} is off: codenib journal on"
    whose = f" for tenant {given.tenant}" if given.tenant else ""
    day = f"{utc(int(given.at)):%Y-%m-%d %H:%M} UTC"
    bounds = f"at most {given.max_bytes // _MEGA} MB and {given.max_days} days"
    how = f"on since {day}, {bounds}" if given.on else f"off since {day}"
    return f"the journal of {state.repository}{whose} is {how}: {size}{damaged}"


def _print_entries(entries: Sequence[JournalEntry], outcomes: Sequence[AnswerOutcome]) -> None:
    ends = {(each.call.session, each.call.at): each for each in outcomes}
    session = ""
    for entry in entries:
        if entry.session != session:
            session = entry.session
            click.echo(click.style(f"session {session}", bold=True))
        moment = f"{utc(int(entry.at)):%Y-%m-%d %H:%M:%S}"
        if isinstance(entry, CallEntry):
            _print_call(entry, moment, ends.get((entry.session, entry.at)))
        elif not entry.complete:
            click.echo(f"{moment}  files changed; which is not known any more")
        else:
            names = ", ".join(entry.paths[:_PLACES])
            more = f" and {entry.total - _PLACES} more" if entry.total > _PLACES else ""
            click.echo(f"{moment}  edited: {names or 'no file (a commit)'}{more}")


def _print_call(entry: CallEntry, moment: str, outcome: AnswerOutcome | None) -> None:
    asked = " ".join(
        f"{name}={msgspec.json.encode(value).decode()}" for name, value in entry.arguments.items()
    )
    state = "failed" if entry.failed else f"{entry.tokens} tokens"
    route = f", {entry.plan.route}" if entry.plan.route else ""
    head = click.style(f"{entry.tool} {asked}", fg="green")
    click.echo(f"{moment}  {head}  {click.style(f'{state}{route}', dim=True)}")
    if outcome is None:
        return
    for rank, place in enumerate(entry.places, 1):
        later = [each for each in outcome.follow_ups if each.rank == rank]
        if rank > _PLACES and not later:
            continue
        words = ", ".join(f"{each.how} as number {each.order}" for each in later)
        mark = click.style(f"  ← {words}", fg="yellow") if words else ""
        click.echo(f"    {rank}. {place.path}:{place.line}-{place.end_line} {place.symbol}{mark}")

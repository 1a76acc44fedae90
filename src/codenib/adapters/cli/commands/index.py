"""The commands that keep the views: index, update, updates, status, verify, gc."""

from __future__ import annotations

import time
from collections.abc import Mapping

import click

from codenib.adapters.cli.explain import print_update
from codenib.adapters.cli.options import (
    EVERYTHING,
    as_json,
    at_revision,
    limit_option,
    shared,
    views_option,
)
from codenib.adapters.cli.output import human_size, opened, print_json, project
from codenib.adapters.envelopes.upkeep import (
    audit_reply,
    collect_reply,
    status_reply,
    update_reply,
    updates_reply,
    verify_reply,
)
from codenib.core.answers import Coverage
from codenib.core.errors import InputError, ProviderError, StateError
from codenib.core.updates import GraphUpdate, LearnedSummary, Outcome
from codenib.core.views import Status, ViewKind
from codenib.serving.choices import DEFAULT_VIEWS, DOCUMENT_SETS, FAMILIES, parse_views
from codenib.serving.configuration import default_views
from codenib.serving.installation import collect_garbage
from codenib.serving.snapshots.status import StatusReport, describe_refresh
from codenib.serving.workspace import Workspace


@click.command()
@click.option(
    "--rebuild",
    is_flag=True,
    help="Forget what is published and build anew; of graph, dense or history alone, the other views stay.",
)
@click.option("--embedder", metavar="SPEC", help="What embeds the dense view's documents (default: static).")
@click.option("--family", type=click.Choice(FAMILIES), help="How the dense view's vectors are organised.")
@click.option("--documents", type=click.Choice(DOCUMENT_SETS), help="What is embedded.")
@click.option(
    "--trust/--no-trust",
    default=None,
    help="Whether engines may run this repository's build scripts and macros from now on.",
)
@shared(views_option, at_revision, as_json)
@click.pass_obj
def index(
    repository: str,
    rebuild: bool,
    embedder: str | None,
    family: str | None,
    documents: str | None,
    trust: bool | None,
    views: str | None,
    at: str | None,
    json_output: bool,
) -> None:
    """Build the views of this repository, from the nearest snapshot that has them."""
    with opened(repository, quiet=json_output) as (workspace, progress):
        wanted = parse_views(views) if views else default_views(workspace.root)
        outcome = workspace.index(
            wanted, at=at, rebuild=rebuild, embedder=embedder, family=family, documents=documents, trust=trust
        )
        progress.close()
    _report(outcome, wanted, json_output, required=wanted)


@click.command("import-scip")
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@as_json
@click.pass_obj
def import_scip(repository: str, file: str, json_output: bool) -> None:
    """Take the facts of the files as they are now from a SCIP index FILE, and build the graph."""
    with opened(repository, quiet=json_output) as (workspace, progress):
        outcome = workspace.maintenance.import_scip(file)
        progress.close()
    graph = (ViewKind.GRAPH,)
    _report(outcome, graph, json_output, required=graph)


@click.command()
@click.option("--explain", is_flag=True, help="Say what the graph's update derived anew, and why.")
@as_json
@click.pass_obj
def update(repository: str, explain: bool, json_output: bool) -> None:
    """Bring the views of this worktree up to its files as they are now."""
    with opened(repository, quiet=json_output) as (workspace, progress):
        outcome = workspace.update()
        progress.close()
        done = workspace.maintenance.graph_update(outcome) if explain else None
    views = tuple(outcome.manifest.views)
    # A view that was asked for once and cannot be built here (zoekt is not installed) is no failed update.
    required = tuple(kind for kind in views if kind in DEFAULT_VIEWS)
    _report(outcome, views, json_output, done if explain else _UNASKED, required=required)


_UNASKED = GraphUpdate("", "")  # no explanation was asked for


def _report(
    outcome: Outcome,
    wanted: tuple[ViewKind, ...],
    json_output: bool,
    explained: GraphUpdate | None = _UNASKED,
    *,
    required: tuple[ViewKind, ...],
) -> None:
    """Print what was done with `wanted`; the exit code tells of a failure among `required`."""
    failed = [kind for kind in required if outcome.manifest.views[kind].status is Status.FAILED]
    if json_output:
        print_json(update_reply(outcome, None if explained is _UNASKED else explained))
    else:
        click.echo(describe_refresh(outcome) or "up to date")
        for kind in wanted:
            record = outcome.manifest.views[kind]
            if record.status is Status.FAILED:
                click.echo(f"  {kind}: {click.style('failed', fg='red')}: {record.error}")
            elif not outcome.nothing_to_do:
                counts = ", ".join(f"{count:,} {name}" for name, count in record.counts.items())
                size = human_size(record.size_bytes)
                click.echo(f"  {kind}: {counts}; {size}, {record.how} in {record.seconds:.2f} s")
                if record.error:
                    click.echo(f"    {click.style('without', fg='yellow')} {record.error}")
        if explained is not _UNASKED:
            print_update(explained)
    if failed:
        provider = all(
            outcome.manifest.views[kind].error.startswith(ProviderError.__name__) for kind in failed
        )
        raise click.exceptions.Exit(ProviderError.exit_code if provider else StateError.exit_code)


@click.command()
@as_json
@click.pass_obj
def status(repository: str, json_output: bool) -> None:
    """Show which views exist, for which snapshot, how fresh, how large and how long they took."""
    started = time.perf_counter()
    with Workspace(project(repository)) as workspace:
        report = workspace.status()
    if json_output:
        print_json(status_reply(report, time.perf_counter() - started))
    else:
        _print_status(report)


def _print_status(report: StatusReport) -> None:
    edits = " with uncommitted edits" if report.dirty else ""
    commit = report.commit[:12] if report.commit else "no commit"
    click.echo(f"{click.style(report.repository, bold=True)}  {report.root}")
    click.echo(f"  {report.kind} at {commit}{edits}, {report.files:,} files")
    if report.indexed_snapshot is None:
        click.echo("  not indexed: run `codenib index`")
    elif report.fresh:
        click.echo(f"  {click.style('fresh', fg='green')}: every view answers for the files as they are")
    elif report.indexed_snapshot == report.snapshot:
        click.echo(f"  {click.style('fresh', fg='green')}, but for views that are not: see below")
    else:
        click.echo(
            f"  {click.style('stale', fg='yellow')}: {report.added:,} added, {report.changed:,} changed, "
            f"{report.removed:,} removed since; the next query updates"
        )
    for kind, record in report.views.items():
        shown = {name: count for name, count in record.counts.items() if not name.startswith("skipped")}
        counts = ", ".join(f"{count:,} {name}" for name, count in shown.items())
        cost = f"{human_size(record.size_bytes)}; {record.how} in {record.seconds:.2f} s"
        failed = record.error if record.status is Status.FAILED else ""
        failed = "not built yet" if record.status is Status.STALE and not record.how else failed
        click.echo(f"  {kind:<8} {record.status:<6} {failed or f'{counts}; {cost}'}")
        if kind is ViewKind.DENSE and record.how:
            click.echo(f"  {'':<15} {_model(record.fields)}")
        elif kind is ViewKind.GRAPH:
            for line in _backends(record.fields, record.error if not failed else ""):
                click.echo(f"  {'':<15} {line}")
        if record.status is Status.STALE and record.how and report.snapshot == report.indexed_snapshot:
            click.echo(f"  {'':<15} not used, other tools or settings made it: codenib index --views {kind}")
    for each in report.learned:
        click.echo(f"  {_learned(each)}")
    if report.skipped:
        click.echo(f"  skipped: {Coverage(0, report.skipped).not_searched}")
    click.echo(
        f"  store: {human_size(report.size_bytes)} in {report.manifests} snapshots, "
        f"{human_size(report.shared_bytes)} of shared records; {report.store}"
    )


def _learned(summary: LearnedSummary) -> str:
    """What `codenib learn` made: where, from how much, what it gained, and whether answers use it."""
    if summary.error:
        return f"learned  failed {summary.error}; codenib learn"
    used = "used" if summary.applies else "unused"
    gains = f"files {100 * summary.file_gain:+.1f}, functions {100 * summary.unit_gain:+.1f} points"
    asked = f" and {summary.questions} questions" if summary.questions else ""
    return (
        f"learned  {used:<6} at {summary.commit[:10]} from {summary.rows} fixes{asked}; {gains} on its test; "
        f"{human_size(summary.size_bytes)}"
    )


def _backends(fields: Mapping[str, str], lacks: str) -> list[str]:
    """Who made the facts of each language group, and what a fresh graph is without."""
    named = [
        f"{name.removeprefix('backend:')}: {value}"
        for name, value in fields.items()
        if name.startswith("backend:") and name != "backend:syntactic"
    ]
    return [*named, *([f"without {lacks}"] if lacks else [])]


def _model(fields: Mapping[str, str]) -> str:
    """The identity of a dense view's embedder."""
    model, identity = fields.get("model") or "unknown", fields.get("identity") or "not opened"
    return f"{model} [{identity}] by {fields.get('embedder')}, {fields.get('family')}, {fields.get('level')}"


@click.command()
@limit_option(5, "updates")
@as_json
@click.pass_obj
def updates(repository: str, k: int, json_output: bool) -> None:
    """Show the snapshots that are published, the last used first, and what the graph's updates did."""
    started = time.perf_counter()
    with opened(repository, quiet=json_output) as (workspace, progress):
        every = workspace.maintenance.recent_updates(k or EVERYTHING)
        total = workspace.maintenance.published_count()
        progress.close()
    if json_output:
        print_json(updates_reply(every, total, time.perf_counter() - started))
        return
    for each in every:
        made = ", ".join(
            f"{kind} {record.how or record.status} in {record.seconds:.2f} s"
            for kind, record in each.manifest.views.items()
        )
        commit = (each.manifest.commit or "no commit")[:10]
        edits = " with edits" if each.manifest.dirty else ""
        click.echo(f"{click.style(each.manifest.snapshot[:10], fg='yellow')}  {commit}{edits}  {made}")
        if each.graph is not None:
            print_update(each.graph)


@click.command()
@click.option("--sample", type=click.IntRange(min=1), help="Compare only so many files of each language.")
@shared(views_option, at_revision, as_json)
@click.pass_obj
def verify(repository: str, views: str | None, at: str | None, sample: int | None, json_output: bool) -> None:
    """Rebuild from nothing beside the maintained views, and compare. Exit 3 when they differ."""
    if sample is not None:
        if at is not None or parse_views(views or "graph") != (ViewKind.GRAPH,):
            raise InputError("a sample is of the worktree's graph", hint="codenib verify --sample 24")
        _verify_sample(repository, sample, json_output)
        return
    started = time.perf_counter()
    with opened(repository, quiet=json_output) as (workspace, progress):
        found = workspace.verify(parse_views(views) if views else (), at=at)
        verified = workspace.maintenance.snapshot_of(at)
        progress.close()
    clean = not any(found.values())
    if json_output:
        print_json(verify_reply(found, verified, time.perf_counter() - started))
    for kind, differences in () if json_output else found.items():
        verdict = click.style("equal", fg="green") if not differences else click.style("differs", fg="red")
        click.echo(f"{kind}: {verdict}")
        for line in differences[:10]:
            click.echo(f"  {line}")
        if len(differences) > 10:
            click.echo(f"  … and {len(differences) - 10:,} more")
    if not clean:
        if not json_output:
            click.echo("  try: codenib index --rebuild", err=True)
        raise click.exceptions.Exit(3)


def _verify_sample(repository: str, sample: int, json_output: bool) -> None:
    with opened(repository, quiet=json_output) as (workspace, progress):
        report = workspace.maintenance.audit(sample=sample, repair=False)
        progress.close()
    if json_output:
        print_json(audit_reply(report))
    for group in () if json_output else report.groups:
        verdict = click.style("equal", fg="green") if not group.differing else click.style("differ", fg="red")
        wrong = f"{len(group.differing)} of " if group.differing else ""
        click.echo(f"graph, {group.group}: {wrong}{group.checked:,} files {verdict}")
        for path in group.differing[:10]:
            click.echo(f"  {path}: facts not equal")
    if not report.clean:
        if not json_output:
            click.echo("  try: codenib index --views graph --rebuild", err=True)
        raise click.exceptions.Exit(3)


@click.command()
@click.option(
    "--keep",
    default=4,
    show_default=True,
    type=click.IntRange(min=0),
    help="Snapshots to keep of each repository.",
)
@as_json
def gc(keep: int, json_output: bool) -> None:
    """Drop old snapshots, and the artifacts, records and blobs that no kept snapshot reaches."""
    started = time.perf_counter()
    report = collect_garbage(keep=keep)
    if json_output:
        print_json(collect_reply(report, time.perf_counter() - started))
        return
    click.echo(
        f"freed {human_size(report.freed_bytes)}: {report.artifacts} artifacts, {report.records:,} records, "
        f"{report.blobs:,} blobs, {report.repositories} repositories that are gone"
    )
    click.echo(f"{human_size(report.size_bytes)} left")

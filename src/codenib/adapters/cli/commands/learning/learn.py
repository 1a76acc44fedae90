"""`codenib learn`: rows of the repository's own fixes, what they teach, and whether that is better."""

from __future__ import annotations

import time

import click

from codenib.adapters.cli.options import as_json, at_revision, shared
from codenib.adapters.cli.output import opened, print_json
from codenib.adapters.envelopes.learning import learn_reply
from codenib.core.errors import InputError
from codenib.learning.evaluate import Gain
from codenib.learning.journal.rows import journal_rows
from codenib.learning.learn import LearnReport
from codenib.learning.learn import learn as learn_from_history


@click.command()
@click.option("--dry-run", is_flag=True, help="Measure, and store nothing.")
@click.option("--journal", is_flag=True, help="Learn from this repository's journal too.")
@click.option("--forget", is_flag=True, help="Forget all that was learnt of this repository.")
@shared(at_revision, as_json)
@click.pass_obj
def learn(
    repository: str, dry_run: bool, journal: bool, forget: bool, at: str | None, json_output: bool
) -> None:
    """Learn from this repository's own fixes how to order answers to issues.

    What is learnt is tried on the latest fixes, which it did not see, and used only if it is better there.
    Nothing leaves this machine.
    """
    if forget and (dry_run or at or journal):
        raise InputError("--forget goes alone", hint="codenib learn --forget")
    with opened(repository, quiet=json_output) as (workspace, progress):
        if forget:
            started = time.perf_counter()
            gone = workspace.maintenance.forget_learned()
            report = _forgotten(gone, time.perf_counter() - started)
        else:
            rows = journal_rows(repository) if journal else None
            gone = 0
            report = learn_from_history(workspace, at=at, dry_run=dry_run, journal=rows, progress=progress)
        progress.close()
    if json_output:
        print_json(learn_reply(report, gone))
    else:
        _print(report)


def _forgotten(gone: int, seconds: float) -> LearnReport:
    verdict = f"forgot {gone} files of what was learnt" if gone else "nothing was learnt here"
    return LearnReport(
        commit="", fixes=0, fit_rows=0, test_rows=0, tested_at="", shipped=None, components=(),
        verdict=verdict, artifact="", seconds=seconds,
    )  # fmt: skip


def _print(report: LearnReport) -> None:
    if report.commit:
        click.echo(f"{report.fixes:,} commits that changed source, up to {report.commit[:10]}")
    if report.questions:
        click.echo(f"{report.questions:,} questions of the journal, {report.question_rows} to learn from")
    if report.journal:
        click.echo(f"journal: {report.journal}")
    if report.unknown:
        click.echo(f"not known: {report.unknown}")
    if report.components and report.shipped:
        files, functions = report.shipped
        click.echo(
            f"  {report.fit_rows} questions to learn from, the latest {report.test_rows} to test, "
            f"over the files of {report.tested_at[:10]}"
        )
        click.echo(
            f"  shipped order on the test: files {files:.1%}, functions {functions:.1%} in the first ten"
        )
        click.echo(f"  it is unsure of {report.unsure_rows} of these questions: only they can change")
        click.echo(f"  {'gain in points (95 %)':<24} {'files':>22} {'functions':>22} {'mean of both':>22}")
        for each in report.components:
            mark, gains = "*" if each.is_chosen else " ", each.comparison
            told = (f"{_gain(gain):>22}" for gain in (gains.files, gains.functions, gains.both))
            click.echo(f"{mark} {each.name:<24} {' '.join(told)}")
        click.echo("* chosen on earlier fixes, before the test was looked at")
        over = next(each.over_shuffled for each in report.components if each.is_chosen)
        click.echo(f"  over itself with the messages of the past shuffled: {_gain(over)}")
    color = "green" if report.artifact else "yellow"
    click.echo(f"{click.style(report.verdict, fg=color)} ({report.seconds:.0f} s)")
    if report.artifact:
        click.echo(f"  {report.artifact}; codenib search --no-learned goes without, learn --forget undoes it")
    if report.earlier:
        click.echo(f"  what was learnt at {report.earlier[:10]} is still used; learn --forget undoes it")


def _gain(gain: Gain) -> str:
    return f"{100 * gain.mean:+.1f} ({100 * gain.low:+.1f} to {100 * gain.high:+.1f})"

"""`codenib flywheel`: repositories, rounds and a model in, a run folder with policies and report out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import click

from codenib.adapters.cli.options import as_json
from codenib.core.errors import InputError
from codenib.evals.data.rows import digest_of
from codenib.evals.flywheel.collect import DECISIONS, Actions, Collector
from codenib.evals.flywheel.loop import run_rounds
from codenib.evals.flywheel.offline import OfflineLearner
from codenib.evals.flywheel.offline_report import offline_table, report_offline
from codenib.evals.flywheel.recorded import MEASURES, Measure, RecordedRuns, read_recorded
from codenib.evals.flywheel.report import make_report
from codenib.evals.flywheel.rows import RowSource, split_rows
from codenib.evals.options import StudyOptions
from codenib.evals.preparation import prepare
from codenib.evals.reports.report import table
from codenib.evals.runs import Record, StudyRun
from codenib.evals.studies.context.agent import SIMULATED, simulated_agent
from codenib.learning.policies.fit import PRICE
from codenib.planner.model import ModelKind
from codenib.planner.plan import router_actions
from codenib.runtime.providers.choose import open_model

_PATH = click.Path(path_type=Path)


@dataclass(frozen=True, slots=True)
class FlywheelSettings:
    """What decides a run, apart from where it is written."""

    rounds: int
    per_repo: int
    provider: str
    base_url: str | None
    decisions: tuple[str, ...]
    reranker: str | None
    price: float
    replay_repos: tuple[str, ...]


@click.command("flywheel")
@click.option(
    "--repos", default="", help="Repositories, separated by commas: paths, URLs or names below --mirror."
)
@click.option(
    "--traces",
    multiple=True,
    metavar="GLOB",
    help="Learn from these recorded runs instead (`codenib agent --explore SHARE --trace FILE`).",
)
@click.option("--outcomes", metavar="FILE", help="With --traces: how good runs were, a JSON object a line.")
@click.option(
    "--measure", type=click.Choice(MEASURES), help="With --traces: judge by this (default: what most have)."
)
@click.option("--rounds", type=click.IntRange(1, 50), default=3, show_default=True, help="How many rounds.")
@click.option(
    "--out",
    type=_PATH,
    default=Path("flywheel"),
    show_default=True,
    help="The run folder; continued when it is there.",
)
@click.option(
    "--provider",
    default=SIMULATED,
    show_default=True,
    help="The agent's model (`openai:NAME` …); simulated: a script.",
)
@click.option("--base-url", help="An OpenAI-compatible endpoint for the model.")
@click.option("--rows", type=_PATH, help="Rows to ask (JSON Lines); without it each repository's own fixes.")
@click.option("--mirror", type=_PATH, help="A folder of clones: OWNER+NAME/repo, or NAME.")
@click.option(
    "--replay-repos", default="", help="Repositories that are only replayed; else the latest rows of each."
)
@click.option(
    "--per-repo", type=click.IntRange(2), default=40, show_default=True, help="Rows of a repository at most."
)
@click.option(
    "--decision", "decisions", multiple=True, type=click.Choice(list(DECISIONS)), help="Only this one."
)
@click.option(
    "--rerank", "reranker", help="A reranker: the router also chooses whether it reads 10, 30 or no places."
)
@click.option(
    "--price",
    type=click.FloatRange(0, 1),
    default=PRICE,
    show_default=True,
    help="Recall that the rules' whole cost is worth.",
)
@click.option("--home", type=_PATH, help="Where views are built (default: in the run folder).")
@click.option("--seed", default=1, show_default=True, help="Of exploration and bootstrap draws.")
@as_json
def command(
    repos: str,
    out: Path,
    rows: Path | None,
    mirror: Path | None,
    home: Path | None,
    seed: int,
    json_output: bool,
    traces: tuple[str, ...],
    outcomes: str | None,
    measure: Measure | None,
    **given: Any,
) -> None:
    """Learn policies from runs on repositories of yours, and measure them before they are used.

    \b
    codenib flywheel --repos . --rounds 3 --out runs/flywheel
    codenib flywheel --repos OWNER/A,OWNER/B --mirror CLONES --provider openai:NAME --base-url URL
    codenib flywheel --traces 'runs/*.jsonl' --outcomes outcomes.jsonl --repos .

    A killed run continues when it is given again. Nothing is activated: `codenib policy use` does that.
    """
    given["replay_repos"] = _names(given["replay_repos"], mirror)
    settings = FlywheelSettings(**given)
    common = StudyOptions(
        rows=rows, mirror=mirror, out=out, home=home, repos=_names(repos, mirror), limit=None,
        per_repo=settings.per_repo, seed=seed, partial=False, json_output=json_output,
    )  # fmt: skip
    if traces:
        if outcomes is None:
            raise InputError("what runs were worth is not in their traces", hint="--outcomes FILE")
        _run_recorded(common, settings, read_recorded(traces, outcomes, measure))
        return
    if outcomes or measure:
        raise InputError("--outcomes and --measure belong to --traces", hint="--traces 'runs/*.jsonl'")
    if not common.repos:
        raise InputError("nothing to run on", hint="--repos . or --traces 'runs/*.jsonl'")
    _run(common, settings)


def _run(common: StudyOptions, settings: FlywheelSettings) -> None:
    source = RowSource(common.clones, common.repos, settings.per_repo, common.rows, settings.replay_repos)
    common.note("collecting rows")
    rows = source.read()
    split = split_rows(rows, settings.rounds, settings.replay_repos)
    kinds = cast(tuple[ModelKind, ...], settings.decisions or tuple(DECISIONS))
    reads = settings.reranker not in (None, "none")
    every: Actions = {**DECISIONS, "router": router_actions(reads=reads)}
    pinned = common.settings(
        rows=digest_of(rows), rounds=settings.rounds, provider=settings.provider, decisions=list(kinds),
        price=settings.price, replay_repos=list(settings.replay_repos),
        **({"reranker": settings.reranker} if reads else {}),
    )  # fmt: skip
    run = StudyRun(common.out, "flywheel", pinned, prepare(common, rows).missing)
    run.use_state(common.home)
    simulated = settings.provider == SIMULATED and "context" in kinds
    agent = (
        simulated_agent()
        if settings.provider == SIMULATED
        else open_model(settings.provider, base_url=settings.base_url)
    )
    collector = Collector(
        run, common.clones, agent, common.seed, decisions={kind: every[kind] for kind in kinds},
        note=common.note, reranker=settings.reranker if reads else None,
    )  # fmt: skip
    results = run_rounds(collector, split, price=settings.price, simulated=simulated)
    if not results:
        raise InputError("no row of the replay could be run", hint=f"{run.folder}/records.jsonl says why")
    report, summary = make_report(results, split, run.folder / "figures", simulated=simulated)
    failed = [each for each in run.records("decision") if "error" in each]
    if failed:
        report.left_out.append(f"{len(failed)} decisions failed; the first: {failed[0]['error']}")
    summary["failed"] = len(failed)
    common.finish(run, summary, report, _shown(summary))


def _run_recorded(common: StudyOptions, settings: FlywheelSettings, recorded: RecordedRuns) -> None:
    """Learn from runs that others made; where no decision says anything, that is an error."""
    kinds = cast(tuple[ModelKind, ...], settings.decisions or tuple(DECISIONS))
    decisions: Actions = {kind: DECISIONS[kind] for kind in kinds}
    pinned = common.settings(
        runs=recorded.digest, measure=recorded.measure, decisions=list(kinds), price=settings.price
    )
    run = StudyRun(common.out, "flywheel", pinned, prepare(common, figures=False).missing)
    run.use_state(common.home)
    searches: Actions = {"router": DECISIONS["router"]}  # what is replayed asks no model
    collector = Collector(run, common.clones, simulated_agent(), common.seed, searches, note=common.note)
    results = OfflineLearner(recorded, collector, common.repos, settings.price).learn(decisions)
    if all(each.refused for each in results):
        raise InputError(
            "; ".join(f"{each.kind}: {each.refused}" for each in results),
            hint="codenib agent --explore 0.3 --trace FILE records decisions by chance",
        )
    report, summary = report_offline(results, recorded)
    common.finish(run, summary, report, offline_table(results))


def _names(given: str, mirror: Path | None) -> tuple[str, ...]:
    """Names as they were given; folders become whole paths, beside a mirror those that look like paths."""

    def named(name: str) -> str:
        place = Path(name).expanduser()
        is_place = name.startswith((".", "/", "~")) or (mirror is None and place.is_dir())
        return str(place.resolve()) if is_place else name

    return tuple(named(name.strip()) for name in given.split(",") if name.strip())


def _shown(summary: Record) -> str:
    lines = [
        [
            each["decision"],
            f"round {each['round']}" if each["round"] else "rules",
            f"{each['reward']['value']:.3f}",
            f"{each['gain']['value']:+.3f}",
            f"{each['cost_ratio']['value']:.2f}",
            "–" if not each["round"] else "yes" if each["wins"] else "no",
        ]
        for each in summary["rounds"]
    ]
    return table(["decision", "", "recall", "gain", "cost / rules", "wins"], lines)

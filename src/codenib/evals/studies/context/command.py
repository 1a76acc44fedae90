"""`codenib eval context`: rows, policies and models in, a run folder out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import groupby, product

import click

from codenib.compiler.compiler import IndexCompiler
from codenib.core.errors import CodenibError, InputError
from codenib.core.views import ViewKind
from codenib.evals.data.rows import LocalizeRow, chosen_rows, digest_of, read_rows
from codenib.evals.metrics.scoring import SourceBlock, answer_recall
from codenib.evals.options import StudyOptions, study_options
from codenib.evals.preparation import prepare
from codenib.evals.reports.report import table
from codenib.evals.runs import Record, StudyRun
from codenib.evals.studies.context.agent import SIMULATED, simulated_agent
from codenib.evals.studies.context.report import CUTS, Trajectories, make_report
from codenib.manifest.store import Store
from codenib.runtime.context.policies import POLICIES
from codenib.runtime.providers.choose import open_model
from codenib.runtime.providers.provider import Provider
from codenib.runtime.query import query
from codenib.runtime.runner import RunSettings
from codenib.runtime.views import Contexts, load_views
from codenib.snapshot.repository import locate

VIEWS = (ViewKind.LEXICAL, ViewKind.TRIGRAM, ViewKind.DENSE)


@dataclass(frozen=True, slots=True)
class Combinations:
    """Every model with every policy; `route` ranks the candidates of all."""

    providers: Mapping[str, Provider]
    policies: Sequence[str]
    route: str

    def pairs(self) -> Iterator[tuple[str, str]]:
        """Each model's name with each policy's."""
        return product(self.providers, self.policies)


@click.command("context")
@study_options()
@click.option(
    "--model", "models", multiple=True, help="A model, as for `codenib agent` (default: simulated)."
)
@click.option("--policy", "policies", multiple=True, type=click.Choice(POLICIES), help="Only these policies.")
@click.option("--route", default="hybrid", show_default=True, help="Of the candidates.")
def command(common: StudyOptions, models: tuple[str, ...], policies: tuple[str, ...], route: str) -> None:
    """Context policies: trajectory tokens against AnswerRecall@5 (Q5)."""
    assert common.rows is not None
    every = chosen_rows(
        read_rows(common.rows, LocalizeRow), repos=common.repos, limit=common.limit, per_repo=common.per_repo
    )
    rows = [row for row in every if row.gold_blocks]
    if not rows:
        raise InputError("no row has target functions", hint="--rows with gold_blocks")
    names, arms = models or (SIMULATED,), policies or POLICIES
    settings = common.settings(rows=digest_of(rows), models=list(names), policies=list(arms), route=route)
    run = StudyRun(common.out, "context", settings, prepare(common, rows).missing)
    run.use_state(common.home)
    providers: dict[str, Provider] = {
        name: simulated_agent() if name == SIMULATED else open_model(name) for name in names
    }
    combinations = Combinations(providers, arms, route)
    ordered = sorted(rows, key=lambda row: (row.cluster, row.base_commit, row.id))
    for _, found in groupby(ordered, key=lambda row: row.cluster):
        _repository(common, run, list(found), combinations)
    records = [each for each in run.records("trajectory") if "error" not in each]
    failed = [each for each in run.records("trajectory") if "error" in each]
    left_out = [f"{len(every) - len(rows)} rows without target functions."] if len(every) > len(rows) else []
    left_out += [f"{each['key']}: {each['error']}" for each in failed]
    trajectories = Trajectories(
        rows=rows,
        records=records,
        models=names,
        policies=arms,
        seed=common.seed,
        figures=common.out / "figures",
    )
    report, summary = make_report(trajectories, left_out)
    shown = [[name, *cells] for name, cells in summary["table"].items()]
    heads = ["model, policy", "mean tokens", "AnswerRecall@5", "tokens / grep_read", "ΔAR@5"]
    common.finish(run, summary, report, table(heads, shown))


def _repository(
    common: StudyOptions, run: StudyRun, rows: Sequence[LocalizeRow], combinations: Combinations
) -> None:
    """All trajectories of one repository; each commit's views are opened once."""
    if all(_key(row, *pair) in run for row in rows for pair in combinations.pairs()):
        return
    try:
        clone = common.clones.find(rows[0].repo)
    except InputError as error:
        for row in rows:
            _fail(run, row, combinations, error.message)
        return
    repository = locate(clone)
    compiler = IndexCompiler(repository, Store(repository.key))
    with closing(compiler.dense):
        for commit, here in groupby(rows, key=lambda row: row.base_commit):
            found = list(here)
            try:
                manifest = compiler.ensure(compiler.take(commit), VIEWS, head=True).manifest
                with load_views(manifest, VIEWS, repository=clone) as contexts:
                    for row in found:
                        _trajectories(run, row, contexts, combinations)
            except CodenibError as error:
                for row in found:
                    _fail(run, row, combinations, error.message)
    common.note(f"{rows[0].cluster}: {len(rows)} rows")


def _trajectories(run: StudyRun, row: LocalizeRow, contexts: Contexts, combinations: Combinations) -> None:
    for model, policy in combinations.pairs():
        key = _key(row, model, policy)
        if key in run:
            continue
        about = {
            "row": row.id, "repo": row.cluster, "language": row.language, "row_kind": row.kind,
            "model": model, "policy": policy, "simulated": model == SIMULATED,
        }  # fmt: skip
        provider, route = combinations.providers[model], combinations.route
        try:
            run.add("trajectory", key, {**about, **_trajectory(row, contexts, provider, policy, route)})
        except CodenibError as error:
            run.add("trajectory", key, {**about, "error": error.message})


def _trajectory(row: LocalizeRow, contexts: Contexts, provider: Provider, policy: str, route: str) -> Record:
    # Only the ordinary tools, as in the paper: skills would be another delivery.
    result = query(
        row.query, contexts=contexts, provider=provider, policy=policy, skills=(),
        settings=RunSettings(candidate_route=route),
    )  # fmt: skip
    spans = [SourceBlock(span.path, span.start_line, span.end_line) for span in result.located.spans]
    usage = result.usage
    return {
        "tokens": usage.total,
        "prompt_tokens": usage.prompt,
        "completion_tokens": usage.completion,
        "invocations": usage.invocations,
        "answer_format": usage.answer_format,
        "unreported": usage.unreported,
        "turns": result.turns,
        "stop": result.stop,
        "spans": [[span.path, span.start_line, span.end_line] for span in spans],
        **{f"answer_recall@{k}": answer_recall(spans, row.targets, k) for k in CUTS},
    }


def _key(row: LocalizeRow, model: str, policy: str) -> str:
    return f"{row.id}|{model}|{policy}"


def _fail(run: StudyRun, row: LocalizeRow, combinations: Combinations, why: str) -> None:
    for model, policy in combinations.pairs():
        if _key(row, model, policy) not in run:
            about = {"row": row.id, "repo": row.cluster, "model": model, "policy": policy, "error": why}
            run.add("trajectory", _key(row, model, policy), about)

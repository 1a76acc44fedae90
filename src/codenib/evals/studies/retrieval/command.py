"""`codenib eval retrieval`: rows, clones and arms in, a run folder out."""

from __future__ import annotations

import click

from codenib.evals.data.rows import LocalizeRow, chosen_rows, digest_of, read_rows
from codenib.evals.options import StudyOptions, study_options
from codenib.evals.preparation import prepare
from codenib.evals.reports.report import table
from codenib.evals.runs import StudyRun
from codenib.evals.studies.retrieval.arms import arms_for
from codenib.evals.studies.retrieval.fusion import tune
from codenib.evals.studies.retrieval.measure import measure
from codenib.evals.studies.retrieval.report import add_fusion, make_report, summarize
from codenib.evals.studies.retrieval.score import Scored, score_run


@click.command("retrieval")
@study_options()
@click.option("--arm", "names", multiple=True, help="Only these arms; may be repeated.")
@click.option("--embedder", "embedders", multiple=True, help="Another embedder, with arms of its own.")
@click.option("--reranker", "rerankers", multiple=True, help="A reranker, at 30, 50 and 100 candidates.")
@click.option("--graph", is_flag=True, help="Graph fusion too; language engines run at every commit.")
def command(
    common: StudyOptions,
    names: tuple[str, ...],
    embedders: tuple[str, ...],
    rerankers: tuple[str, ...],
    graph: bool,
) -> None:
    """What ranked search finds: File and Symbol Recall, latency, build time (Q1)."""
    assert common.rows is not None
    rows = chosen_rows(
        read_rows(common.rows, LocalizeRow), repos=common.repos, limit=common.limit, per_repo=common.per_repo
    )
    arms = arms_for(names, embedders, rerankers)
    prepared = prepare(common, rows, graph=graph)
    more = {"engines": prepared.engines} if graph else {}
    settings = common.settings(rows=digest_of(rows), arms=[arm.name for arm in arms], graph=graph, **more)
    run = StudyRun(common.out, "retrieval", settings, prepared.missing)
    run.use_state(common.home)
    measure(run, rows, arms, common.clones, common.note, graph=graph)
    scored, errors = score_run(rows, run.records("answer"))
    scored = {arm.name: scored[arm.name] for arm in arms if arm.name in scored}
    builds = list(run.records("build"))
    unstable = sum(not record.get("stable", True) for record in run.records("answer"))
    left_out = [f"Arm `{name}`, {reason}" for name, reason in errors.items()]
    if unstable:
        left_out.append(f"{unstable} answers were not the same when asked again.")
    costs = list(run.records("cost"))
    figures = common.out / "figures"
    report = make_report(rows, scored, builds, arms, left_out=left_out, seed=common.seed, figures=figures)
    wall_s, used_s = (sum(each[name] for each in costs) for name in ("wall_s", "cpu_s"))
    report.certainty.append(
        f"The measurements took {wall_s / 60:.1f} minutes of wall time and {used_s / 60:.1f} of "
        "processor time "
        "(parsing, building, asking)."
    )
    fusion = tune(rows, list(run.records("graph")), common.seed) if graph else None
    if graph:
        add_fusion(report, fusion, [each for each in run.records("graph") if "error" in each])
    else:
        report.left_out.append("Graph fusion: ask for it with --graph.")
    summary = {
        "rows": len(rows),
        "graph_weight": fusion.weight if fusion else None,
        "graph_effect": fusion.effect.rounded() if fusion and fusion.effect else None,
        "wall_s": round(wall_s, 1),
        "cpu_s": round(used_s, 1),
        "arms": summarize(scored, builds, arms, common.seed),
        "not_run": {},  # every arm of the table can run; readers of older summaries expect the key
        "errors": errors,
        "unstable": unstable,
    }
    common.finish(run, summary, report, _shown(scored))


def _shown(scored: dict[str, Scored]) -> str:
    names = ("file_recall@10", "file_success@10", "symbol_recall@10")
    lines = [
        [
            arm,
            *(f"{value:.3f}" if (value := each.mean(name)) is not None else None for name in names),
            f"{1000 * each.median_s():.1f} ms",
        ]
        for arm, each in scored.items()
    ]
    return table(["arm", "File Recall@10", "File Success@10", "Symbol Recall@10", "median query"], lines)

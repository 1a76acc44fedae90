"""`codenib eval questions`: semble's public benchmark and clones in, NDCG@10 by category and language out."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import click

from codenib.core.answers import Answer
from codenib.core.errors import CodenibError
from codenib.evals.data.clones import Clones
from codenib.evals.data.questions import HALVES, BenchmarkRepository, Question, read_benchmark
from codenib.evals.metrics.bootstrap import clustered_mean
from codenib.evals.metrics.gain import ndcg
from codenib.evals.options import StudyOptions, study_options
from codenib.evals.reports.report import Report
from codenib.evals.runs import Record, StudyRun
from codenib.evals.studies.retrieval.arms import Arm, arms_for
from codenib.serving.workspace import Workspace

_K = 10
_ARMS = ("balanced", "lexical", "balanced-files")
Note = Callable[[str], None]


@click.command("questions")
@study_options(rows=False)
@click.option(
    "--benchmark", type=click.Path(path_type=Path), required=True, help="A git clone of semble, bare or not."
)
@click.option(
    "--half",
    type=click.Choice([*HALVES, "all"]),
    default="report",
    show_default=True,
    help="Constants are chosen on the one half of the repositories, results reported on the other.",
)
@click.option("--arm", "names", multiple=True, help="Only these arms; may be repeated.")
def command(common: StudyOptions, benchmark: Path, half: str, names: tuple[str, ...]) -> None:
    """What short questions find: NDCG@10 on semble's public benchmark."""
    arms = arms_for(names or _ARMS, (), ())
    chosen = {
        repository: questions[: common.per_repo]
        for repository, questions in read_benchmark(benchmark).items()
        if half in ("all", repository.half)
        and (not common.repos or any(name in repository.repo for name in common.repos))
    }
    settings = common.settings(half=half, arms=[arm.name for arm in arms])
    run = StudyRun(common.out, "questions", settings)
    run.use_state(common.home)
    left_out = _measure(run, chosen, arms, common.clones, common.note)
    if left_out:
        run.missing.append(f"{len(left_out)} of {len(chosen)} repositories were left out")
    records = list(run.records("answer"))
    report = _report(records, left_out, half, common.seed)
    summary = {
        "half": half,
        "questions": len(records),
        "table": _table(records, common.seed),
        "left_out": left_out,
    }
    common.finish(run, summary, report, report.results[-1] if report.results else "no answers")


def _measure(
    run: StudyRun,
    chosen: Mapping[BenchmarkRepository, Sequence[Question]],
    arms: Sequence[Arm],
    clones: Clones,
    note: Note,
) -> list[str]:
    """Add the records that the run does not have yet; why repositories were left out."""
    left_out = []
    for number, (repository, questions) in enumerate(chosen.items(), 1):
        todo = [
            (question, arm)
            for question in questions
            for arm in arms
            if _key(repository, question, arm) not in run
        ]
        if not todo:
            continue
        if not clones.has(repository.repo, repository.revision):
            left_out.append(f"{repository.repo}: no clone has {repository.revision[:12]}")
            continue
        started = time.perf_counter()
        try:
            with Workspace(clones.find(repository.repo)) as workspace:
                views = dict.fromkeys(view for arm in arms for view in arm.views)
                workspace.index(tuple(views), at=repository.revision)
                for question, arm in todo:
                    answer = _asked(workspace, repository, question, arm)
                    run.add(
                        "answer", _key(repository, question, arm), _record(repository, question, arm, answer)
                    )
        except CodenibError as error:
            left_out.append(f"{repository.repo}: {error.message}")
        note(f"{number}/{len(chosen)} {repository.repo}: {time.perf_counter() - started:.0f} s")
    return left_out


def _asked(
    workspace: Workspace, repository: BenchmarkRepository, question: Question, arm: Arm
) -> tuple[Answer, float]:
    started = time.perf_counter()
    answer = arm.ask(workspace, question.query, _K, at=repository.revision, paths=repository.paths)
    return answer, time.perf_counter() - started


def _key(repository: BenchmarkRepository, question: Question, arm: Arm) -> str:
    return f"{repository.name}|{question.query}|{arm.name}"


def _record(
    repository: BenchmarkRepository, question: Question, arm: Arm, asked: tuple[Answer, float]
) -> Mapping[str, object]:
    answer, seconds = asked
    spans = [(item.path, item.start_line, item.end_line) for item in answer.items]
    places = [
        next((place for place, span in enumerate(spans, 1) if target.covers(*span)), None)
        for target in question.targets
    ]
    return {
        "arm": arm.name,
        "repo": repository.repo,
        "language": repository.language,
        "category": question.category,
        "query": question.query,
        "ndcg": round(ndcg(places, _K), 6),
        "places": places,
        "answers": spans,
        "seconds": round(seconds, 6),
    }


def _table(records: Sequence[Record], seed: int) -> dict[str, dict[str, object]]:
    """By arm: the estimate of all questions, of each category and of each language."""
    found: dict[str, dict[str, object]] = {}
    for arm in dict.fromkeys(record["arm"] for record in records):
        mine = [record for record in records if record["arm"] == arm]
        groups = {"all": mine}
        for field in ("category", "language"):
            for value in sorted({record[field] for record in mine}):
                groups[f"{field}: {value}"] = [record for record in mine if record[field] == value]
        found[arm] = {
            name: clustered_mean(
                [record["ndcg"] for record in group], [record["repo"] for record in group], seed=seed
            ).rounded()
            for name, group in groups.items()
        }
    return found


def _report(records: Sequence[Record], left_out: Sequence[str], half: str, seed: int) -> Report:
    repositories = {record["repo"] for record in records}
    report = Report(
        "Questions",
        f"NDCG@{_K} of short questions with known files, on semble's public benchmark.",
        f"{len({(each['repo'], each['query']) for each in records})} questions on {len(repositories)} "
        f"repositories, half `{half}`: constants may be chosen on `choose`, results are for `report`.",
        left_out=list(left_out),
    )
    report.certainty.append("95% intervals by bootstrap over whole repositories.")
    estimates = _table(records, seed)
    names = list(dict.fromkeys(name for each in estimates.values() for name in each))
    rows = [[name, *(_shown(each.get(name)) for each in estimates.values())] for name in names]
    if rows:
        report.table(["", *estimates], rows)
    return report


def _shown(estimate: object) -> str | None:
    if not isinstance(estimate, dict):
        return None
    return f"{estimate['value']:.3f} [{estimate['low']:.3f}, {estimate['high']:.3f}] ({estimate['n']})"

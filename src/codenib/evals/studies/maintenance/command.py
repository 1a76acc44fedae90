"""`codenib eval maintenance`: transitions and clones in, a run folder out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from statistics import median, quantiles

import click

from codenib.core.errors import InputError
from codenib.core.views import ViewKind
from codenib.evals.data.rows import Transition, chosen_rows, digest_of, read_rows
from codenib.evals.metrics.scoring import update_speedup
from codenib.evals.options import StudyOptions, study_options
from codenib.evals.preparation import prepare
from codenib.evals.reports.drawing import canvas, optional_figure, plain_ticks, strip
from codenib.evals.reports.report import Report, seconds, table
from codenib.evals.runs import Record, StudyRun
from codenib.evals.studies.maintenance.measure import Chain, walk
from codenib.views.graph.maintenance.group_edit import RepairLevel

_SHARE = 5  # updates that share the start of an engine, as in the paper
_TEXT_VIEWS = (ViewKind.LEXICAL, ViewKind.TRIGRAM, ViewKind.DENSE)


@click.command("maintenance")
@study_options()
@click.option("--graph", is_flag=True, help="The graph too; its rebuilds run language engines each time.")
@click.option("--arms", is_flag=True, help="The graph by replacing whole files too, beside symbol repair.")
def command(common: StudyOptions, graph: bool, arms: bool) -> None:
    """Updates against rebuilds over commit transitions: exactness and speed-ups (Q4)."""
    assert common.rows is not None
    rows = chosen_rows(
        read_rows(common.rows, Transition), repos=common.repos, limit=common.limit, per_repo=common.per_repo
    )
    views = (*_TEXT_VIEWS, ViewKind.GRAPH) if graph else _TEXT_VIEWS
    prepared = prepare(common, rows, graph=graph)
    more: dict[str, object] = {"arms": True} if arms else {}
    if graph:
        more["engines"] = prepared.engines
    settings = common.settings(rows=digest_of(rows), views=[each.value for each in views], **more)
    run = StudyRun(common.out, "maintenance", settings, prepared.missing)
    run.use_state(common.home)
    lacking: list[str] = []
    ordered = sorted(rows, key=lambda row: (row.cluster, row.step))
    shares = {}
    for repo, found in groupby(ordered, key=lambda row: row.cluster):
        steps = list(found)
        shares[repo] = min(_SHARE, len(steps))
        try:
            clone = common.clones.find(steps[0].repo)
        except InputError as error:
            lacking.append(error.message)
            continue
        further: tuple[RepairLevel, ...] = ("file",) if graph and arms else ()
        walk(run, Chain(steps, clone, views, further), common.note)
    records = list(run.records("transition"))
    for each in records:
        if "error" not in each:
            each["speedup"] = update_speedup(
                each["rebuild_s"], each["update_s"], each["start_s"], shares.get(each["repo"], 1)
            )
    by_name = [each for each in records if each.get("by_name")]
    if by_name:
        groups = sorted({group for each in by_name for group in each["by_name"]})
        told = f"{len(by_name)} graph comparisons have files by names alone ({', '.join(groups)})"
        run.missing.append(f"{told}: no engine resolved them, and exact says nothing of references there")
    if not graph:
        lacking.append("The graph: ask for it with --graph.")
    report, summary = _report(records, lacking, common.out / "figures")
    shown = [[name, *cells] for name, cells in summary["arms"].items()]
    common.finish(run, summary, report, table(["arm", "exact", "median speed-up", "quartiles"], shown))


def _report(records: Sequence[Record], lacking: Sequence[str], figures: Path) -> tuple[Report, Record]:
    worked = [each for each in records if "error" not in each]
    counted = [each for each in worked if each["source_changing"] and each["how"] != "reused"]
    report = Report(
        "Maintenance: updates against rebuilds",
        "Along a chain of real commits every view is brought from one commit to the next "
        "(**update**) and, in a "
        "state that shares nothing with it, built from nothing at the same commit (**rebuild**). The "
        "**speed-up** is the rebuild's time over the update's; the start of a language engine that stays is "
        "shared by five transitions. A transition is **exact** when the two artifacts "
        "hold the same "
        "facts. For vectors: the same documents, bit-equal vectors and the same ordered ten neighbours with "
        "equal scores. For the graph: the same facts as multisets, in all files and in the changed ones, and "
        "the same definitions and references at positions in the changed files. Checks are outside "
        "all times.",
        f"{len({(e['repo'], e['step']) for e in records})} transitions of "
        f"{len({e['repo'] for e in records})} "
        f"repositories, {len({(e['repo'], e['step']) for e in counted})} of which change source files; the "
        "others are in the records but in no ratio.",
    )
    failures = [f"{e['repo']} step {e['step']}, {e['view']}: {e['error']}" for e in records if "error" in e]
    report.left_out += [
        *lacking,
        *failures,
        "Checkout, loading of models, and the comparison itself.",
        "Concurrent edits and bursts; how often production repositories change.",
    ]
    groups: dict[str, list[Record]] = {}
    for each in counted:
        groups.setdefault(each["arm"], []).append(each)
    arms: dict[str, list[str]] = {}
    lines = []
    for arm, found in sorted(groups.items()):
        exact = [each for each in found if each["exact"]]
        ratios = [each["speedup"] for each in exact] or [each["speedup"] for each in found]
        spread = _quartiles(ratios)
        arms[arm] = [f"{len(exact)}/{len(found)}", f"{median(ratios):.1f}×{'' if exact else '*'}", spread]
        lines.append(
            [
                arm, *arms[arm], f"{min(each['speedup'] for each in found):.1f}×",
                seconds(median(e["update_s"] for e in found)), seconds(median(e["rebuild_s"] for e in found)),
            ]
        )  # fmt: skip
    head = ["arm", "exact", "median speed-up", "quartiles", "least", "median update", "median rebuild"]
    note = (
        "Speed-ups are over exact transitions; with * none is exact and the raw ratio stands. The "
        "least is over "
        "all. Parsing is counted with the lexical view, on both sides. Names in brackets say what "
        "the graph's "
        "update reports that it did."
    )
    report.table(head, lines, note)
    _by_language(report, counted)
    inexact = [each for each in counted if not each["exact"]]
    if inexact:
        report.heading("Transitions that are not equal to a rebuild")
        report.table(
            ["repository", "step", "view", "differences", "the first"],
            [[e["repo"], e["step"], e["view"], e["differences"], "; ".join(e["first"][:1])] for e in inexact],
        )
    if groups:
        dots = {
            f"{arm}\n{arms[arm][0]} exact": [(e["speedup"], e["exact"]) for e in found]
            for arm, found in sorted(groups.items())
        }
        _draw(report, dots, figures)
    report.certainty.append(
        "Each transition was measured once. Both sides of a ratio ran one after the other on the "
        "same machine."
    )
    return report, {"transitions": len(records), "arms": arms, "failures": len(failures)}


@optional_figure
def _draw(report: Report, dots: Mapping[str, Sequence[tuple[float, bool]]], figures: Path) -> None:
    drawn = canvas(1, width=6.4, height=0.9 + 0.5 * len(dots))
    strip(drawn.panels[0], dots)
    plain_ticks(drawn.panels[0])
    drawn.panels[0].set_xlabel("rebuild time / update time")
    drawn.save(figures, "update-speedups")
    caption = "Every source-changing transition; filled where the update equals the rebuild. Bars: quartiles and median of the filled ones."  # noqa: E501
    report.figure("update-speedups", caption)


def _by_language(report: Report, counted: Sequence[Record]) -> None:
    report.heading("By language")
    groups: dict[tuple[str, str], list[Record]] = {}
    for each in counted:
        groups.setdefault((each["view"], each["language"]), []).append(each)
    report.table(
        ["view", "language", "transitions", "exact", "median speed-up [quartiles]"],
        [
            [
                view, language, len(found), sum(each["exact"] for each in found),
                f"{median(e['speedup'] for e in found):.1f} {_quartiles([e['speedup'] for e in found])}",
            ]
            for (view, language), found in sorted(groups.items())
        ],
    )  # fmt: skip


def _quartiles(values: Sequence[float]) -> str:
    if len(values) < 2:
        return "–"
    low, _, high = quantiles(values, n=4, method="inclusive")
    return f"[{low:.1f}, {high:.1f}]"

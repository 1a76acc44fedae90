"""Scored arms in, a report with its figures out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean, median

from codenib.evals.data.rows import LocalizeRow
from codenib.evals.metrics.bootstrap import Estimate
from codenib.evals.metrics.frontier import frontier
from codenib.evals.reports.drawing import canvas, forest, grouped_bars, operating_points, optional_figure
from codenib.evals.reports.report import Report, seconds, size, with_interval
from codenib.evals.runs import Record
from codenib.evals.studies.retrieval.arms import Arm
from codenib.evals.studies.retrieval.fusion import Tuned
from codenib.evals.studies.retrieval.score import CUTS, Scored, contrasts

#: Title, name of the cost, arm → (cost, quality), whether costs are on a logarithmic axis.
_Panel = tuple[str, str, Mapping[str, tuple[float, float]], bool]
_MEASURED = """\
Each row is a real issue text. The product ranks the source units of the repository as it was before the fix;
the targets are the files and functions that the fix changed.

- **File Recall@k**: the share of a row's target files among the first k distinct files of the ranking.
- **File Success@k**: 1 when all target files are there, else 0.
- **Symbol Recall@k**: the share of a row's target functions that overlap one of the first k units.
  *Callables only* counts a unit as covering only when it is itself a function or method: a class or a whole
  file then takes a place for nothing.
- **Latency**: a whole `Workspace.search` call for ten results in a warm process, the median of three askings.

All are averages over rows, so a row with many targets counts no more than one with few."""


def summarize(
    scored: Mapping[str, Scored], builds: Sequence[Record], arms: Sequence[Arm], seed: int
) -> dict[str, object]:
    """The numbers behind the report."""
    found: dict[str, object] = {}
    for name, each in scored.items():
        metrics = {
            metric: estimate.rounded()
            for metric in _metrics()
            if (estimate := each.estimate(metric, seed)) is not None
        }
        cold = cold_build_s(builds, next(arm for arm in arms if arm.name == name))
        found[name] = {
            **metrics,
            "median_s": round(each.median_s(), 5),
            "mean_s": round(mean(each.seconds), 5),
            "p95_s": round(each.quantile_s(0.95), 5),
            "cold_build_s": round(cold, 3) if cold is not None else None,
        }
    return found


def make_report(
    rows: Sequence[LocalizeRow],
    scored: Mapping[str, Scored],
    builds: Sequence[Record],
    arms: Sequence[Arm],
    *,
    left_out: Sequence[str],
    seed: int,
    figures: Path,
) -> Report:
    """The page; its figures are written beside it."""
    report = Report("Retrieval: what ranked search finds", _MEASURED, _subject(rows, scored))
    report.left_out += [
        *left_out,
        "Files and functions that the fix added: they cannot be found in the snapshot before it.",
        "Patches are not generated and tests are not run: this is localization, not issue resolution.",
    ]
    if not scored:
        report.say("No arm answered every row, so that there is nothing to compare.")
        return report
    _main_table(report, scored, builds, arms, seed)
    _operating_points(report, scored, builds, arms, figures)
    _cut_table(report, scored, figures)
    _by_language(report, scored)
    base = next(iter(scored))
    _contrast(report, scored, base, seed, figures)
    _builds(report, builds)
    repositories = len({row.cluster for row in next(iter(scored.values())).rows})
    report.certainty += [
        f"Brackets are 95% percentile intervals from 20,000 bootstrap draws of whole repositories (seed "
        f"{seed}), because rows of one repository resemble each other: {repositories} repositories are the "
        "sample, not the rows.",
        "Differences are paired: both arms on the same rows. Their intervals hold together for all arms of "
        "the table: the largest deviation of any arm sets the width, so many arms are accounted for.",
        "Answers do not depend on the clock: a second run gives the same ones (`codenib eval compare A B`). "
        "Seconds are of this machine and of its load at the time; trust their ratios.",
    ]
    return report


def add_fusion(report: Report, fusion: Tuned | None, errors: Sequence[Record]) -> None:
    """The weight of graph fusion, chosen on one part of the repositories and judged on the other."""
    report.heading("Graph fusion")
    if errors:
        report.left_out.append(f"Graph fusion on {len(errors)} rows: {errors[0]['error']}")
    if fusion is None or fusion.effect is None:
        report.say(
            "There are too few repositories with a resolved graph to tune on some and judge on others."
        )
        return
    report.say(
        "The dense route gives 300 functions; the first ten are expanded one step over references both ways "
        "and fused in by reciprocal ranks with weight w. The weight is chosen by File Success@10, then @5, "
        f"then @1, on {fusion.tuning[0]} rows of {fusion.tuning[1]} repositories, and frozen."
    )
    report.table(
        ["w", "File Success@10", "@5", "@1"],
        [[f"{weight:g}", *(f"{value:.3f}" for value in values)] for weight, values in fusion.sweep.items()],
    )
    report.say(
        f"With w = {fusion.weight:g}, on {fusion.validation[0]} rows of {fusion.validation[1]} other "
        "repositories, "
        f"File Success@10 changes by {with_interval(fusion.effect, sign=True)} against dense alone."
    )


def cold_build_s(builds: Sequence[Record], arm: Arm) -> float | None:
    """Mean seconds of this arm's views where they were built from nothing: once per repository."""
    sums = []
    for build in builds:
        views = build["views"]
        if build["embedder"] == arm.embedder and all(
            kind.value in views and views[kind.value]["how"] == "built" for kind in arm.views
        ):
            sums.append(sum(views[kind.value]["seconds"] for kind in arm.views))
    return mean(sums) if sums else None


def _metrics() -> list[str]:
    kinds = ("file_recall", "file_success", "symbol_recall", "callable_recall")
    return ["mrr", *(f"{kind}@{k}" for kind in kinds for k in CUTS)]


def _subject(rows: Sequence[LocalizeRow], scored: Mapping[str, Scored]) -> str:
    languages = Counter(row.language for row in rows)
    kept = next(iter(scored.values())).rows if scored else ()
    named = ", ".join(f"{name} {count}" for name, count in languages.most_common())
    with_blocks = sum(bool(row.gold_blocks) for row in kept)
    return (
        f"{len(rows)} rows of {len({row.cluster for row in rows})} repositories ({named}). "
        f"The tables are over the {len(kept)} rows that every arm answered; {with_blocks} of them have "
        "target functions, and the symbol metrics are over those. Queries have "
        f"{median(len(row.query) for row in rows):.0f} characters at the median. Views were built from the "
        "clones' objects at each row's commit, nothing was checked out."
    )


def _main_table(
    report: Report, scored: Mapping[str, Scored], builds: Sequence[Record], arms: Sequence[Arm], seed: int
) -> None:
    report.heading("At ten results")
    names = ("file_recall@10", "file_success@10", "symbol_recall@10", "callable_recall@10")
    lines = []
    for name, each in scored.items():
        cells = [each.estimate(metric, seed) for metric in names]
        cold = cold_build_s(builds, next(arm for arm in arms if arm.name == name))
        lines.append(
            [
                name,
                *(with_interval(cell) if cell else None for cell in cells),
                seconds(each.median_s()),
                seconds(each.quantile_s(0.95)),
                seconds(cold) if cold is not None else None,
            ]
        )
    head = ["arm", "File Recall", "File Success", "Symbol Recall", "callables only"]
    note = (
        "`lexical`, `semantic` and `hybrid` are routes over units; `…-files` rank whole files. A build is "
        "the mean of the arm's views built from nothing, once per repository; parsing is counted with the "
        "lexical view, which is built first."
    )
    report.table([*head, "median query", "p95", "cold build"], lines, note)


def _operating_points(
    report: Report, scored: Mapping[str, Scored], builds: Sequence[Record], arms: Sequence[Arm], figures: Path
) -> None:
    """Cost against quality in three panels, and which arms no other arm beats."""
    by_name = {arm.name: arm for arm in arms}
    built = {name: cold_build_s(builds, by_name[name]) for name in scored}
    panels = (
        ("file_recall@10", "File Recall@10", "mean cold build of the views (s)", built),
        ("file_recall@10", "File Recall@10", "mean query time (ms)", None),
        ("symbol_recall@10", "Symbol Recall@10", "mean query time (ms)", None),
    )
    drawable: list[_Panel] = []
    best: dict[str, list[str]] = {}
    for metric, title, cost_name, costs in panels:
        points: dict[str, tuple[float, float]] = {}
        for name, each in scored.items():
            cost = costs[name] if costs else 1000 * mean(each.seconds)
            quality = each.mean(metric)
            if cost is not None and quality is not None:
                points[name] = (cost, quality)
        if points:
            best[f"{title} against {cost_name.partition(' (')[0]}"] = frontier(points)
        drawable.append((title, cost_name, points, costs is None))
    _draw_points(report, drawable, list(scored), figures)
    told = "; ".join(f"{what}: {', '.join(names)}" for what, names in best.items())
    report.say(f"Not dominated: {told}.")


@optional_figure
def _draw_points(report: Report, panels: Sequence[_Panel], arms: Sequence[str], figures: Path) -> None:
    styles = {name: number for number, name in enumerate(arms)}
    drawn = canvas(len(panels))
    for axes, (title, cost_name, points, log) in zip(drawn.panels, panels, strict=True):
        if points:
            operating_points(axes, points, styles, log=log)
        axes.set_title(title, loc="left")
        axes.set_xlabel(cost_name)
    drawn.legend(panel=1)
    drawn.save(figures, "operating-points")
    caption = "Operating points. Dotted lines join the arms that no other arm beats on both axes."
    report.figure("operating-points", caption)


def _cut_table(report: Report, scored: Mapping[str, Scored], figures: Path) -> None:
    report.heading("By number of results")
    lines = []
    for name, each in scored.items():
        for metric, label in (("file_recall", "File Recall"), ("symbol_recall", "Symbol Recall")):
            values = [each.mean(f"{metric}@{k}") for k in CUTS]
            if values[0] is not None:
                lines.append([name, label, *(f"{value:.3f}" for value in values if value is not None)])
    report.table(["arm", "metric", *(f"@{k}" for k in CUTS)], lines)
    _draw_cuts(report, scored, figures)


@optional_figure
def _draw_cuts(report: Report, scored: Mapping[str, Scored], figures: Path) -> None:
    drawn = canvas(2, width=4.8, share_y=True)
    for axes, metric, title in zip(
        drawn.panels, ("file_recall", "symbol_recall"), ("File Recall@k", "Symbol Recall@k"), strict=True
    ):
        series = {
            name: [value for k in CUTS if (value := each.mean(f"{metric}@{k}")) is not None]
            for name, each in scored.items()
        }
        grouped_bars(axes, [f"k={k}" for k in CUTS], {name: each for name, each in series.items() if each})
        axes.set_title(title, loc="left")
        axes.set_ylim(0, 1.0)
    drawn.legend()
    drawn.save(figures, "recall-by-k")
    report.figure("recall-by-k", "Recall by number of results, averages over rows.")


def _by_language(report: Report, scored: Mapping[str, Scored]) -> None:
    report.heading("By language (File / Symbol Recall@10)")
    some = next(iter(scored.values()))
    languages = sorted({row.language for row in some.rows})
    lines = []
    for language in languages:
        cells: list[object] = [language, sum(row.language == language for row in some.rows)]
        for each in scored.values():
            kept = [s for row, s in zip(each.rows, each.scores, strict=True) if row.language == language]
            values = [
                mean(numbers) if (numbers := [s[metric] for s in kept if metric in s]) else None
                for metric in ("file_recall@10", "symbol_recall@10")
            ]
            cells.append(" / ".join("–" if value is None else f"{value:.2f}" for value in values))
        lines.append(cells)
    report.table(["language", "rows", *scored], lines)


def _contrast(report: Report, scored: Mapping[str, Scored], base: str, seed: int, figures: Path) -> None:
    found: dict[str, dict[str, Estimate]] = {
        name: contrasts(scored, base, metric, seed)
        for name, metric in (
            ("File Recall@10", "file_recall@10"),
            ("File Success@10", "file_success@10"),
            ("Symbol Recall@10", "symbol_recall@10"),
        )
    }
    if not any(found.values()):
        return
    report.heading(f"Differences to `{base}`")
    lines = [
        [arm, name, with_interval(each, sign=True), "yes" if each.excludes(0.0) else "no"]
        for name, changes in found.items()
        for arm, each in changes.items()
    ]
    report.table(["arm", "metric", "difference", "excludes zero"], lines)
    _draw_differences(report, base, found, figures)


@optional_figure
def _draw_differences(
    report: Report, base: str, found: Mapping[str, Mapping[str, Estimate]], figures: Path
) -> None:
    drawn = canvas(len(found), width=3.3, height=0.9 + 0.34 * max(len(each) for each in found.values()))
    for axes, (name, changes) in zip(drawn.panels, found.items(), strict=True):
        forest(axes, changes)
        axes.set_title(f"Δ {name}", loc="left")
    drawn.save(figures, "differences")
    report.figure("differences", f"Paired differences to {base}, with simultaneous 95% intervals.")


def _builds(report: Report, builds: Sequence[Record]) -> None:
    report.heading("What the views cost")
    groups: dict[tuple[str, str, str], list[Record]] = {}
    for build in builds:
        for kind, view in build["views"].items():
            groups.setdefault((kind, build["embedder"], view["how"]), []).append(view)
    lines = [
        [
            f"{kind}{f' ({embedder})' if embedder else ''}",
            how,
            len(found),
            seconds(median(view["seconds"] for view in found)),
            seconds(max(view["seconds"] for view in found)),
            size(median(view["bytes"] for view in found)),
        ]
        for (kind, embedder, how), found in sorted(groups.items())
    ]
    note = (
        "*built*: from nothing. *maintained*: from the nearest commit that was there, "
        "with the same result as a build."
    )
    report.table(["view", "how", "commits", "median", "longest", "median size"], lines, note)

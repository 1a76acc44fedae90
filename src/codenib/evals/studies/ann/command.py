"""Q2: dense views. Build time against lines of code at both levels; Flat against IVF and HNSW."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import mean, median

import click
import numpy as np

from codenib.compiler.dense import open_named
from codenib.core.embedding import Embedder
from codenib.core.errors import InputError
from codenib.evals.data.rows import LocalizeRow, chosen_rows, digest_of, read_rows
from codenib.evals.metrics.scoring import amortised_after, neighbor_recall, recall
from codenib.evals.options import StudyOptions, study_options
from codenib.evals.preparation import prepare
from codenib.evals.reports.drawing import (
    canvas,
    cumulative,
    fitted_points,
    lines,
    optional_figure,
    plain_ticks,
)
from codenib.evals.reports.report import Report, seconds, size, table
from codenib.evals.runs import Record, StudyRun
from codenib.evals.studies.ann.builds import DenseBench
from codenib.views.dense.families import Floats, Neighbours, inner_products, write_index
from codenib.views.dense.profile import DEFAULT_EMBEDDER, DenseSetting, DocumentSet, Family
from codenib.views.dense.store import CodeVectorStore, best

K = 10
WARM_UPS, REPEATS = 10, 100  # the paper's, per method and snapshot
PROBES = (0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0)  # shares of IVF's lists
EF_SEARCH = (16, 32, 64, 128)
_Points = Mapping[str, Sequence[tuple[float, float]]]  # of each series
ENOUGH = 0.95  # mean Neighbor Recall that qualifies a configuration


@click.command("ann")
@study_options()
@click.option(
    "--embedder", "embedders", multiple=True, help="Embedders to build with (default: the embedded)."
)
def command(common: StudyOptions, embedders: tuple[str, ...]) -> None:
    """Dense views: build scaling at L0 and L2, Flat against IVF and HNSW (Q2)."""
    assert common.rows is not None
    rows = chosen_rows(
        read_rows(common.rows, LocalizeRow), repos=common.repos, limit=common.limit, per_repo=common.per_repo
    )
    specs = embedders or (DEFAULT_EMBEDDER,)
    settings = common.settings(rows=digest_of(rows), embedders=list(specs))
    run = StudyRun(common.out, "ann", settings, prepare(common, rows).missing)
    run.use_state(common.home)
    lacking: list[str] = []
    for spec in specs:
        embedder = open_named(spec)
        for done, row in enumerate(rows, 1):
            try:
                clone = common.clones.find(row.repo)
            except InputError as error:
                lacking.append(f"{row.id}: {error.message}")
                continue
            key = f"{row.id}|{spec}"
            if key not in run:
                run.add("snapshot", key, {"embedder": spec, **_snapshot(row, clone, embedder)})
                common.note(f"{done}/{len(rows)} snapshots; {row.cluster}")
    found = list(run.records("snapshot"))
    if not found:
        raise InputError("no snapshot could be measured", hint="--mirror FOLDER with the clones of the rows")
    report, summary = _report(found, specs, lacking, common.out / "figures")
    shown = [[name, *cells] for name, cells in summary["families"].items()]
    heads = ["configuration", "Neighbor Recall@10", "mean search ms", "over Flat"]
    common.finish(run, summary, report, table(heads, [row[:4] for row in shown]))


def _snapshot(row: LocalizeRow, clone: Path, embedder: Embedder) -> Record:
    with (
        tempfile.TemporaryDirectory(prefix="codenib-ann-") as folder,
        DenseBench(clone, Path(folder), embedder) as bench,
    ):
        snapshot = bench.take(row.base_commit)
        built = {}
        for level in (DocumentSet.L0, DocumentSet.L2):
            out, build_s = bench.build(snapshot, DenseSetting("study", Family.FLAT, level), level.name)
            built[level.name] = {"build_s": round(build_s, 4), "documents": len(CodeVectorStore(out))}
        store = CodeVectorStore(Path(folder) / DocumentSet.L2.value)
        lines_of_code = bench.lines(snapshot, set(store.paths))
        if not len(store):
            return {"repo": row.cluster, "row": row.id, "lines": lines_of_code, "levels": built}
        vectors = np.stack([store.vector(number) for number in range(len(store))])
        query_s = []
        for _ in range(5):
            started = time.perf_counter()
            store.search(embedder.embed_queries([row.query])[0], K)
            query_s.append(time.perf_counter() - started)
        query = embedder.embed_queries([row.query])[0]
        return {
            "repo": row.cluster,
            "row": row.id,
            "lines": lines_of_code,
            "levels": built,
            "dimension": int(vectors.shape[1]),
            "query_ms": round(1000 * median(query_s), 4),
            "families": _families(vectors, query, store, row, Path(folder)),
        }


def _families(
    vectors: Floats, query: Floats, store: CodeVectorStore, row: LocalizeRow, folder: Path
) -> list[Record]:
    """Every configuration on the same vectors and the same query."""

    def targets(found: Sequence[int]) -> float:
        return recall([store.row(number).span.path for number in found], row.gold_files, K)

    def flat() -> list[int]:
        found: list[int] = best(np.arange(len(vectors)), inner_products(vectors, query), K).rows.tolist()
        return found

    started = time.perf_counter()
    vectors.tofile(folder / "flat.bin")
    write_s = time.perf_counter() - started
    exact, flat_ms = _timed(flat)
    rows = [
        {
            "family": "flat", "effort": 1.0, "recall": 1.0, "search_ms": flat_ms,
            "build_s": round(write_s, 5), "bytes": vectors.nbytes, "file_recall": targets(exact),
        }
    ]  # fmt: skip
    for family, efforts in ((Family.IVF, PROBES), (Family.HNSW, EF_SEARCH)):
        path = folder / f"{family}.faiss"
        started = time.perf_counter()
        write_index(family, vectors, path)
        build_s = time.perf_counter() - started
        index = Neighbours(family, path)
        for effort in efforts:
            found, search_ms = _timed(lambda: index.search(query, K, effort=effort)[0].tolist())  # noqa: B023
            rows.append(
                {
                    "family": family.value,
                    "effort": effort,
                    "recall": round(neighbor_recall(found, exact), 4),
                    "search_ms": search_ms,
                    "build_s": round(build_s, 5),
                    "bytes": path.stat().st_size,
                    "file_recall": targets(found),
                }
            )
    return rows


def _timed(search: Callable[[], list[int]]) -> tuple[list[int], float]:
    """The answer, and the median milliseconds of one search after warming up.

    The median, not the paper's mean: on a machine with other work a few searches wait for the processor.
    """
    for _ in range(WARM_UPS):
        found = search()
    times = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        search()
        times.append(time.perf_counter() - started)
    return found, round(1000 * median(times), 5)


def _report(
    found: Sequence[Record], specs: Sequence[str], lacking: Sequence[str], figures: Path
) -> tuple[Report, Record]:
    report = Report(
        "Dense views: what they cost to build and to search",
        "**Build**: embedding every document and writing exact vectors, from parsed units with no vector "
        "cached; L0 documents are files, L2 documents are functions and methods. **Search**: the ten nearest "
        f"vectors of a row's query, on one thread, the median of {REPEATS} searches after {WARM_UPS}. "
        "**Neighbor Recall@10**: the share of exact search's ten that an approximate index returns too.",
        f"{len({each['row'] for each in found})} snapshots of {len({each['repo'] for each in found})} "
        f"repositories, {min(each['lines'] for each in found):,} to {max(each['lines'] for each in found):,} "
        f"lines in files with units. Embedders: {', '.join(specs)}.",
    )
    slopes = _scaling(report, found, specs, figures)
    families = _sweep(report, [each for each in found if each.get("families")], specs[0], figures)
    report.left_out += [
        *lacking,
        "Checkout and parsing: timers start after them, as the paper's do.",
        "Concurrent searches, deletions and updates; the index-local crossover excludes loading.",
        "The paper's five models run on a GPU; here only the embedders named above.",
    ]
    report.certainty.append(
        "One query per snapshot and one build each: points, not intervals. Fits are straight lines by least "
        "squares and describe these repositories."
    )
    whole: Record = {
        "snapshots": len(found),
        "slopes_s_per_kloc": slopes,
        "families": {name: cells for name, *cells in families},
    }
    return report, whole


def _scaling(
    report: Report, found: Sequence[Record], specs: Sequence[str], figures: Path
) -> dict[str, float]:
    report.heading("Build time against size")
    slopes: dict[str, float] = {}
    rows = []
    panels: dict[str, tuple[_Points, Mapping[str, tuple[float, float]]]] = {}
    for level in ("L0", "L2"):
        series = {
            spec: [
                (each["lines"] / 1000, each["levels"][level]["build_s"])
                for each in found
                if each["embedder"] == spec
            ]
            for spec in specs
        }
        fits = {spec: fit for spec, points in series.items() if (fit := _line(points))}
        panels[level] = (series, fits)
        for spec, (slope, _) in fits.items():
            slopes[f"{spec} {level}"] = round(slope, 5)
        for spec, points in series.items():
            documents = [e["levels"][level]["documents"] for e in found if e["embedder"] == spec]
            slope_text = f"{slopes[f'{spec} {level}']:.4f}" if f"{spec} {level}" in slopes else None
            rows.append(
                [
                    spec, level, seconds(median(y for _, y in points)), seconds(max(y for _, y in points)),
                    f"{median(documents):.0f}", slope_text,
                ]
            )  # fmt: skip
    head = ["embedder", "level", "median build", "longest", "median documents", "seconds per 1,000 lines"]
    report.table(head, rows)
    times = {
        spec: sorted(e["query_ms"] for e in found if e["embedder"] == spec and "query_ms" in e)
        for spec in specs
    }
    _draw_scaling(report, panels, times, figures)
    return slopes


def _line(points: Sequence[tuple[float, float]]) -> tuple[float, float] | None:
    """Slope and value at zero of the least-squares line; None where all points have one size."""
    x, y = (np.asarray(each, float) for each in zip(*points, strict=True))
    if len(set(x.tolist())) < 2:
        return None
    slope, start = np.polyfit(x, y, 1)
    return float(slope), float(start)


@optional_figure
def _draw_scaling(
    report: Report,
    panels: Mapping[str, tuple[_Points, Mapping[str, tuple[float, float]]]],
    times: Mapping[str, Sequence[float]],
    figures: Path,
) -> None:
    drawn = canvas(3)
    for axes, (level, (series, fits)) in zip(drawn.panels, panels.items(), strict=False):
        fitted_points(axes, series, fits)
        axes.set_title(f"{level} build", loc="left")
        axes.set_xlabel("thousand lines of code")
        axes.set_ylabel("seconds")
    for spec, values in times.items():
        if values:
            cumulative(drawn.panels[2], {spec: values})
    drawn.panels[2].set_title("whole dense query", loc="left")
    drawn.panels[2].set_xlabel("milliseconds")
    drawn.legend()
    drawn.save(figures, "build-scaling")
    report.figure(
        "build-scaling", "(a, b) Build time of exact views against lines of code. (c) Query latency."
    )


def _sweep(report: Report, found: Sequence[Record], spec: str, figures: Path) -> list[list[object]]:
    """A row per configuration, in the order that they were measured."""
    groups: dict[tuple[str, float], list[Record]] = {}
    for each in found:
        if each["embedder"] == spec:
            for cell in each["families"]:
                groups.setdefault((cell["family"], cell["effort"]), []).append(cell)
    if not groups:
        return []
    report.heading("Index families")
    flat = groups[("flat", 1.0)]
    flat_ms, flat_build = mean(c["search_ms"] for c in flat), mean(c["build_s"] for c in flat)
    rows: list[list[object]] = []
    curves: dict[str, list[tuple[float, float]]] = {}
    for (family, effort), cells in groups.items():
        mean_recall, mean_ms = mean(c["recall"] for c in cells), mean(c["search_ms"] for c in cells)
        curves.setdefault(family, []).append((mean_ms, mean_recall))
        extra = mean(c["build_s"] for c in cells) - flat_build
        after = amortised_after(extra, (flat_ms - mean_ms) / 1000) if family != "flat" else None
        same = sum(c["file_recall"] == f["file_recall"] for c, f in zip(cells, flat, strict=True))
        label = {"flat": "flat", "ivf": f"ivf {effort:.0%} of lists"}.get(family, f"hnsw ef {effort}")
        rows.append(
            [
                label, f"{mean_recall:.3f}", f"{mean_ms:.4f}", f"{flat_ms / mean_ms:.1f}×",
                seconds(mean(c["build_s"] for c in cells)), size(mean(c["bytes"] for c in cells)),
                f"{after:,.0f}" if after is not None else None, f"{same}/{len(cells)}",
            ]
        )  # fmt: skip
    head = ["configuration", "Neighbor Recall@10", "mean search ms", "Flat over it", "mean build"]
    note = (
        "*pays after*: searches until the longer build is earned back, against Flat. *targets kept*: "
        "snapshots where the file recall of the row's targets is Flat's."
    )
    report.table([*head, "mean size", "pays after", "targets kept"], rows, note)
    good = [row for row in rows[1:] if float(str(row[1])) >= ENOUGH]
    for family in ("ivf", "hnsw"):
        mine = [row for row in good if str(row[0]).startswith(family)]
        if mine:
            fastest = min(mine, key=lambda row: float(str(row[2])))
            report.say(
                f"Fastest {family} with Neighbor Recall ≥ {ENOUGH}: {fastest[0]}, Flat takes "
                f"{fastest[3]} its time."
            )
        else:
            report.say(f"No {family} configuration reaches {ENOUGH} on these snapshots.")
    _draw_families(report, curves, figures)
    return rows


@optional_figure
def _draw_families(report: Report, curves: _Points, figures: Path) -> None:
    drawn = canvas(1, width=4.6)
    lines(drawn.panels[0], curves)
    drawn.panels[0].axhline(ENOUGH, color="#6B6B6B", linewidth=0.8, linestyle="--")
    drawn.panels[0].set_xscale("log")
    plain_ticks(drawn.panels[0])
    drawn.panels[0].set_xlabel("mean search (ms)")
    drawn.panels[0].set_ylabel("mean Neighbor Recall@10")
    drawn.legend()
    drawn.save(figures, "index-families")
    report.figure("index-families", "Neighbor Recall against search time; the dashed line is 0.95.")

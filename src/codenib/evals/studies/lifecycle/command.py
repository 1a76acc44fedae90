"""Lifecycle: materialize the views, load them in a fresh process, serve the 42-request trace; projections."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median

import click

from codenib.core.errors import CodenibError, ProviderError
from codenib.core.views import RepoManifest, Status, ViewKind
from codenib.evals.data.clones import check_out
from codenib.evals.data.rows import LocalizeRow, chosen_rows, digest_of, read_rows
from codenib.evals.metrics.bootstrap import Estimate, median_interval
from codenib.evals.metrics.scoring import isolated_cost, resident_cost
from codenib.evals.options import StudyOptions, study_options
from codenib.evals.preparation import prepare
from codenib.evals.reports.drawing import banded_lines, canvas, forest, optional_figure, plain_ticks
from codenib.evals.reports.report import Report, seconds, size, table
from codenib.evals.runs import Record, StudyRun
from codenib.evals.studies.navigation import anchors
from codenib.manifest.home import home
from codenib.manifest.store import Store
from codenib.snapshot.repository import locate
from codenib.views.dense.store import CodeVectorStore
from codenib.views.graph.read import GraphView

SESSIONS = 20  # the paper's N
PROBES = 2  # definitions
REPEATS = 3
SCALES = (1, 5, 10, 20, 50, 100)
VIEWS = (ViewKind.LEXICAL, ViewKind.DENSE, ViewKind.GRAPH)


@click.command("lifecycle")
@study_options()
def command(common: StudyOptions) -> None:
    """Materialize, load, serve a trace of 42 requests; isolated and resident projections."""
    assert common.rows is not None
    every = read_rows(common.rows, LocalizeRow)
    rows = chosen_rows(every, repos=common.repos, limit=common.limit, per_repo=common.per_repo or 1)
    prepared = prepare(common, rows, graph=True)
    settings = common.settings(rows=digest_of(rows), engines=prepared.engines)
    run = StudyRun(common.out, "lifecycle", settings, prepared.missing)
    for done, row in enumerate(rows, 1):
        if row.id not in run:
            queries = [each.query for each in every if each.cluster == row.cluster][:SESSIONS]
            run.add("snapshot", row.id, _snapshot(common, run, row, queries))
            common.note(f"{done}/{len(rows)} snapshots; {row.cluster}")
    found = [each for each in run.records("snapshot") if "error" not in each]
    failed = [each for each in run.records("snapshot") if "error" in each]
    if failed:
        run.missing.append(f"{len(failed)} of {len(rows)} snapshots could not be measured")
    if short := [each for each in found if each["requests"] < 2 * SESSIONS + PROBES]:
        run.missing.append(f"{len(short)} traces are without their {PROBES} definitions: no resolved graph")
    report, summary = _report(found, failed, common.seed, common.out / "figures")
    shown = [[name, *cells] for name, cells in summary["stages"].items()]
    common.finish(run, summary, report, table(["stage", "median", "95% interval"], shown))


def _snapshot(common: StudyOptions, run: StudyRun, row: LocalizeRow, queries: Sequence[str]) -> Record:
    about = {"row": row.id, "repo": row.cluster, "language": row.language}
    place, state = common.out / "checkouts" / row.id, common.out / "states" / row.id
    for folder in (place, state):
        shutil.rmtree(folder, ignore_errors=True)
    try:
        check_out(common.clones.find(row.repo), row.base_commit, place)
        run.use_state(state)
        build_s, _ = _command(place, "index", "--views", ",".join(VIEWS))
        store = Store(locate(place).key)
        manifest = store.manifests()[0]
        task = _task(store, manifest, queries)
        started = time.time()
        done = _python("codenib.evals.studies.lifecycle.trace_process", json.dumps(task))
        load_s = done["loaded_at"] - started
        used = sum(file.stat().st_size for file in home().rglob("*") if file.is_file())
        return {
            **about,
            "materialize_s": round(build_s, 3),
            "views": {
                kind.value: {
                    "status": record.status.value,
                    "seconds": round(record.seconds, 3),
                    "bytes": record.size_bytes,
                }
                for kind, record in manifest.views.items()
            },
            "load_s": round(load_s, 4),
            "trace_s": median(each["seconds"] for each in done["traces"]),
            "by_kind": done["traces"][-1]["by_kind"],
            "requests": done["traces"][-1]["requests"],
            "made_up": task["made_up"],
            "same_answers": done["same_answers"],
            "answers": done["first"]["answers"],
            "artifacts_bytes": sum(record.size_bytes for record in manifest.views.values()),
            "state_bytes": used,
        }
    except CodenibError as error:
        return {**about, "error": error.message}
    finally:
        for folder in (place, state):
            shutil.rmtree(folder, ignore_errors=True)


def _task(store: Store, manifest: RepoManifest, queries: Sequence[str]) -> Record:
    """The trace: the rows' queries, filled up with words of declared names; and two definitions."""
    kept = list(queries)
    dense = manifest.views[ViewKind.DENSE]
    names = _names(store.artifact(dense.artifact)) if dense.status is Status.FRESH else []
    made_up = max(SESSIONS - len(kept), 0)
    kept += [names[at * len(names) // made_up] for at in range(made_up)] if names else []
    graph = manifest.views.get(ViewKind.GRAPH)
    probes: list[list[object]] = []
    if graph is not None and graph.status is Status.FRESH:
        view = GraphView(store.artifact(graph.artifact))
        probes = [[each.path, each.line, each.column] for each in anchors(view, PROBES)]
    file = store.folder / "manifests" / f"{manifest.snapshot}.json"
    fresh = [kind.value for kind in VIEWS if manifest.views[kind].status is Status.FRESH]
    return {
        "manifest": str(file),
        "views": fresh,
        "queries": kept,
        "definitions": probes,
        "repeats": REPEATS,
        "made_up": made_up,
    }


def _names(artifact: Path) -> list[str]:
    """The words of the names of functions, evenly over the repository: what people ask for, roughly."""
    store = CodeVectorStore(artifact)
    symbols = dict.fromkeys(store.row(at).symbol for at in range(0, len(store), max(1, len(store) // 200)))
    words = (re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", symbol) for symbol in symbols)
    return [" ".join(each).lower() for each in words if each]


def _command(place: Path, *words: str) -> tuple[float, Record]:
    """Wall seconds of a whole `codenib` command in a process of its own."""
    started = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-P", "-m", "codenib", "-C", str(place), *words, "--json"],
        capture_output=True, text=True, check=False, env=os.environ,
    )  # fmt: skip
    if done.returncode != 0:
        raise ProviderError(f"codenib {words[0]} failed: {done.stderr.strip()[-300:]}")
    return time.perf_counter() - started, json.loads(done.stdout)


def _python(module: str, given: str) -> Record:
    done = subprocess.run(
        [sys.executable, "-P", "-m", module], input=given, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise ProviderError(f"{module} failed: {done.stderr.strip()[-300:]}")
    found: Record = json.loads(done.stdout)
    return found


def _report(
    found: Sequence[Record], failed: Sequence[Record], seed: int, figures: Path
) -> tuple[Report, Record]:
    requests = sorted({each["requests"] for each in found})
    report = Report(
        "Lifecycle: materialize, load, serve",
        f"**Materialize (B)**: `codenib index` of the {', '.join(VIEWS)} views in a process and a state of "
        "its own. **Load (L)**: from the start of a fresh process until these views are open, imports and "
        "interpreter included; nothing is built there. **Serve (S)**: one warm trace of "
        f"{SESSIONS} sessions, each asking its query once by the dense view and once by BM25, and {PROBES} "
        f"definitions: {SESSIONS} × (1 + 1) + {PROBES} = {2 * SESSIONS + PROBES} requests; the median of "
        f"{REPEATS} after one that warms up. Projections per session at q sessions: B/q + L + S/N when each "
        "loads for itself, (B + L)/q + S/N when one runtime stays.",
        f"{len(found)} snapshots of {len({each['repo'] for each in found})} repositories. "
        f"{sum(each['made_up'] for each in found)} of {SESSIONS * len(found)} queries are words of declared "
        "names, where a repository has fewer rows than sessions. Requests per trace: "
        f"{', '.join(map(str, requests))}.",
    )
    report.left_out += [f"{each['row']}: {each['error']}" for each in failed]
    report.left_out += [
        "Caches of the operating system are warm; checking out is not counted.",
        "Concurrency and queueing. Lines between the projections are guides, not measurements.",
        "The definitions are not calibrated against a live server here; the navigation study does that.",
        "The dense view is of functions (L2) alone; the paper's builder makes files (L0) too.",
    ]
    if not found:
        report.say("No snapshot could be measured.")
        return report, {"snapshots": 0, "stages": {}}
    stages = _stages(found, seed)
    lines = [
        [name, seconds(each.value), f"{seconds(each.low)} – {seconds(each.high)}"]
        for name, each in stages.items()
    ]
    report.heading("Stages")
    note = (
        "The first rows are parts of *materialize*; the last three are whole stages. Do not add all of them."
    )
    report.table(["stage", "median", "95% interval"], lines, note)
    disk = median(each["artifacts_bytes"] for each in found)
    whole = median(each["state_bytes"] for each in found)
    report.say(f"Artifacts take {size(disk)} at the median, the whole state with its caches {size(whole)}.")
    unequal = sum(not each["same_answers"] for each in found)
    report.say(f"{len(found) - unequal} of {len(found)} traces gave the same answers every time.")
    projections = _projections(found, seed)
    report.heading("Projected cost of a session")
    report.table(
        ["q", *projections],
        [[q, *(_between(values[at]) for values in projections.values())] for at, q in enumerate(SCALES)],
    )  # fmt: skip
    _draw(report, stages, projections, figures)
    report.certainty.append(
        f"Medians with percentile intervals from 10,000 draws of the {len(found)} snapshots (seed {seed})."
    )
    return report, {
        "snapshots": len(found),
        "requests": requests,
        "same_answers": len(found) - unequal,
        "stages": {name: [seconds(each.value), f"{seconds(each.low)} – {seconds(each.high)}"]
                   for name, each in stages.items()},
        "projections": {name: [each.rounded() for each in values] for name, values in projections.items()},
    }  # fmt: skip


@optional_figure
def _draw(
    report: Report,
    stages: Mapping[str, Estimate],
    projections: Mapping[str, Sequence[Estimate]],
    figures: Path,
) -> None:
    drawn = canvas(2, width=4.6, height=3.0)
    forest(drawn.panels[0], stages, zero=None)
    drawn.panels[0].set_xscale("log")
    plain_ticks(drawn.panels[0])
    drawn.panels[0].set_xlabel("seconds")
    drawn.panels[0].set_title("parts of B, and whole stages", loc="left")
    banded_lines(drawn.panels[1], SCALES, projections, marked=SESSIONS)
    drawn.panels[1].set_xlabel("sessions q")
    drawn.panels[1].set_ylabel("seconds per session")
    drawn.panels[1].set_title("projected cost", loc="left")
    drawn.panels[1].legend()
    drawn.save(figures, "lifecycle")
    report.figure(
        "lifecycle",
        "Medians over snapshots with 95% intervals. Open marks are projections from measured B, L and S; the "
        f"filled ones are at the trace's own scale, q = {SESSIONS}.",
    )


def _between(each: Estimate) -> str:
    return f"{seconds(each.value)} [{seconds(each.low)}, {seconds(each.high)}]"


def _stages(found: Sequence[Record], seed: int) -> dict[str, Estimate]:
    parts: dict[str, list[float]] = {}
    for kind in VIEWS:
        values = [each["views"][kind]["seconds"] for each in found if kind in each["views"]]
        if values:
            parts[f"{kind} view"] = values
    parts["materialize (B)"] = [each["materialize_s"] for each in found]
    parts["load (L)"] = [each["load_s"] for each in found]
    parts["serve the trace (S)"] = [each["trace_s"] for each in found]
    return {name: median_interval(values, seed=seed) for name, values in parts.items()}


def _projections(found: Sequence[Record], seed: int) -> dict[str, list[Estimate]]:
    def project(cost: Callable[[float, float, float, int, int], float]) -> list[Estimate]:
        return [
            median_interval(
                [cost(e["materialize_s"], e["load_s"], e["trace_s"], SESSIONS, q) for e in found], seed=seed
            )
            for q in SCALES
        ]

    return {"each session loads": project(isolated_cost), "one resident runtime": project(resident_cost)}

"""Q3: static against live navigation at sampled positions: how often they agree, and times where they do."""

from __future__ import annotations

import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from statistics import median
from typing import Literal

import click
import numpy as np

from codenib.core.errors import CodenibError, ProviderError
from codenib.core.facts import Role
from codenib.core.navigation import Position
from codenib.core.symbols import NavigationAnswer
from codenib.core.views import Status, ViewKind
from codenib.evals.data.clones import check_out
from codenib.evals.data.rows import LocalizeRow, chosen_rows, digest_of, read_rows
from codenib.evals.metrics.scoring import navigation_match, normalized
from codenib.evals.options import StudyOptions, study_options
from codenib.evals.preparation import prepare
from codenib.evals.reports.drawing import canvas, cumulative, optional_figure, pairs, plain_ticks
from codenib.evals.reports.report import Report, seconds, table
from codenib.evals.runs import Record, StudyRun
from codenib.manifest.store import Store
from codenib.serving.workspace import Workspace
from codenib.snapshot.repository import locate
from codenib.views.graph.read import GraphView

Question = Literal["definition", "references"]
LIMITS: dict[Question, int] = {"definition": 8, "references": 40}  # the paper's provider limits
POSITIONS = 5  # the paper's, per snapshot
REPEATS = 10
SETTLING = 12  # askings until two answers in a row are the same
_SHOWN = 4


@click.command("navigation")
@study_options()
@click.option("--positions", default=POSITIONS, show_default=True, help="Positions per snapshot.")
def command(common: StudyOptions, positions: int) -> None:
    """Static against live definitions and references: match rates and conditional latency (Q3)."""
    assert common.rows is not None
    rows = chosen_rows(
        read_rows(common.rows, LocalizeRow),
        repos=common.repos,
        limit=common.limit,
        per_repo=common.per_repo or 1,
    )
    prepared = prepare(common, rows, graph=True, live=True)
    settings = common.settings(rows=digest_of(rows), positions=positions, engines=prepared.engines)
    run = StudyRun(common.out, "navigation", settings, prepared.missing)
    run.use_state(common.home)
    for done, row in enumerate(rows, 1):
        if f"{row.id}|snapshot" not in run:
            run.add("snapshot", f"{row.id}|snapshot", _snapshot(common, run, row, positions))
            common.note(f"{done}/{len(rows)} snapshots; {row.cluster}")
    requests = [each for each in run.records("request") if "error" not in each]
    report, summary = _report(run, rows, requests, common.out / "figures")
    shown = [[name, *cells] for name, cells in summary["rates"].items()]
    common.finish(run, summary, report, table(["requests", "count", "match", "limited"], shown))


def _snapshot(common: StudyOptions, run: StudyRun, row: LocalizeRow, wanted: int) -> Record:
    """Check the commit out, make its graph, ask both providers; a summary of what happened."""
    about = {"row": row.id, "repo": row.cluster, "language": row.language}
    place = common.out / "checkouts" / row.id
    shutil.rmtree(place, ignore_errors=True)
    try:
        check_out(common.clones.find(row.repo), row.base_commit, place)
        with Workspace(place) as workspace:
            started = time.perf_counter()
            record = workspace.index([ViewKind.GRAPH]).manifest.views[ViewKind.GRAPH]
            if record.status is not Status.FRESH:
                return {**about, "error": record.error}
            graph_s = time.perf_counter() - started
            view = GraphView(Store(locate(place).key).artifact(record.artifact))
            chosen = list(anchors(view, wanted))
            if not chosen:
                return {**about, "error": "the graph has no resolved reference", "graph_s": round(graph_s, 2)}
            _warm_up(workspace, chosen[0])
            for number, position in enumerate(chosen):
                for question in LIMITS:
                    key = f"{row.id}|{question}|{number}"
                    run.once("request", key, lambda: _request(workspace, question, position, about))  # noqa: B023
            return {
                **about,
                "graph_s": round(graph_s, 2),
                "positions": len(chosen),
                "counts": dict(record.counts),
            }
    except CodenibError as error:
        return {**about, "error": error.message}
    finally:
        shutil.rmtree(place, ignore_errors=True)


def anchors(view: GraphView, wanted: int) -> Iterator[Position]:
    """Evenly spaced positions among the sorted references to declarations of the repository."""
    inside = [
        number
        for number in np.unique(view.occurrence_defs).tolist()
        if number >= 0 and any(key < view.count for key in view.list_at(number))
    ]
    refers = (view.occurrence_roles & Role.DECLARATION) == 0
    files = np.searchsorted(view.first_occurrence, np.arange(len(refers)), side="right") - 1
    resolved = {each.group for each in view.about.groups if each.resolved}
    groups = [number for number, name in enumerate(view.groups) if name in resolved]
    good = refers & np.isin(view.occurrence_defs, inside) & np.isin(view.group_of[files], groups)
    kept, files = np.flatnonzero(good), files[good]
    if not len(kept):
        return
    for at in np.unique(np.linspace(0, len(kept) - 1, wanted).round().astype(int)).tolist():
        occurrence = int(kept[at])
        yield Position(
            view.paths[int(files[at])],
            int(view.occurrence_line[occurrence]) + 1,
            int(view.occurrence_column[occurrence]),
        )


def _warm_up(workspace: Workspace, position: Position) -> None:
    """Start the server and wait until it has loaded the project."""
    for _ in range(SETTLING):
        if "still loading" not in _ask(workspace, "definition", position, "live").backend:
            return


def _request(workspace: Workspace, question: Question, position: Position, about: Record) -> Record:
    """One position and question: both full answers, and the times where they match."""
    about = {**about, "question": question, "position": f"{position.path}:{position.line}:{position.column}"}
    try:
        static, live = _ask(workspace, question, position, "static"), _settled(workspace, question, position)
    except ProviderError as error:
        return {**about, "error": error.message}
    ours, theirs = _places(static), _places(live)
    limit = LIMITS[question]
    found: Record = {
        **about,
        "static": ours,
        "live": theirs,
        "match": navigation_match(ours, theirs),
        "limited": navigation_match(_places(static)[:limit], _places(live)[:limit]),
        "settled": "still loading" not in live.backend,
        "backends": [static.backend, live.backend],
        "granularity": static.granularity,
    }
    if found["limited"]:
        found["static_ms"] = _repeat(lambda: _ask(workspace, question, position, "static", limit))
        found["live_ms"] = _repeat(lambda: _ask(workspace, question, position, "live", limit))
    return found


def _settled(workspace: Workspace, question: Question, position: Position) -> NavigationAnswer:
    """The live answer once it is the same twice in a row."""
    last = _ask(workspace, question, position, "live")
    for _ in range(SETTLING):
        again = _ask(workspace, question, position, "live")
        if _places(again) == _places(last) and "still loading" not in again.backend:
            return again
        last = again
    return last


def _ask(
    workspace: Workspace,
    question: Question,
    position: Position,
    provider: Literal["static", "live"],
    limit: int | None = None,
) -> NavigationAnswer:
    ask = workspace.definition if question == "definition" else workspace.references
    return ask(position, provider=provider, limit=limit, refresh="never")


def _repeat(ask: Callable[[], object]) -> float:
    times = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        ask()
        times.append(time.perf_counter() - started)
    return round(1000 * median(times), 5)


def _places(answer: NavigationAnswer) -> list[tuple[str, int]]:
    return list(normalized((place.path, place.line) for place in answer.locations))


def category(record: Record) -> str:
    """How two answers differ."""
    ours, theirs = ({tuple(each) for each in record[name]} for name in ("static", "live"))
    if not ours or not theirs:
        return "static is empty" if not ours else "live is empty"
    if ours < theirs:
        return "static lacks places"
    if theirs < ours:
        return "static has more places"
    return "each has its own" if ours & theirs else "disjoint"


def _report(
    run: StudyRun, rows: Sequence[LocalizeRow], requests: Sequence[Record], figures: Path
) -> tuple[Report, Record]:
    report = Report(
        "Navigation: the static graph against live language servers",
        "At each position, *definition* and *references* (with the declaration) are asked twice: of the "
        "graph that was built once (static) and of the language server that an editor would run (live). The "
        "answers **match** when they name the same paths and start lines. Limited: both cut to the paper's "
        "provider limits (8 definitions, 40 references) after sorting. Where limited answers match, "
        "each request is "
        f"timed {REPEATS} times through the same call, and its median kept.",
        f"{len({each['row'] for each in requests})} of {len(rows)} snapshots, {len(requests)} requests. "
        "Positions are evenly spaced over the references that the graph knows, sorted by place: they do not "
        "stand for every place in an editor.",
    )
    failures = [each for each in run.records("snapshot") if "error" in each]
    if failures:
        run.missing.append(f"{len(failures)} of {len(rows)} snapshots could not be measured")
    errors = Counter(each["error"] for each in run.records("request") if "error" in each)
    report.left_out += [f"{each['row']}: {each['error']}" for each in failures]
    report.left_out += [f"{count} requests: {error}" for error, count in errors.items()]
    report.left_out += [
        "Start of the servers, loading of the graph and warming up: times are of a request after that.",
        "Requests whose answers differ have no latency here, and no speed-up is claimed for them.",
    ]
    rates = _rates(requests)
    if not requests:
        report.say("No request was answered by both providers.")
        return report, {"requests": 0, "rates": {}}
    heads = ["language", "question", "requests", "match", "limited", "static", "live", "live / static"]
    table_rows = [
        [
            language,
            question,
            len(found),
            _share(found, "match"),
            _share(found, "limited"),
            *_times(found),
        ]
        for (language, question), found in rates.items()
    ]
    report.table(heads, table_rows, "Times are medians over matching requests of each request's median.")
    _mismatches(report, requests)
    _figures(report, requests, figures)
    matched = [each for each in requests if "static_ms" in each]
    empty = sum(not each["static"] and not each["live"] for each in requests)
    report.certainty += [
        f"{len(requests)} requests; {empty} of them are empty on both sides and count as matches.",
        f"Live answers are asked until two in a row are equal; {sum(not e['settled'] for e in requests)} had "
        "not settled. Rates are of these positions; no interval is claimed beyond them.",
    ]
    ratio = median(e["live_ms"] / e["static_ms"] for e in matched) if matched else None
    summary: Record = {
        "requests": len(requests),
        "rates": {
            f"{language} {question}": [len(found), _share(found, "match"), _share(found, "limited")]
            for (language, question), found in rates.items()
        },
        "median_live_over_static": round(ratio, 2) if ratio else None,
        "categories": dict(Counter(category(each) for each in requests if not each["match"])),
    }
    return report, summary


def _rates(requests: Sequence[Record]) -> dict[tuple[str, str], list[Record]]:
    groups: dict[tuple[str, str], list[Record]] = {}
    for question in LIMITS:
        groups[("all", question)] = [each for each in requests if each["question"] == question]
    for language in sorted({each["language"] for each in requests}):
        for question in LIMITS:
            groups[(language, question)] = [
                each for each in requests if each["question"] == question and each["language"] == language
            ]
    return {key: found for key, found in groups.items() if found}


def _share(found: Sequence[Record], name: str) -> str:
    return f"{sum(each[name] for each in found) / len(found):.1%}"


def _times(found: Sequence[Record]) -> list[str | None]:
    timed = [each for each in found if "static_ms" in each]
    if not timed:
        return [None, None, None]
    ratio = median(each["live_ms"] / each["static_ms"] for each in timed)
    ours, theirs = (median(each[name] for each in timed) / 1000 for name in ("static_ms", "live_ms"))
    return [seconds(ours), seconds(theirs), f"{ratio:.1f}×"]


def _mismatches(report: Report, requests: Sequence[Record]) -> None:
    differing = [each for each in requests if not each["match"]]
    report.heading("Where they differ")
    if not differing:
        report.say("Nowhere: every request matches.")
        return
    rows = []
    for name, count in Counter(category(each) for each in differing).most_common():
        example = next(each for each in differing if category(each) == name)
        only = [
            ", ".join(f"{path}:{line}" for path, line in sorted(left - right)[:_SHOWN]) or "–"
            for left, right in _both_ways(example)
        ]
        where = f"{example['repo']} {example['position']} ({example['question']})"
        rows.append([name, count, where, *only])
    report.table(["category", "requests", "an example", "only static", "only live"], rows)


def _both_ways(record: Record) -> list[tuple[set[tuple[str, int]], set[tuple[str, int]]]]:
    ours, theirs = ({(path, line) for path, line in record[name]} for name in ("static", "live"))
    return [(ours, theirs), (theirs, ours)]


@optional_figure
def _figures(report: Report, requests: Sequence[Record], figures: Path) -> None:
    timed = [each for each in requests if "static_ms" in each]
    if not timed:
        return
    groups: dict[str, list[tuple[float, float]]] = {}
    for (language, question), found in _rates(requests).items():
        mine = [(each["static_ms"], each["live_ms"]) for each in found if "static_ms" in each]
        if mine and language != "all":
            groups[f"{language}, {question}\n{_share(found, 'limited')} match"] = mine
    drawn = canvas(2, width=4.4, height=max(2.6, 0.8 + 0.36 * len(groups)))
    pairs(drawn.panels[0], groups, ("static", "live"))
    drawn.panels[0].set_title("matching requests", loc="left")
    cumulative(
        drawn.panels[1],
        {"static": [e["static_ms"] for e in timed], "live": [e["live_ms"] for e in timed]},
    )
    drawn.panels[1].set_title(f"all {len(timed)} matching requests", loc="left")
    for axes in drawn.panels:
        axes.set_xlabel("milliseconds")
        with suppress(ValueError):
            plain_ticks(axes)
    drawn.legend(panel=1)
    drawn.save(figures, "static-live")
    report.figure(
        "static-live",
        "Latency of matching requests by language and question, and its distribution. Requests that differ, "
        "start, loading and warming up are not in it.",
    )

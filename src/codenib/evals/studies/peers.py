"""`codenib eval peers`: other tools on the same rows, scored by the same scorer, in one table."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean, median

import click

from codenib.core.errors import CodenibError, InputError
from codenib.evals.data.clones import check_out, git
from codenib.evals.data.rows import LocalizeRow, chosen_rows, digest_of, read_rows
from codenib.evals.metrics.scoring import block_recall, recall
from codenib.evals.options import StudyOptions, study_options
from codenib.evals.peers.absent import Absent
from codenib.evals.peers.bm25_files import Bm25Files
from codenib.evals.peers.ctags import Ctags
from codenib.evals.peers.own import Own
from codenib.evals.peers.peer import Peer, folder_mb
from codenib.evals.peers.ripgrep import Ripgrep
from codenib.evals.peers.semble import Semble
from codenib.evals.peers.zoekt import ZoektPeer
from codenib.evals.preparation import prepare
from codenib.evals.reports.drawing import canvas, operating_points, optional_figure
from codenib.evals.reports.report import Report, table
from codenib.evals.runs import Record, StudyRun
from codenib.serving.context.tokens import count
from codenib.units.languages import language_hint

K = 10
PEERS: tuple[Peer, ...] = (
    Own("hybrid"),
    Own("lexical"),
    Ripgrep(),
    Bm25Files(),
    Ctags(),
    ZoektPeer(),
    Semble(),
    Absent(
        "reference implementation",
        "no adapter yet: it fetches its parsers from the network when it first indexes",
    ),
    Absent("Serena", "it answers navigation, not localization; the navigation study has live servers"),
)


@click.command("peers")
@study_options()
@click.option("--peer", "names", multiple=True, help="Only peers whose name holds this.")
def command(common: StudyOptions, names: tuple[str, ...]) -> None:
    """Other tools on the same rows and repositories, by the same scorer."""
    assert common.rows is not None
    rows = chosen_rows(
        read_rows(common.rows, LocalizeRow), repos=common.repos, limit=common.limit, per_repo=common.per_repo
    )
    chosen = [peer for peer in PEERS if not names or any(name in peer.name for name in names)]
    if not chosen:
        raise InputError(f"no peer {', '.join(names)}", hint="; ".join(peer.name for peer in PEERS))
    lacking = {peer.name: why for peer in chosen if (why := peer.missing())}
    running = [peer for peer in chosen if peer.name not in lacking]
    settings = common.settings(rows=digest_of(rows), peers=[peer.name for peer in running])
    missing = [
        *(f"{name}: {why}" for name, why in lacking.items()),
        *prepare(common, rows, figures=len(running) > 1).missing,
    ]
    run = StudyRun(common.out, "peers", settings, missing)
    for done, row in enumerate(rows, 1):
        if any(_key(row, peer) not in run for peer in running):
            _row(common, run, row, running)
            common.note(f"{done}/{len(rows)} rows; {row.cluster}")
    records = [each for each in run.records("peer") if "error" not in each]
    errors = [each for each in run.records("peer") if "error" in each]
    versions = {peer.name: peer.version() for peer in running}
    report, summary = _report(
        rows, records, errors=errors, versions=versions, lacking=lacking, figures=common.out / "figures"
    )
    shown = [[name, *cells] for name, cells in summary["table"].items()]
    common.finish(run, summary, report, table(_HEADS, shown))


def _key(row: LocalizeRow, peer: Peer) -> str:
    return f"{row.id}|{peer.name}"


def _row(common: StudyOptions, run: StudyRun, row: LocalizeRow, peers: Sequence[Peer]) -> None:
    place = common.out / "checkouts" / row.id
    shutil.rmtree(place, ignore_errors=True)
    try:
        check_out(common.clones.find(row.repo), row.base_commit, place)
        for peer in peers:
            if _key(row, peer) in run:
                continue
            about = {"row": row.id, "repo": row.cluster, "language": row.language, "peer": peer.name}
            state = (common.out / "states" / row.id).absolute()
            shutil.rmtree(state, ignore_errors=True)
            state.mkdir(parents=True)
            try:
                run.add("peer", _key(row, peer), {**about, **_measure(peer, row, place.absolute(), state)})
            except CodenibError as error:
                # Records go into reports, which carry no machine's paths.
                said = re.sub(r"(/[\w.+-]+)+/", "…/", " ".join(error.message.split()))
                run.add("peer", _key(row, peer), {**about, "error": said[-200:]})
            finally:
                shutil.rmtree(state, ignore_errors=True)
                git(place, "checkout-index", "-a", "-f", "-q")
    except CodenibError as error:
        common.note(f"{row.id}: {error.message}")
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _measure(peer: Peer, row: LocalizeRow, checkout: Path, state: Path) -> Record:
    """Build, ask, edit one file, update; quality is of the state before the edit."""
    built = peer.build(checkout, state)
    disk = folder_mb(state)
    found = peer.ask(checkout, state, row.query, K)
    warm = [peer.ask(checkout, state, row.query, K).seconds for _ in range(2)]
    updated = None
    if edited := _edit(checkout):
        started = time.perf_counter()
        peer.update(checkout, state)
        updated = time.perf_counter() - started
    files = [block.path for block in found.blocks]
    symbols = [block for block in found.blocks if block.level != "L0"]
    return {
        "build_s": round(built.seconds, 4),
        "update_s": round(updated, 4) if updated is not None else None,
        "edited": edited,
        "query_s": round(median(warm), 4),
        "memory_mb": round(max(built.memory_mb, found.memory_mb), 1),
        "disk_mb": round(disk, 3),
        "tokens": count(found.text),
        "file_recall": recall(files, row.gold_files, K),
        "symbol_recall": block_recall(symbols, row.targets, K) if row.targets and symbols else None,
        "places": [[block.path, block.start_line, block.end_line] for block in found.blocks[: 2 * K]],
    }


def _edit(checkout: Path) -> str:
    """Append a comment to the first source file; its name."""
    listed = git(checkout, "ls-files", "-z").stdout.split("\0")
    marks = {"python": "#", "go": "//", "rust": "//", "c": "//", "cpp": "//", "javascript": "//"}
    for name in sorted(filter(None, listed)):
        mark = marks.get(language_hint(name))
        if mark and (checkout / name).is_file() and not (checkout / name).is_symlink():
            with (checkout / name).open("a") as out:
                out.write(f"\n{mark} edited by the study\n")
            return name
    return ""


_HEADS = [
    *("tool", "File Recall@10", "Symbol Recall@10", "build s", "update s"),
    *("query s", "memory MB", "disk MB", "tokens"),
]


def _report(
    rows: Sequence[LocalizeRow],
    records: Sequence[Record],
    *,
    errors: Sequence[Record],
    versions: dict[str, str],
    lacking: dict[str, str],
    figures: Path,
) -> tuple[Report, Record]:
    report = Report(
        "Peers: other tools on the same rows",
        "Every tool gets the same checkout and the same issue text, and its first ten results are "
        "scored by the "
        "same scorer. **Build**: from nothing. **Update**: after a line was added to one file; tools without "
        "one build again. **Query**: a whole process per question, its start included, the median of "
        "two after "
        "a first. **Memory**: the largest resident size seen of its main process. **Tokens**: of the "
        "ten results "
        "as lines, "
        "by our own tokenizer. Tools that search for words get the issue's identifiers, the same for all.",
        f"{len({each['row'] for each in records})} of {len(rows)} rows, "
        f"{len({each['repo'] for each in records})} repositories. Versions: "
        f"{'; '.join(f'{name} {version}' for name, version in versions.items())}.",
    )
    report.left_out += [f"{name}: not run, {why}." for name, why in lacking.items()]
    failed: dict[str, list[Record]] = {}
    for each in errors:
        failed.setdefault(each["peer"], []).append(each)
    report.left_out += [
        f"{name}: failed on {len(found)} rows, first: {found[0]['error']}" for name, found in failed.items()
    ]
    report.left_out.append("Tuning of the peers: they run with their defaults, and one adapter each.")
    groups: dict[str, list[Record]] = {}
    for each in records:
        groups.setdefault(each["peer"], []).append(each)
    order = [name for name in versions if name in groups]
    cells = {name: _cells(groups[name]) for name in order}
    report.table(
        _HEADS, [[name, *each] for name, each in cells.items()], "Averages of recall, medians of costs."
    )
    if len(order) > 1:
        _draw(report, {name: groups[name] for name in order}, figures)
    report.certainty.append("Few rows: read differences as hints. Times are of one machine and one run.")
    return report, {"table": cells, "not_run": lacking, "errors": len(errors)}


@optional_figure
def _draw(report: Report, groups: Mapping[str, Sequence[Record]], figures: Path) -> None:
    drawn = canvas(1, width=5.4, height=3.4)
    points = {
        name: (1000 * median(e["query_s"] for e in found), mean(e["file_recall"] for e in found))
        for name, found in groups.items()
    }
    operating_points(drawn.panels[0], points, {name: at for at, name in enumerate(groups)})
    drawn.panels[0].set_xlabel("median query, process start included (ms)")
    drawn.panels[0].set_ylabel("File Recall@10")
    drawn.legend(columns=3)
    drawn.save(figures, "peers")
    report.figure("peers", "File recall against the time of a question.")


def _cells(found: Sequence[Record]) -> list[str | None]:
    symbols = [each["symbol_recall"] for each in found if each["symbol_recall"] is not None]
    updates = [each["update_s"] for each in found if each["update_s"] is not None]
    return [
        f"{mean(each['file_recall'] for each in found):.3f}",
        f"{mean(symbols):.3f}" if symbols else None,
        f"{median(each['build_s'] for each in found):.2f}",
        f"{median(updates):.2f}" if updates else None,
        f"{median(each['query_s'] for each in found):.2f}",
        f"{median(each['memory_mb'] for each in found):.0f}",
        f"{median(each['disk_mb'] for each in found):.1f}",
        f"{median(each['tokens'] for each in found):.0f}",
    ]

"""`codenib eval dataset`: git histories in, localization rows with a quality report out."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from statistics import median
from typing import Literal

import click
import msgspec

from codenib.core.errors import InputError
from codenib.evals.data.history_rows import Rejected, RowQuality, check_rows, row_of, rows_of
from codenib.evals.data.synthesis import BUDGET, synthesize
from codenib.evals.options import StudyOptions, study_options
from codenib.evals.reports.report import Report, table
from codenib.evals.runs import Record, StudyRun
from codenib.learning.rows import MOST_BLOCKS, MOST_FILES


class _Issue(msgspec.Struct):
    """A question from an issue tracker, the commit that fixed it, and the commit that it was asked at."""

    repo: str
    query: str
    fix: str
    base_commit: str = ""


@click.command("dataset")
@study_options(rows=False)
@click.option("--kind", type=click.Choice(["base", "synthesis"]), default="base", show_default=True)
@click.option("--at", "revision", default="HEAD", show_default=True, help="The newest commit to look at.")
@click.option(
    "--issues", type=click.Path(path_type=Path), help="JSON Lines of {repo, query, fix, base_commit}."
)
def command(
    common: StudyOptions, kind: Literal["base", "synthesis"], revision: str, issues: Path | None
) -> None:
    """Make localization rows from git histories: `--repo` names clones, paths or URLs."""
    asked = _issues(issues) if issues else []
    repos = common.repos or tuple(dict.fromkeys(issue.repo for issue in asked))
    if not repos:
        raise InputError("no repository is named", hint="--repo OWNER/NAME, or --issues FILE")
    wanted = common.per_repo or common.limit or 20
    run = StudyRun(
        common.out, "dataset", common.settings(kind=kind, at=revision, issues=len(asked), wanted=wanted)
    )
    quality, wrong, rows = RowQuality(), [], []
    for repo in repos:
        clone = common.clones.find(repo)
        name = repo if "://" not in repo and not Path(repo).is_absolute() else clone.name
        if asked:
            mine = _from_issues(asked, repo, clone, quality)
        elif kind == "base":
            here = RowQuality()
            mine = list(rows_of(clone, name, revision, wanted, here))
            _add(quality, here)
        else:
            mine = synthesize(clone, name, revision, common.seed)[:wanted]
            quality.rows += len(mine)
        wrong += check_rows(mine, clone)
        rows += mine
        common.note(f"{repo}: {len(mine)} rows")
    rows = rows[: common.limit]
    for row in rows:
        run.once("row", row["id"], lambda: row)  # noqa: B023 - called at once
    run.write("rows.jsonl", "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    report, summary = _report(rows, quality, wrong, kind)
    shown = table(["language", "rows"], Counter(row["language"] for row in rows).most_common())
    common.finish(run, summary, report, f"{shown}\n\n{run.folder / 'rows.jsonl'}")


def _issues(file: Path) -> list[_Issue]:
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
        return [msgspec.json.decode(line, type=_Issue) for line in lines if line.strip()]
    except (OSError, msgspec.DecodeError) as error:
        raise InputError(f"{file}: {error}", hint="JSON Lines of {repo, query, fix, base_commit}") from error


def _from_issues(issues: list[_Issue], repo: str, clone: Path, quality: RowQuality) -> list[Record]:
    rows = []
    for issue in issues:
        if issue.repo != repo:
            continue
        quality.commits += 1
        try:
            rows.append(row_of(clone, repo, issue.fix, quality, asked=issue.query, base=issue.base_commit))
            quality.rows += 1
        except Rejected as reason:
            quality.rejected[str(reason)] += 1
    return rows


def _add(total: RowQuality, more: RowQuality) -> None:
    total.commits += more.commits
    total.rows += more.rows
    total.moved += more.moved
    total.rejected.update(more.rejected)


def _report(rows: list[Record], quality: RowQuality, wrong: list[str], kind: str) -> tuple[Report, Record]:
    base = (
        "A row is a commit's message (or an issue's text) with the files and functions that the "
        "commit changed, "
        "as they stood before it. A function is a target when a hunk touches its lines and its text "
        "changed, or "
        "when it is gone. Added files and functions, tests, vendored and generated files are no targets."
    )
    synthesis = (
        "A row asks for a function by what its own documentation says of it, with a hint or without. "
        "The text is "
        "the project's, cut to a sentence; no language model wrote or judged it. "
        "Kinds and their number per snapshot: "
        f"{', '.join(f'{name} {count}' for name, count in BUDGET.items())}."
    )
    report = Report(
        f"Rows made from git histories ({kind})",
        base if kind == "base" else synthesis,
        f"{len(rows)} rows of {len({row['repo'] for row in rows})} repositories.",
    )
    blocks = [len(row["gold_blocks"]) for row in rows]
    if rows:
        report.table(
            ["rows", "languages", "median words of a query", "targets per row (median, most)"],
            [
                [
                    len(rows),
                    ", ".join(f"{k} {v}" for k, v in Counter(row["language"] for row in rows).most_common()),
                    f"{median(len(row['query'].split()) for row in rows):.0f}",
                    f"{median(blocks):.0f}, {max(blocks)}",
                ]
            ],
        )
    if quality.rejected:
        report.heading("Commits that make no row")
        report.table(["reason", "commits"], quality.rejected.most_common())
    report.heading("Checks")
    report.say(
        f"{len(wrong)} errors: duplicate ids, empty targets, targets outside the snapshot or language."
    )
    report.say(*(f"- {line}" for line in wrong[:20]))
    if quality.moved:
        report.say(
            f"{quality.moved} targets stand on other lines in the question's commit and were found again."
        )
    report.certainty.append(
        "Deterministic: the same history gives the same rows. Edited functions stand for what is "
        "useful to know; "
        "they need not be all of it."
    )
    report.left_out += [
        f"Commits with more than {MOST_FILES} source files or {MOST_BLOCKS} functions.",
        "Difficulty strata and the judging of questions, which the paper gives to a language model.",
    ]
    if kind == "synthesis":
        report.left_out.append("Reasoning and traversal questions: they need a model or a graph.")
    return report, {
        "rows": len(rows),
        "seen": quality.commits,
        "rejected": dict(quality.rejected),
        "moved": quality.moved,
        "errors": wrong,
    }

"""What every study is asked: rows, clones, where to write; and how it ends."""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from codenib.adapters.cli.options import as_json
from codenib.evals.data.clones import Clones
from codenib.evals.environment import load
from codenib.evals.reports.report import Report
from codenib.evals.runs import StudyRun

_PATH = click.Path(path_type=Path)


@dataclass(frozen=True, slots=True)
class StudyOptions:
    """The options that all studies share."""

    rows: Path | None
    mirror: Path | None
    out: Path
    home: Path | None
    repos: tuple[str, ...]
    limit: int | None
    per_repo: int | None
    seed: int
    partial: bool
    json_output: bool

    @property
    def clones(self) -> Clones:
        return Clones(self.mirror, self.out / "clones")

    def note(self, text: str) -> None:
        """Tell a person how far it is; standard output stays for the result."""
        click.echo(text, err=True)

    def settings(self, **more: object) -> dict[str, object]:
        """What decides the result and so must not change between the parts of one run."""
        return {
            "repos": list(self.repos),
            "limit": self.limit,
            "per_repo": self.per_repo,
            "seed": self.seed,
            **more,
        }

    def finish(self, run: StudyRun, summary: Mapping[str, object], report: Report, shown: str) -> None:
        """Write the summary and the report; print the one or where the other is."""
        report.missing = run.missing
        whole = {
            "study": run.header["study"],
            "missing": run.missing,
            "simulated": bool(report.warning),
            **summary,
        }
        if report.warning:
            whole["warning"] = report.warning
        report.certainty.append(
            f"Load of the machine at the end: {load()}; more than one per core stretches times."
        )
        run.finish(whole, report.markdown(run.header, command_line()))
        if self.json_output:
            click.echo(json.dumps(whole, ensure_ascii=False))
            return
        for line in (report.missing_line, report.warning):
            if line:
                click.echo(line)
        click.echo(f"{shown}\n\n{run.folder / 'report.md'}")


def study_options(*, rows: bool = True) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add the shared options to a command, which receives them as one `StudyOptions`."""
    options = [
        click.option("--mirror", type=_PATH, help="A folder of bare clones: OWNER+NAME/repo, or NAME."),
        click.option("--out", type=_PATH, required=True, help="The run folder; an old one is continued."),
        click.option("--home", type=_PATH, help="Where views are built (default: in the run folder, cold)."),
        click.option("--repo", "repos", multiple=True, help="Only repositories whose name holds this."),
        click.option("--limit", type=click.IntRange(1), help="At most so many rows."),
        click.option("--per-repo", type=click.IntRange(1), help="At most so many rows of a repository."),
        click.option("--seed", default=1, show_default=True, help="Of samples and bootstrap draws."),
        click.option(
            "--partial", is_flag=True, help="Measure although engines are missing; the report says so."
        ),
        as_json,
    ]
    if rows:
        options.insert(0, click.option("--rows", type=_PATH, required=True, help="The rows, JSON Lines."))

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(function)
        def call(**given: Any) -> None:
            shared = {name: given.pop(name, None) for name in StudyOptions.__dataclass_fields__}
            function(StudyOptions(**shared), **given)

        for option in reversed(options):
            call = option(call)
        return call

    return decorate


def command_line() -> str:
    """The command as typed, with folders shortened to their names: reports carry no machine's paths."""
    words = sys.argv[1:]
    name = "codenib eval"
    if words and words[0] in ("eval", "flywheel"):
        name, words = f"codenib {words[0]}", words[1:]
    shown = [Path(word).name if "/" in word and Path(word).is_absolute() else word for word in words]
    return " ".join([name, *(f"'{word}'" if " " in word else word for word in shown)])

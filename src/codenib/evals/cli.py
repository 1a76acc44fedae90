"""`codenib eval STUDY …`: the list of studies; a study's module is imported when it runs."""

from __future__ import annotations

from importlib import import_module

import click

#: study → (module below `studies`, line in the overview)
STUDIES = {
    "retrieval": ("retrieval.command", "Ranked search: recall, success, latency, build time (Q1)."),
    "ann": ("ann", "Dense views: build scaling, Flat against IVF and HNSW (Q2)."),
    "navigation": ("navigation", "Static against live definitions and references (Q3)."),
    "maintenance": ("maintenance.command", "Updates against rebuilds, and whether they are equal (Q4)."),
    "lifecycle": ("lifecycle", "Materialize, load and serve a trace of 42 requests."),
    "context": ("context.command", "Context policies: tokens against answers (Q5)."),
    "dataset": ("dataset", "Make localization rows from git histories."),
    "peers": ("peers", "Other tools on the same rows, by the same scorer."),
    "compare": ("compare", "Check that two runs of a study gave the same answers."),
}


class StudyGroup(click.Group):
    """Imports only the study that is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(STUDIES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in STUDIES:
            return None
        module = import_module(f"codenib.evals.studies.{STUDIES[cmd_name][0]}")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Studies"):
            formatter.write_dl([(name, line) for name, (_, line) in STUDIES.items()])


@click.group("eval", cls=StudyGroup)
def cli() -> None:
    """Measure CodeNib on your own repositories, as the paper does.

    \b
    codenib eval retrieval --rows ROWS.jsonl --mirror CLONES --out runs/retrieval

    Each run folder holds the measurements, a report and figures, and is continued when it is given again.
    """

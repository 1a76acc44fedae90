"""`codenib eval STUDY …`: the list of studies; a study's module is imported when it runs."""

from __future__ import annotations

import click

from codenib.adapters.cli.lazy import LazyCommand, LazyGroup, command_in

#: study → (module below `studies`, line in the overview)
STUDIES = {
    "retrieval": ("retrieval.command", "Ranked search: recall, success, latency, build time (Q1)."),
    "questions": ("questions", "Short questions: NDCG on semble's public benchmark."),
    "ann": ("ann.command", "Dense views: build scaling, Flat against IVF and HNSW (Q2)."),
    "navigation": ("navigation", "Static against live definitions and references (Q3)."),
    "maintenance": ("maintenance.command", "Updates against rebuilds, and whether they are equal (Q4)."),
    "lifecycle": ("lifecycle.command", "Materialize, load and serve a trace of 42 requests."),
    "context": ("context.command", "Context policies: tokens against answers (Q5)."),
    "dataset": ("dataset", "Make localization rows from git histories."),
    "peers": ("peers", "Other tools on the same rows, by the same scorer."),
    "compare": ("compare", "Check that two runs of a study gave the same answers."),
}


@click.group(
    "eval",
    cls=LazyGroup,
    lazy={
        name: LazyCommand(about, command_in(f"codenib.evals.studies.{module}", "command"))
        for name, (module, about) in STUDIES.items()
    },
    section="Studies",
)
def cli() -> None:
    """Measure CodeNib on your own repositories, as the paper does.

    \b
    codenib eval retrieval --rows ROWS.jsonl --mirror CLONES --out runs/retrieval

    Each run folder holds the measurements, a report and figures, and is continued when it is given again.
    """

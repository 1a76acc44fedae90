"""`codenib …` and `python -m codenib …`: the commands of the adapters; `eval` and `flywheel` above them."""

from __future__ import annotations

import click

from codenib.adapters.cli.lazy import LazyCommand
from codenib.adapters.cli.main import cli, run


def main() -> None:
    """Run the command line."""
    about = "Measure this product on repositories of yours, as the paper does."
    cli.lazy["eval"] = LazyCommand(about, _evaluations)
    about = "Learn policies from runs on repositories, round by round, and measure them."
    cli.lazy["flywheel"] = LazyCommand(about, _flywheel)
    run()


def _evaluations() -> click.Command:
    from codenib.evals.cli import cli as evaluations

    return evaluations


def _flywheel() -> click.Command:
    from codenib.evals.flywheel.command import command

    return command


if __name__ == "__main__":
    main()

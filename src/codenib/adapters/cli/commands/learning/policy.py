"""`codenib policy`: which learned policies decide for this repository; to use one, and to drop it."""

from __future__ import annotations

import time
from pathlib import Path

import click

from codenib.adapters.cli.options import as_json
from codenib.adapters.cli.output import print_json, say
from codenib.adapters.envelopes.envelope import whole
from codenib.learning.policies.activation import (
    KINDS,
    PolicyItem,
    activate_policy,
    active_policies,
    drop_policy,
)


@click.group()
def policy() -> None:
    """Use policies that `codenib flywheel` learned, for this repository alone. None is active by default."""


@policy.command()
@as_json
@click.pass_obj
def show(repository: str, json_output: bool) -> None:
    """Show which policies decide, and what they were measured to do."""
    _print(repository, json_output)


@policy.command()
@click.argument("file", type=click.Path(path_type=Path))
@as_json
@click.pass_obj
def use(repository: str, file: Path, json_output: bool) -> None:
    """Let the policy of FILE decide; one that did not win on its replay is refused."""
    activate_policy(repository, file)
    _print(repository, json_output)


@policy.command()
@click.argument("decision", type=click.Choice(KINDS))
@as_json
@click.pass_obj
def drop(repository: str, decision: str, json_output: bool) -> None:
    """Let the rules decide again."""
    if not drop_policy(repository, next(kind for kind in KINDS if kind == decision)):
        say(f"no {decision} policy was active")
    _print(repository, json_output)


def _print(repository: str, json_output: bool) -> None:
    started = time.perf_counter()
    items = tuple(active_policies(repository))
    if json_output:
        print_json(whole(items, "policies", time.perf_counter() - started))
        return
    for item in items:
        click.echo(f"{item.decision}: {item.model or 'no model, the rules decide'}")
        for line in _lines(item):
            click.echo(click.style(f"  {line}", dim=True))


def _lines(item: PolicyItem) -> list[str]:
    if item.problem:
        return [f"not used: {item.problem}"]
    card = item.card
    if not item.model:
        return []
    gain, ratio = card.get("gain") or {}, card.get("cost_ratio") or {}
    return [
        f"{card.get('reward')} {gain.get('value', 0.0):+.3f} [{gain.get('low', 0.0):+.3f}, "
        f"{gain.get('high', 0.0):+.3f}], {ratio.get('value', 1.0):.2f} of the {card.get('cost')} on "
        f"{card.get('replayed_rows')} rows that it did not learn from",
        f"learned from {card.get('decisions')} decisions; active since {card.get('activated')}",
    ]

"""What an update of the graph did, for people: groups, files, reasons, and each declaration's fate."""

from __future__ import annotations

from collections import Counter

import click

from codenib.core.updates import FOLLOWED, UNCHANGED, GraphUpdate, GroupUpdate, SymbolChange

_SHOWN = 12
_COLOURS = {"deleted": "red", "added": "green", "affected": "yellow"}


def print_update(update: GraphUpdate | None) -> None:
    """Write the explanation of an update; says so when there is none."""
    if update is None:
        click.echo("  graph: built from nothing, so there is nothing to explain")
        return
    for group in update.groups:
        _print_group(group)
    _print_symbols(update.symbols)
    for path in update.broken:
        broken = click.style("does not parse", fg="yellow")
        click.echo(f"  {path} {broken}: its facts are what the engine reads of it")
    for path in update.stale:
        broken = click.style("does not parse", fg="yellow")
        click.echo(f"  {path} {broken}: its facts stay those of its last readable text")


def _print_group(group: GroupUpdate) -> None:
    if group.how == UNCHANGED:
        click.echo(f"  {group.group}: kept, {group.files:,} files; nothing that its engine reads has changed")
        return
    if group.how != FOLLOWED:
        rebuilt = click.style("rebuilt", fg="yellow")
        click.echo(f"  {group.group}: {rebuilt}, {group.files:,} files: {group.why}")
        return
    start = f"engine started in {group.start_s:.2f} s" if group.start_s else "engine was up"
    files = f"derived {len(group.rederived):,} of {group.files:,} files in {group.seconds:.2f} s"
    click.echo(f"  {group.group}: {files}, {start}; {group.confidence}")
    done = f"{group.requests:,} requests, {group.resolved:,} occurrences resolved"
    click.echo(f"    {done}, {group.moved:,} taken over")
    if group.names:
        named = ", ".join(group.names[:_SHOWN]) + (", …" if len(group.names) > _SHOWN else "")
        click.echo(f"    mean something else to other files: {named}")
    for each in group.rederived[:_SHOWN]:
        click.echo(f"    {each.path}: {each.why}")
    if len(group.rederived) > _SHOWN:
        click.echo(f"    … and {len(group.rederived) - _SHOWN:,} more")


def _print_symbols(symbols: list[SymbolChange]) -> None:
    for path in sorted({each.path for each in symbols}):
        own = [each for each in symbols if each.path == path]
        counts = Counter(each.change for each in own)
        summary = ", ".join(f"{counts[change]} {change}" for change in sorted(counts))
        click.echo(f"  {path}: {summary}")
        told = [each for each in own if each.change not in ("unchanged", "shifted")]
        moved = [each for each in own if each.change == "shifted"]
        for each in [*told, *moved][:_SHOWN]:
            change = click.style(f"{each.change:<9}", fg=_COLOURS.get(each.change))
            by = f" by {each.by:+d}" if each.change == "shifted" else ""
            click.echo(f"    {change} {each.kind:<8} {each.symbol}  line {each.line}{by}")
        if len(told) + len(moved) > _SHOWN:
            click.echo(f"    … and {len(told) + len(moved) - _SHOWN:,} more")

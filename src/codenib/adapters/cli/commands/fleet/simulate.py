"""The command `codenib fleet simulate`: recorded calls in, what policies would make of more of them out."""

from __future__ import annotations

from pathlib import Path

import click

from codenib.adapters.cli.output import say

_LOADS = (1, 10, 100)


@click.command()
@click.option("--trace", type=click.Path(path_type=Path), help="A recorded trace (default: the audit log).")
@click.option(
    "--record", type=click.Path(path_type=Path), help="Write the audit log's trace here, without names."
)
@click.option(
    "--load", "loads", multiple=True, type=click.IntRange(1), help="Times the recorded load (1, 10, 100)."
)
@click.option(
    "--repositories", type=click.IntRange(1), default=10_000, show_default=True, help="Of the whole fleet."
)
@click.option(
    "--skew",
    type=click.FloatRange(0, 3),
    default=1.0,
    show_default=True,
    help="Assumed of further repositories: the n-th is asked n ** -SKEW as often as the first.",
)
@click.option(
    "--patience",
    type=float,
    default=10.0,
    show_default=True,
    help="Seconds that a call may wait.",
)
@click.option("--memory-mb", type=float, default=2000.0, show_default=True, help="For open repositories.")
@click.option("--slots", type=click.IntRange(1), default=4, show_default=True, help="Calls that run at once.")
@click.option(
    "--most-calls",
    type=click.IntRange(100),
    default=20_000,
    show_default=True,
    help="Replayed at each scale: of a long trace the beginning.",
)
def simulate(
    trace: Path | None,
    record: Path | None,
    loads: tuple[int, ...],
    repositories: int,
    skew: float,
    patience: float,
    memory_mb: float,
    slots: int,
    most_calls: int,
) -> None:
    """Show latency, memory and hit rate of the server's policies under more load and more repositories.

    Costs are those of recorded calls, by the audit log of `codenib serve` or a trace of it. More load is more
    of the same, spread at random. Edits and builds are not simulated.
    """
    from codenib.fleet.scheduler.measured import recorded_trace
    from codenib.fleet.scheduler.simulate import Machine, SimulatedPolicy
    from codenib.fleet.scheduler.simulate import simulate as replay
    from codenib.fleet.scheduler.trace import Scale, grown, read_trace, write_trace

    calls = read_trace(trace) if trace else recorded_trace()
    if record is not None:
        write_trace(calls, record)
        say(f"{len(calls.calls):,} calls of {len(calls.repositories)} repositories are in {record}")
    machine = Machine(slots, memory_mb * 1e6, patience)
    policies = [
        SimulatedPolicy(),
        SimulatedPolicy(order="fifo"),
        SimulatedPolicy(eviction="lru"),
        SimulatedPolicy(eviction="lfu"),
        SimulatedPolicy(sheds=False),
    ]
    scales = [(load, None) for load in loads or _LOADS] + [(1, repositories), (100, repositories)]
    span = f"{len(calls.calls):,} calls in {calls.seconds:.0f} s of {len(calls.repositories)} repositories"
    click.echo(f"recorded: {span}; {slots} slots, {memory_mb:.0f} MB")
    heads = f"{'load':>5} {'repos':>7}  {'policy':34} {'p50':>11} {'p99':>11} {'lightest':>11}"
    click.echo(f"{heads} {'hits':>6} {'opening':>8} {'MB':>6} {'busy':>5} cheaper refused {'calls':>7}")
    replays = (
        (load, bigger, policy)
        for load, count in scales
        for bigger in [grown(calls, Scale(load, count, skew, most_calls))]
        for policy in policies
    )
    for load, bigger, policy in replays:
        came = replay(bigger, policy, machine)
        least = min(came.tenants_p99_s.values(), default=0.0)
        p50, p99, best = (f"{1e3 * each:.1f}ms" for each in (came.p50_s, came.p99_s, least))
        click.echo(
            f"{load:>4}x {len(bigger.repositories):>7,}  {policy!s:34} {p50:>11} {p99:>11} {best:>11}"
            f" {came.hit_rate:>6.1%} {1e3 * came.opening_s:>6.1f}ms"
            f" {came.most_bytes / 1e6:>6.0f} {came.busy:>5.0%}"
            f" {came.cheaper / came.calls:>7.1%} {came.refused / came.calls:>7.1%} {came.calls:>7,}"
        )
    say("lightest: the p99 of the tenant that fared best: where turns are fair, of who asks least")
    say("opening: what a call spent on it, on average")

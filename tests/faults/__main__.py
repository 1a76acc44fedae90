"""Every write step of commands × every fault: `python -m tests.faults [--share N] [--all] COMMAND...`.

Each step of a command has each fault that a disk can do to it. With `--share N` a step has one in N of them,
another one than its neighbours. Steps that repeat one call on one file are tried at the first and the last,
unless `--all`.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.faults.injector import KINDS, Injector, Step
from tests.faults.scenarios import SCENARIOS, Place, Scenario


def trials(steps: list[Step], share: int, *, every: bool) -> Iterator[tuple[str, Step]]:
    """The faults to try."""
    for at, step in enumerate(steps):
        near = [other.place for other in (*steps[max(at - 1, 0) : at], *steps[at + 1 : at + 2])]
        if not every and near == [step.place, step.place]:
            continue
        for number, kind in enumerate(KINDS):
            if (at + number) % share == 0 and step.can_be(kind):
                yield kind, step


def try_all(scenario: Scenario, base: Path, share: int, *, every: bool) -> int:
    """Try a scenario; how many trials had a problem."""
    place = Place(base)
    scenario.prepare(place)
    place.save()
    injector = Injector(place.root, base)
    whole = scenario.run(place, injector)
    problems = list(scenario.problems(place, whole, "none"))
    assert whole.code in (0, 130), f"{scenario.name} fails without a fault: {whole.out}{whole.err}"
    assert not problems, f"{scenario.name} has problems without a fault: {problems}"
    print(f"{scenario.name}: {len(whole.steps)} write steps", flush=True)
    started, wrong, ends = time.monotonic(), 0, Counter[str]()
    for kind, step in trials(whole.steps, share, every=every):
        ended = scenario.run(place, injector, (kind, step.number))
        if len(ended.steps) < step.number:
            ends["not reached"] += 1
            continue
        ends[f"{kind}: {ended.code}"] += 1
        problems = list(scenario.problems(place, ended, kind))
        wrong += bool(problems)
        for problem in problems:
            print(
                f"{scenario.name} {kind} at {step.number} {ended.steps[step.number - 1].place}: {problem}",
                flush=True,
            )
    tried = sum(count for what, count in ends.items() if what != "not reached")
    seconds = time.monotonic() - started
    print(
        f"{scenario.name}: {tried} faults, {wrong} with problems, {seconds:.0f} s; {dict(ends)}", flush=True
    )
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commands", nargs="*", choices=[*SCENARIOS, []])
    parser.add_argument("--share", type=int, default=1)
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    wrong = 0
    for name in options.commands or SCENARIOS:
        base = Path(tempfile.mkdtemp(prefix="codenib-faults-", dir=_memory()))  # no forked process removes it
        try:
            wrong += try_all(SCENARIOS[name], base, options.share, every=options.all)
        finally:
            shutil.rmtree(base, ignore_errors=True)
    return 1 if wrong else 0


def _memory() -> Path | None:
    """A disk in memory, where there is one: a trial flushes some hundred files."""
    shared = Path("/dev/shm")
    return shared if shared.is_dir() and shutil.disk_usage(shared).free > 1 << 30 else None


if __name__ == "__main__":
    sys.exit(main())

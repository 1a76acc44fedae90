"""Make and ask the hostile corpus: `python -m tests.hostile.corpus [--only TEXT] [--sample N] [--make DIR]`.

Without options every case is made, asked and removed; exit 1 when one did what it must not. `--make` only
makes the repositories, in folders below DIR, to look at or to give to another program.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

from tests.hostile.corpus.case import Case, Place
from tests.hostile.corpus.catalogue import CASES
from tests.hostile.corpus.run import Outcome, clear_caches, run_case, run_in_temporary


def sample(count: int, seed: int) -> list[Case]:
    """Cases of as many families as can be, the same for the same seed."""
    random = Random(seed)
    families = {case.family: [each for each in CASES if each.family == case.family] for case in CASES}
    shuffled = [random.sample(cases, len(cases)) for cases in families.values()]
    random.shuffle(shuffled)
    rounds = [cases[at] for at in range(max(map(len, shuffled))) for cases in shuffled if at < len(cases)]
    return rounds[:count]


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.hostile.corpus")
    parser.add_argument("--only", default="", help="cases whose name has this text")
    parser.add_argument("--sample", type=int, default=0, help="so many cases, some of every family")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--make", type=Path, help="only make the repositories, below this folder")
    parser.add_argument("--keep", type=Path, help="ask, and leave everything below this folder")
    options = parser.parse_args(arguments)
    cases = [case for case in CASES if options.only in case.name]
    if options.sample:
        cases = [case for case in sample(options.sample, options.seed) if case in cases]
    if options.make:
        return _make(cases, options.make)
    with ThreadPoolExecutor(options.jobs) as threads:
        outcomes = list(threads.map(lambda case: _attempt(case, options.keep), cases))
    clear_caches()
    return _summarize(outcomes)


def _attempt(case: Case, keep: Path | None) -> Outcome:
    if keep:
        folder = keep / _folder_name(case)
        folder.mkdir(parents=True)
        outcome = run_case(case, folder)
    else:
        outcome = run_in_temporary(case)
        if outcome.problems:  # once more: a busy machine is slow, a hole stays
            outcome = run_in_temporary(case)
    state = "FAILED" if outcome.problems else "ok"
    print(f"{state:6} {outcome.seconds:5.1f} s, slowest {outcome.slowest_s:4.1f} s  {case.name}", flush=True)
    for problem in outcome.problems[:12]:
        print(f"         {problem[:1500]}", flush=True)
    return outcome


def _make(cases: Sequence[Case], folder: Path) -> int:
    for case in cases:
        root = folder / _folder_name(case)
        root.mkdir(parents=True)
        case.make(Place(root.resolve()))
    print(f"{len(cases)} repositories below {folder}")
    return 0


def _folder_name(case: Case) -> str:
    return "".join(char if char.isalnum() else "-" for char in case.name)


def _summarize(outcomes: Sequence[Outcome]) -> int:
    cases = Counter(outcome.case.family for outcome in outcomes)
    failed = Counter(outcome.case.family for outcome in outcomes if outcome.problems)
    answers: Counter[str] = Counter()
    slowest: dict[str, float] = {}
    for outcome in outcomes:
        family = outcome.case.family
        answers[family] += outcome.answers
        slowest[family] = max(slowest.get(family, 0.0), outcome.slowest_s)
    print(f"{'family':28} {'cases':>6} {'answers':>8} {'slowest':>8} {'failed':>7}")
    for family in cases:
        numbers = f"{cases[family]:6} {answers[family]:8,} {slowest[family]:6.1f} s {failed[family]:7}"
        print(f"{family:28} {numbers}")
    engines = sum(outcome.case.is_engine for outcome in outcomes)
    print(f"{len(outcomes) - engines} repositories, {engines} engine cases, {sum(failed.values())} failed")
    return 1 if any(outcome.problems for outcome in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

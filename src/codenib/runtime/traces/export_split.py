"""Runs in, train, validation and test out: by repository, then by time; no issue is in two of them."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from codenib.runtime.traces.export_runs import ExportRun

Split = Literal["train", "validation", "test"]
SPLITS: tuple[Split, ...] = ("train", "validation", "test")
LEAST_REPOSITORIES = 3  # with fewer, none can be left out
_SHARE = 5  # every fifth
_LEAST_ISSUES = 5


@dataclass(frozen=True, slots=True)
class SplitPlan:
    """Which split each run is in, and the rule in words."""

    of_run: Mapping[str, Split]
    rule: str


def split_runs(runs: Sequence[ExportRun]) -> SplitPlan:
    """Put runs into splits.

    With three repositories or more, a fifth of them (at least one, by a digest of the name) is the test, and
    of the issues of each other one the latest fifth is for validation. With fewer, the latest fifth of the
    issues is the test and the fifth before it for validation. All runs of an issue stay together, at the
    time of the first.
    """
    by_repository: dict[str, dict[str, list[ExportRun]]] = defaultdict(lambda: defaultdict(list))
    for run in runs:
        by_repository[run.about.repository][run.issue].append(run)
    of_run: dict[str, Split] = {}
    names = sorted(by_repository, key=lambda name: hashlib.sha256(name.encode()).hexdigest())
    apart = len(names) >= LEAST_REPOSITORIES
    test = set(names[: max(len(names) // _SHARE, 1)]) if apart else set()
    for name, issues in by_repository.items():
        ordered = sorted(issues.values(), key=lambda group: min(_when(run) for run in group))
        for split, group in zip(_splits(len(ordered), name in test, apart), ordered, strict=True):
            of_run.update({run.about.run: split for run in group})
    return SplitPlan(of_run, _rule(apart, sorted(test)))


def _splits(issues: int, is_test: bool, apart: bool) -> list[Split]:
    if is_test:
        return ["test"] * issues
    latest = issues // _SHARE if issues >= _LEAST_ISSUES else 0
    later: list[Split] = ["validation"] * latest
    if not apart:
        later += ["test"] * latest
    train: list[Split] = ["train"] * (issues - len(later))
    return train + later


def _when(run: ExportRun) -> tuple[str, str]:
    return run.about.started, run.about.run


def _rule(apart: bool, test: Sequence[str]) -> str:
    if apart:
        return (
            f"test: all runs on {', '.join(test)}; validation: the latest fifth of the issues of each other"
            " repository; train: the rest"
        )
    return (
        "test: the latest fifth of each repository's issues; validation: the fifth before; train: the rest;"
        f" a repository with fewer than {_LEAST_ISSUES} issues is in train alone"
    )

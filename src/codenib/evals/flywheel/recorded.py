"""Traces of runs and what their user says of them in, decisions that say something about others out.

A decision counts when chance had a part in it (`codenib agent --explore`). Where a rule decided, with
propensity 1, nothing follows about what it did not do, however many such runs there are; they are counted and
left out.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from codenib.core.errors import InputError
from codenib.evals.data.rows import GoldBlock, LocalizeRow
from codenib.evals.runs import Record
from codenib.learning.policies.fit import LoggedDecision
from codenib.planner.model import ModelKind
from codenib.runtime.providers.scripted import ScriptedProvider
from codenib.runtime.traces.export_dataset import ExportOptions, given_outcome, read_runs
from codenib.runtime.traces.export_outcomes import GivenOutcome, read_outcomes
from codenib.runtime.traces.export_runs import ExportRun
from codenib.runtime.traces.trace import Event, read_trace, usage_of

Measure = Literal["tests_passed", "patch_accepted", "recall"]
#: What a run is judged by, most telling first.
MEASURES: tuple[Measure, ...] = ("tests_passed", "patch_accepted", "recall")
BY_RULE = "decided by a rule"
LATEST = 0.4  # the share of each repository's issues, the latest, that nothing is learned from


@dataclass(frozen=True, slots=True)
class LogPart:
    """Decisions of one kind: those that are learned from, and those of later issues."""

    learned: list[LoggedDecision]
    later: list[LoggedDecision]


@dataclass(frozen=True, slots=True)
class RecordedRuns:
    """Runs with their outcomes, oldest first, and the one measure by which all of them are judged."""

    runs: Sequence[ExportRun]
    outcomes: Mapping[str, GivenOutcome]
    measure: Measure

    @property
    def simulated(self) -> bool:
        """Whether a script played the model in any of them."""
        return any(run.about.provider == ScriptedProvider.name for run in self.runs)

    def decisions(self, kind: ModelKind, actions: Sequence[str]) -> tuple[LogPart, Counter[str]]:
        """The decisions that chance had a part in, and why each other run has none."""
        part, left_out = LogPart([], []), Counter[str]()
        later = self._later_issues()
        for run in self.runs:
            decision = self._decision(run, kind, actions)
            if isinstance(decision, str):
                left_out[decision] += 1
            else:
                (part.later if _issue(run) in later else part.learned).append(decision)
        return part, left_out

    def rows(self, repos: Iterable[str]) -> tuple[list[LocalizeRow], list[LocalizeRow]]:
        """Issues with known functions at a commit of one of `repos`: to learn from, and later ones."""
        by_name = {repo.rstrip("/").rpartition("/")[2].removesuffix(".git"): repo for repo in repos}
        later = self._later_issues()
        found: dict[tuple[str, str], tuple[bool, LocalizeRow]] = {}
        for run in self.runs:
            repo = by_name.get(run.about.repository.rpartition("/")[2])
            known = given_outcome(run, self.outcomes)
            answers = [each for each in known.answers if each.start_line] if known else []
            if repo is None or not answers or run.about.dirty or not run.about.commit:
                continue
            row = LocalizeRow(
                id=run.about.run,
                repo=repo,
                base_commit=run.about.commit,
                query=run.issue,
                gold_files=tuple(dict.fromkeys(each.path for each in answers)),
                gold_blocks=tuple(
                    GoldBlock(each.path, each.start_line, max(each.start_line, each.end_line))
                    for each in answers
                ),
            )
            found.setdefault((_issue(run), run.about.commit), (_issue(run) in later, row))
        return [row for late, row in found.values() if not late], [
            row for late, row in found.values() if late
        ]

    def card(self) -> Record:
        """What a policy's card says of the data: it names them, and a digest tells them from others."""
        started = sorted(run.about.started for run in self.runs if run.about.started)
        return {
            "data": "recorded runs",
            "digest": self.digest,
            "runs": len(self.runs),
            "repositories": dict(Counter(run.about.repository for run in self.runs)),
            "models": dict(Counter(f"{run.about.provider}:{run.about.model}" for run in self.runs)),
            "first": started[0] if started else "",
            "last": started[-1] if started else "",
        }

    @property
    def digest(self) -> str:
        """Of the runs, and of what was said of them."""
        said = [(run.about.run, msgspec.to_builtins(run.outcome)) for run in self.runs]
        return hashlib.sha256(msgspec.json.encode([self.measure, said])).hexdigest()[:16]

    def _decision(self, run: ExportRun, kind: ModelKind, actions: Sequence[str]) -> LoggedDecision | str:
        """A run's decision, or why it has none that says anything."""
        event = _deciding(run, kind)
        if event is None:
            return "no such decision"
        choice = event.data.get("choice")
        if choice is None or choice["propensity"] >= 1:
            return BY_RULE
        if set(choice["alternatives"]) != set(actions):
            return "chose among other actions"
        reward = getattr(run.outcome, self.measure)
        if reward is None:
            return f"no outcome {self.measure}"
        if any(each.kind == "reply" and each.data["usage"] is None for each in run.events):
            return "tokens were not reported"
        usage = usage_of(run.events)
        return LoggedDecision(
            features=choice["features"],
            default=choice["default"],
            action=choice["action"],
            propensity=float(choice["propensity"]),
            reward=float(reward),
            cost=1000 * float(event.data["seconds"]) if kind == "router" else float(usage.total),
            cluster=_issue(run),
        )

    def _later_issues(self) -> set[str]:
        """The latest issues of each repository, by their first run; all runs of an issue stay together."""
        issues: dict[str, dict[str, None]] = {}
        for run in self.runs:
            issues.setdefault(run.about.repository, {})[_issue(run)] = None
        return {
            issue for mine in issues.values() for issue in list(mine)[len(mine) - int(len(mine) * LATEST) :]
        }


def read_recorded(patterns: Sequence[str], outcomes: str, measure: Measure | None = None) -> RecordedRuns:
    """The runs of trace files (globs), judged by `measure`, or by the one that most of them have."""
    files = sorted({str(file) for pattern in patterns for file in _matching(pattern)})
    if not files:
        raise InputError(f"no trace is {', '.join(patterns)}", hint="--traces 'runs/*.jsonl'")
    given = read_outcomes(outcomes)
    runs, _ = read_runs({file: read_trace(file) for file in files}, ExportOptions("context", outcomes=given))
    known = {name: sum(getattr(run.outcome, name) is not None for run in runs) for name in MEASURES}
    chosen: Measure = measure if measure is not None else max(MEASURES, key=known.__getitem__)
    if not known[chosen]:
        raise InputError(
            f"{outcomes} says nothing about {measure or 'any'} of {len(runs)} runs",
            hint='a line for each run: {"trace": "run.jsonl", "tests_passed": true}',
        )
    return RecordedRuns(runs, given, chosen)


def _matching(pattern: str) -> Iterator[Path]:
    """Files of a glob, as a shell finds them."""
    path = Path(pattern).expanduser()
    return Path(path.anchor or ".").glob(str(path.relative_to(path.anchor)))


def _deciding(run: ExportRun, kind: ModelKind) -> Event | None:
    """The event in which a run decided; None where it was not asked to."""
    if kind == "router":
        return next((event for event in run.events if event.kind == "candidates"), None)
    decided = (event for event in run.events if event.kind == "decision")
    return next((event for event in decided if event.data["about"] == "candidates"), None)


def _issue(run: ExportRun) -> str:
    """An issue of a repository: its runs are no independent ones."""
    return f"{run.about.repository}|{hashlib.sha256(run.issue.encode()).hexdigest()[:16]}"
